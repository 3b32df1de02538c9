"""Damage bundles in all ways, and hold the reader to what it owes.

Whatever a bundle holds, `pipeline.load` returns a module or raises an error of the package, and
writes nothing. What it returns for damage without new checksums is what was saved. Of plans and
descriptions of kernels that were changed, with checksums made right again, those that are accepted
are run on the emulator: whatever they do, that ends in results or in an error of the package.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np

import pipeline
from pipeline.bundles.archive import pack, unpack
from pipeline.bundles.manifest import hash_bytes
from pipeline.runtime.host import interpreter
from pipeline.runtime.host.extents import find_results
from pipeline.runtime.host.plan import Region
from setup.arguments import positive

PROGRAM = """
memref.global constant @table : memref<2x3xi32> = dense<[[1, 2, 3], [4, 5, -6]]>
memref.global @state : memref<8xi32> = dense<7>
func.func private @add(%a: memref<?xi32>, %p: i32, %n: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %v = memref.load %a[%bx] : memref<?xi32>
    %w = arith.addi %v, %p : i32
    memref.store %w, %a[%bx] : memref<?xi32>
    gpu.terminator
  }
  return
}
func.func @main(%a: memref<?xi32>, %m: memref<4x6xf32>, %n: index, %s: f32)
    -> (memref<?xi32>, index, memref<6x4xf32, strided<[1, 6]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i3 = arith.constant 3 : i32
  %size = memref.dim %a, %c0 : memref<?xi32>
  %some = arith.cmpi ugt, %size, %c0 : index
  cf.assert %some, "there must be some"
  %t = memref.alloc(%size) : memref<?xi32>
  memref.copy %a, %t : memref<?xi32> to memref<?xi32>
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%q = %i3) -> i32 {
    %r = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %r, %c0 : index
    %next = scf.if %even -> i32 {
      func.call @add(%t, %q, %size) : (memref<?xi32>, i32, index) -> ()
      %k = arith.index_cast %i : index to i32
      %d = arith.addi %q, %k : i32
      scf.yield %d : i32
    } else {
      %e = memref.load %t[%c0] : memref<?xi32>
      %d = arith.xori %q, %e : i32
      scf.yield %d : i32
    }
    scf.yield %next : i32
  }
  %last, %count = scf.while (%x = %p, %k = %c0) : (i32, index) -> (i32, index) {
    %goes = arith.cmpi ugt, %x, %i3 : i32
    scf.condition(%goes) %x, %k : i32, index
  } do {
  ^bb0(%x: i32, %k: index):
    %half = arith.shrui %x, %i3 : i32
    %more = arith.addi %k, %c1 : index
    scf.yield %half, %more : i32, index
  }
  %state = memref.get_global @state : memref<8xi32>
  %cast = memref.cast %state : memref<8xi32> to memref<?xi32>
  %least = affine.min affine_map<(d0)[s0] -> (d0 + s0, 8)>(%size)[%n]
  func.call @add(%cast, %last, %least) : (memref<?xi32>, i32, index) -> ()
  %table = memref.get_global @table : memref<2x3xi32>
  %flat = memref.collapse_shape %table [[0, 1]] : memref<2x3xi32> into memref<6xi32>
  %five = memref.load %flat[%c2] : memref<6xi32>
  memref.store %five, %t[%c0] : memref<?xi32>
  %row = memref.subview %m[1, %c2] [1, 4] [1, 1]
      : memref<4x6xf32> to memref<4xf32, strided<[1], offset: ?>>
  %f = memref.load %row[%c1] : memref<4xf32, strided<[1], offset: ?>>
  %g = math.exp2 %s : f32
  %h = arith.mulf %f, %g : f32
  %less = arith.cmpf olt, %h, %s : f32
  %z = arith.select %less, %h, %s : f32
  %all = memref.collapse_shape %m [[0, 1]] : memref<4x6xf32> into memref<24xf32>
  memref.store %z, %all[%c2] : memref<24xf32>
  %again = memref.reinterpret_cast %all to offset: [0], sizes: [4, 6], strides: [6, 1]
      : memref<24xf32> to memref<4x6xf32>
  %turned = memref.transpose %again (i, j) -> (j, i)
      : memref<4x6xf32> to memref<6x4xf32, strided<[1, 6]>>
  %v = vector.transfer_read %t[%c0], %i3 : memref<?xi32>, vector<4xi32>
  vector.print %v : vector<4xi32>
  vector.print %count : index
  return %t, %count, %turned : memref<?xi32>, index, memref<6x4xf32, strided<[1, 6]>>
}
"""

_JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 64, 2**31, 2**63 - 1, 2**63, 2**70, -(2**63), 1.5),
    *("", "%0", "%1", "%7", "%99", "%-1", "%00", "i32", "index", "f32", "memref<?xi32>", "x" * 300),
    *(
        [],
        {},
        [[]],
        {"a": 1},
        ["bits", "f32", 1],
        ["d", 0],
        ["+", 1, 2],
        [0],
        [1, 0],
        "\0",
        "\ud800",
    ),
    *("main", "add", "sm_90a", "scf.yield", "func.return", "memref.load", "eq", "none", "pointer"),
)
_SECONDS, _REGIONS = 4, 3000
"""How long a plan may take, on kernels above all, and how many regions it may enter."""


class TooLongError(BaseException):
    """A plan that was changed does not end."""


@dataclass
class Counts:
    """What became of the bundles that were damaged, by the way they were."""

    refused: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    endless: Counter[str] = field(default_factory=Counter)


# --- damage ---------------------------------------------------------------------------------------


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    first, last = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return chance.choice((data[:first], data[first:], data[:first] + data[last:]))


def _splice(data: bytes, chance: random.Random) -> bytes:
    at, start = chance.randrange(len(data)), chance.randrange(len(data))
    part = chance.choice((data[start : start + 40], chance.randbytes(20), b"\0" * 100))
    return data[:at] + part + data[at:]


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = enumerate(value)
    for key, part in items:
        if key != "loc":  # where messages point
            yield from _places(part, (*place, key))


def _get(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def _tweak(value: Any, chance: random.Random) -> Any:
    """Return another number, or another value of a plan: what may well be accepted."""
    if type(value) is int:
        return chance.choice(
            (0, 1, 2, 3, 7, -1, value + 1, value - 1, 2 * value, 1 << 33, -(1 << 62))
        )
    if type(value) is str and value.startswith("%"):
        return chance.choice((f"%{chance.randrange(40)}", 0, 1, 3, -2, 1 << 40))
    return copy.deepcopy(chance.choice(_JUNK))


def change_document(document: Any, chance: random.Random) -> Any:
    """Return a document with a few values that are others, elsewhere, or not there."""
    document = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(document))
        place = chance.choice(places)
        parent, key = _get(document, place[:-1]), place[-1]
        # Of the same document: what is there is likely to be right elsewhere.
        other = copy.deepcopy(_get(document, chance.choice(places)))
        kind = chance.random()
        if kind < 0.2:
            parent[key] = copy.deepcopy(chance.choice(_JUNK))
        elif kind < 0.5:
            parent[key] = _tweak(parent[key], chance)
        elif kind < 0.65:
            parent[key] = other
        elif kind < 0.8:
            del parent[key]
        elif isinstance(parent, list):
            parent.insert(chance.randrange(len(parent) + 1), chance.choice((parent[key], other)))
        else:
            parent[chance.choice(["zz", "loc", "body", "unsigned", "cluster", "x-note"])] = other
    return document


def change_values(document: Any, chance: random.Random) -> Any:
    """Return a plan of which only numbers, and values that steps take, are others."""
    document = copy.deepcopy(document)
    places = [
        place
        for place in _places(document["functions"])
        if not {"results", "arguments"} & {*place[-2:]}
        and _is_value(_get(document["functions"], place))
    ]
    for place in chance.sample(places, chance.choice((1, 2, 4))):
        parent = _get(document["functions"], place[:-1])
        parent[place[-1]] = _tweak(parent[place[-1]], chance)
    return document


def _is_value(value: Any) -> bool:
    return type(value) is int or (type(value) is str and value.startswith("%"))


def seal(files: Mapping[str, bytes]) -> bytes:
    """Return a bundle of files whose checksums are right, whatever is in them."""
    manifest = json.loads(files["manifest.json"])
    for name, content in files.items():
        if name != "manifest.json" and name in manifest["files"]:
            manifest["files"][name] |= {"bytes": len(content), "sha256": hash_bytes(content)}
    return pack({**files, "manifest.json": json.dumps(manifest).encode()})


def _change_json(files: Mapping[str, bytes], suffix: str, chance: random.Random) -> bytes:
    name = next(name for name in files if name.endswith(suffix))
    changed = change_document(json.loads(files[name]), chance)
    content = json.dumps(changed).encode()
    if chance.random() < 0.1:
        content = chance.choice((_flip, _cut, _splice))(content, chance)
    if suffix == "manifest.json":
        return pack({**files, name: content})
    return seal({**files, name: content})


def _change_values(files: Mapping[str, bytes], chance: random.Random) -> bytes:
    name = next(name for name in files if name.endswith("plan.json"))
    changed = change_values(json.loads(files[name]), chance)
    return seal({**files, name: json.dumps(changed).encode()})


def _change_code(files: Mapping[str, bytes], chance: random.Random) -> bytes:
    name = next(name for name in files if name.endswith(".ptx"))
    change = chance.choice((_flip, _cut, _splice))
    return seal({**files, name: change(files[name], chance)})


_HOSTILE_NAMES = (
    "../up",
    "/root",
    "a/../b",
    "c:\\d",
    "a//b",
    "dir/",
    "é",
    "a" * 200,
    "a/b/c/d/e",
    "",
)


def _add_file(archive: zipfile.ZipFile, chance: random.Random) -> None:
    """Add something to an archive that no bundle has."""
    entry = zipfile.ZipInfo(chance.choice((*_HOSTILE_NAMES, "extra", "LICENSE", "manifest.json")))
    content, method = b"text", zipfile.ZIP_DEFLATED
    kind = chance.randrange(5)
    if kind == 0:
        entry.external_attr = 0o120777 << 16  # a link
    elif kind == 1:
        content = bytes(1 << 22)  # packed to a thousandth
    elif kind == 2:
        method = chance.choice((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    elif kind == 3:
        entry.extra = struct.pack("<HHQQ", 1, 16, 1 << 62, 1 << 62)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of names that are there
        archive.writestr(entry, content, method)


def _make_hostile(files: Mapping[str, bytes], chance: random.Random) -> bytes:
    stream = io.BytesIO()
    with contextlib.suppress(ValueError), zipfile.ZipFile(stream, "w") as archive:
        for name in files:
            archive.writestr(name, files[name])
            if chance.random() < 0.4:
                _add_file(archive, chance)
        _add_file(archive, chance)
    data = bytearray(stream.getvalue())
    if chance.random() < 0.3 and (at := data.rfind(b"PK\1\2")) >= 0:
        # Sizes, flags, or where it is, in the last entry of the directory.
        struct.pack_into(
            "<I", data, at + chance.choice((8, 20, 24, 38, 42)), chance.getrandbits(32)
        )
    return bytes(data)


def damage(data: bytes, files: Mapping[str, bytes], kind: str, chance: random.Random) -> bytes:
    """Return a bundle that is damaged in one of the ways of :data:`KINDS`."""
    return KINDS[kind](data, files, chance)


KINDS: Mapping[str, Callable[[bytes, Mapping[str, bytes], random.Random], bytes]] = {
    "bits": lambda data, _, chance: _flip(data, chance),
    "cuts": lambda data, _, chance: chance.choice((_cut, _splice))(data, chance),
    "archive": lambda _, files, chance: _make_hostile(files, chance),
    "manifest": lambda _, files, chance: _change_json(files, "manifest.json", chance),
    "code": lambda _, files, chance: _change_code(files, chance),
    "kernels": lambda _, files, chance: _change_json(files, "kernels.json", chance),
    "plan": lambda _, files, chance: _change_json(files, "plan.json", chance),
    "values": lambda _, files, chance: _change_values(files, chance),
}
UNSEALED = ("bits", "cuts", "archive")
"""The ways that change no checksum: what is accepted has to be what was saved."""


# --- what the reader owes -------------------------------------------------------------------------


def make_bundle(folder: Path) -> Path:
    """Save the program that is damaged."""
    path = folder / "whole.bundle"
    pipeline.compile(PROGRAM).save(path)
    return path


def make_arguments() -> tuple[Any, ...]:
    """Return what the program is run on."""
    chance = np.random.default_rng(5)
    numbers = chance.integers(1, 100, 9, np.int32)
    return numbers, chance.uniform(0.5, 1, (4, 6)).astype(np.float32), 4, 0.75


@contextlib.contextmanager
def _limit_time() -> Iterator[None]:
    """Raise TooLongError if what is done takes longer than it may."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    # Again and again, as what is raised in a callback of C is lost.
    signal.setitimer(signal.ITIMER_REAL, _SECONDS, _SECONDS / 4)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def limit_regions(most: int) -> Iterator[None]:
    """Raise TooLongError where a plan enters its next region, if it has entered `most`."""
    enter = interpreter.Frame.run
    entered = 0

    def run(frame: interpreter.Frame, region: Region, arguments: Sequence[Any]) -> list[Any]:
        nonlocal entered
        entered += 1
        if entered > most:
            raise TooLongError
        return enter(frame, region, arguments)

    with mock.patch.object(interpreter.Frame, "run", run):
        yield


def _run(module: pipeline.Module) -> None:
    """Run what a module has, on what the program is run on."""
    options = pipeline.Options(step_limit=10_000, workers=1)
    for name, entry in module.entries.items():
        with contextlib.suppress(pipeline.UsageError):  # results of extents that nothing tells
            find_results(module.plan, name, entry.arguments)
        with limit_regions(_REGIONS), contextlib.redirect_stdout(io.StringIO()):
            module.execute(*make_arguments(), entry=name, options=options)


class Fuzzer:
    """One bundle that is damaged again and again, in a folder of its own."""

    def __init__(self, folder: Path, counts: Counts) -> None:
        path = make_bundle(folder)
        self._path = folder / "damaged.bundle"
        self._data = path.read_bytes()
        self._files = unpack(path)
        self._digest = hash_bytes(self._files["manifest.json"])
        self._counts = counts

    def check(self, seed: int) -> str:
        """Damage the bundle as a seed tells; return what is wrong with what comes of it."""
        chance = random.Random(seed)
        kind = chance.choices(list(KINDS), (1, 1, 1, 1, 1, 2, 3, 4))[0]
        self._path.write_bytes(damage(self._data, self._files, kind, chance))
        before = sorted(self._path.parent.iterdir())
        try:
            problem = self._check(kind)
        except TooLongError:
            self._counts.endless[kind] += 1
            problem = ""
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if sorted(self._path.parent.iterdir()) != before:
            problem = "a file was written"
        return problem and f"{kind}: {problem}"

    def _check(self, kind: str) -> str:
        with _limit_time():
            try:
                module = pipeline.load(self._path)
            except (pipeline.BundleError, pipeline.PlanError) as error:
                self._counts.refused[kind] += 1
                return "" if "damaged.bundle" in str(error) else f"no name of the file: {error}"
            if kind in UNSEALED:
                self._counts.same[kind] += 1
                assert module._origin is not None
                return (
                    "" if module._origin.digest == self._digest else "wrong contents are accepted"
                )
            try:
                _run(module)
                self._counts.ran[kind] += 1
            except pipeline.Error:
                self._counts.failed[kind] += 1
        return ""


def report(counts: Counts) -> str:
    """Return a table of what became of the bundles."""
    heads = ("damage", "refused", "accepted as saved", "ran", "ended by an error", "did not end")
    columns = (counts.refused, counts.same, counts.ran, counts.failed, counts.endless)
    lines = ["  ".join(heads)]
    for kind in KINDS:
        numbers = (
            f"{column[kind]:>{len(head)}}" for column, head in zip(columns, heads[1:], strict=True)
        )
        lines.append("  ".join([f"{kind:<8}"[:8], *numbers]))
    return "\n".join(lines)


def main() -> int:
    """Fuzz seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=positive, default=10_000, help="how many")
    options = parser.parse_args()
    # Of what a plan may ask for: a machine has more memory than this process may take.
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    counts, begun, failed = Counts(), time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="pipeline-fuzz-") as folder:
        fuzzer = Fuzzer(Path(folder), counts)
        for seed in range(options.first, options.first + options.seeds):
            if problem := fuzzer.check(seed):
                failed += 1
                print(f"seed {seed}: {problem}\n", flush=True)
    print(report(counts))
    print(f"{options.seeds} bundles in {time.monotonic() - begun:.0f} s, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
