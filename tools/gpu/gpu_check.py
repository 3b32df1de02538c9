"""Pack the kernels of the test suite for a GPU: PTX, inputs, and what the emulator makes of them.

The folder runs by itself: `python OUT/run.py` needs Python 3.10, NumPy, a GPU with its driver, and
`pip install cuda-bindings`. Where these are here, it is run at once.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import gpu_arrays
import gpu_runner
import gpu_tensor_maps
import pipeline
from gpu_arrays import Array, Bytes, Json, PackError
from pipeline.runtime.arguments import Value, convert, evaluate, tensor_layout
from pipeline.runtime.tensor_maps import ADDRESS_ALIGNMENT, make_request
from setup import environment

if TYPE_CHECKING:
    from corpus.kernels_case import Case

ROOT = environment.ROOT
TOOLS = Path(__file__).resolve().parent
FOLDER = ROOT / "build" / "gpu-check"
LIMIT = 64 << 20
PROGRAMS = {
    "run.py": "gpu_runner.py",
    "gpu_arrays.py": "gpu_arrays.py",
    "gpu_driver.py": "gpu_driver.py",
    "gpu_tensor_maps.py": "gpu_tensor_maps.py",
}
"""What runs a pack: names there, and names here."""
OWN_NAMES = (*PROGRAMS, "suite.json", "ptx", "data")
"""Everything that this writes to the folder of a pack."""


# --- arrays ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """An array, and all memory between its first byte and its last."""

    array: Array
    memory: Bytes

    @classmethod
    def copy(cls, array: Array) -> Span:
        """Copy an array to memory that holds guards wherever it has no elements."""
        size = start = 0
        if array.size:
            low, high = np.lib.array_utils.byte_bounds(array)
            size, start = high - low, array.ctypes.data - low
        memory = np.full(size, gpu_arrays.GUARD, np.uint8)
        copy: Array = np.ndarray(array.shape, array.dtype, memory, start, array.strides)
        copy[...] = array
        return cls(copy, memory)

    @property
    def start(self) -> int:
        """Where the first element lies in the memory, in bytes."""
        return int(self.array.ctypes.data - self.memory.ctypes.data) if self.memory.size else 0

    def to_npy(self) -> bytes:
        """Return a .npy file: the array, or its memory as one row if that has gaps."""
        dtype = np.dtype(name_dtype(self.array.dtype))
        is_dense = self.array.flags.c_contiguous
        shape = self.array.shape if is_dense else (-1,)
        stream = io.BytesIO()
        np.save(stream, self.memory.view(dtype).reshape(shape), allow_pickle=False)
        return stream.getvalue()


def name_dtype(dtype: np.dtype[Any]) -> str:
    """Return the name of a type that NumPy has by itself and that has as many bytes."""
    return dtype.name if dtype.isbuiltin == 1 else f"uint{dtype.itemsize * 8}"


def element_of(argument: pipeline.Argument) -> str:
    """Return the MLIR type of an argument's numbers, also if its elements are vectors of them."""
    element_type = (argument.tensor_map or argument).element_type
    return re.sub(r"vector<.*x(\w+)>", r"\1", element_type)


def alignment_of(argument: pipeline.Argument) -> int:
    """Return what divides the address of an argument's first element."""
    return argument.alignment if argument.tensor_map is None else ADDRESS_ALIGNMENT


# --- a case ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PackedCase:
    """A case for a pack: what `suite.json` says of it, the files, and what they were made from."""

    record: Json
    files: dict[str, bytes]
    kernel: pipeline.Kernel
    values: Sequence[Value]


def pack_case(case: Case, *, check_races: bool = True) -> PackedCase:
    """Compile and emulate a case. Raises pipeline.Error or PackError."""
    module = pipeline.compile(case.text, chip=case.chip)
    kernel = module.kernels[case.kernel]
    arguments = make_arguments(case)
    before, after = copy_arguments(arguments), copy_arguments(arguments)
    emulate(case, kernel, after, pipeline.Options())
    note = compare_with_reference(case, kernel, arguments, after)
    if check_races:
        emulate(case, kernel, copy_arguments(arguments), pipeline.Options(check="races"))
    values = convert(kernel.name, kernel.arguments, [unwrap(value) for value in before])
    stem = re.sub(r"\W+", "-", case.name).strip("-")
    files = {f"ptx/{stem}.ptx": module.ptx.encode()}
    arrays = pack_arrays(case, values, before, after, stem, files)
    record = {
        "name": case.name,
        "kernel": kernel.name,
        "ptx": f"ptx/{stem}.ptx",
        "chip": module.chip,
        "grid": case.grid,
        "block": case.block,
        "dynamic_shared_bytes": case.dynamic_bytes,
        "parameters": pack_parameters(kernel, values, before),
        "arrays": arrays,
        "races": "clean" if check_races else "not checked",
        "note": note,
    }
    return PackedCase(record, files, kernel, values)


def make_arguments(case: Case) -> list[Any]:
    """Return the random arguments of a case, always the same."""
    return case.make(np.random.default_rng(zlib.crc32(case.name.encode())))


def copy_arguments(arguments: Sequence[Any]) -> list[Span | Any]:
    """Copy the arrays among the arguments. Raises PackError if they share memory."""
    arrays = [value for value in arguments if isinstance(value, np.ndarray)]
    if any(np.may_share_memory(*pair) for pair in combinations(arrays, 2)):
        raise PackError("two of its arrays share memory, which a pack cannot tell")
    return [Span.copy(value) if isinstance(value, np.ndarray) else value for value in arguments]


def unwrap(value: Span | Any) -> Any:
    """Return what a kernel is called with."""
    return value.array if isinstance(value, Span) else value


def emulate(
    case: Case, kernel: pipeline.Kernel, values: Sequence[Span | Any], options: pipeline.Options
) -> None:
    """Run a case in place. Raises PackError for what the emulator finds."""
    report = kernel.emulate(
        *map(unwrap, values),
        grid=case.grid,
        block=case.block,
        dynamic_shared_bytes=case.dynamic_bytes,
        options=options,
    )
    if report.findings:
        raise PackError(f"the emulator finds fault with it:\n{report.rendered}")


def compare_with_reference(
    case: Case, kernel: pipeline.Kernel, arguments: Sequence[Any], after: Sequence[Span | Any]
) -> str:
    """Tell where the emulator's results are not those that the case expects; nothing if nowhere."""
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    expected = case.expect(copies)
    texts = []
    for number, value in enumerate(after):
        if not isinstance(value, Span):
            continue
        wanted = expected.get(number, arguments[number])
        tolerance = case.tolerance if number in expected else 0.0
        element = element_of(kernel.arguments[number])
        found = gpu_arrays.compare(value.array, wanted, tolerance, element)
        texts += [f"argument {number}, {found.text}"] if found.text else []
    return f"the emulator differs from the reference: {'; '.join(texts)}" if texts else ""


def pack_arrays(
    case: Case,
    values: Sequence[Value],
    before: Sequence[Span | Any],
    after: Sequence[Span | Any],
    stem: str,
    files: dict[str, bytes],
) -> list[Json]:
    """Add the files of the arrays to `files` and return what `suite.json` says of them.

    The emulator and the GPU may each be off by the tolerance of the case, to different sides.
    """
    records = []
    for number, (value, old, new) in enumerate(zip(values, before, after, strict=True)):
        if not isinstance(old, Span):
            continue
        is_written = old.memory.tobytes() != new.memory.tobytes()
        name = f"data/{stem}.{number}.npy"
        expected = f"data/{stem}.{number}.expected.npy" if is_written else None
        files[name] = old.to_npy()
        if expected:
            files[expected] = new.to_npy()
        record = {
            "argument": number,
            "file": name,
            "expected": expected,
            "dtype": name_dtype(old.array.dtype),
            "element": element_of(value.argument),
            "shape": old.array.shape,
            "strides": None if old.array.flags.c_contiguous else old.array.strides,
            "start": old.start,
            "alignment": alignment_of(value.argument),
            "written": is_written,
            "tolerance": 2 * case.tolerance if is_written else 0.0,
        }
        records.append(record)
    return records


def pack_parameters(
    kernel: pipeline.Kernel, values: Sequence[Value], spans: Sequence[Span | Any]
) -> list[Json]:
    """Return what the kernel's PTX takes, in order. Raises PackError for maps that CUDA has not."""
    arrays = [number for number, span in enumerate(spans) if isinstance(span, Span)]
    parameters: list[Json] = []
    for part, result in evaluate(kernel, values):
        if isinstance(result, bytes):
            parameters.append({"kind": "bytes", "hex": result.hex()})
        elif part.kind in ("pointer", "tensormap"):
            offset = spans[part.argument].start + result
            place = {"kind": part.kind, "buffer": arrays.index(part.argument), "offset": offset}
            is_map = part.kind == "tensormap"
            parameters.append(place | (pack_map(values[part.argument]) if is_map else {}))
        else:
            data = result.to_bytes(8, "little", signed=True)
            parameters.append({"kind": "bytes", "hex": data.hex()})
    return parameters


def pack_map(value: Value) -> Json:
    """Return how the tensor map of an array is made. Raises PackError if CUDA has no such."""
    assert value.view is not None
    assert value.argument.tensor_map is not None
    name = f"the array of {value.argument.type}"
    request = make_request(tensor_layout(value.view), value.argument.tensor_map, name)
    if request.dtype not in gpu_tensor_maps.DATA_TYPES:
        raise PackError(f"it takes a tensor map of {request.dtype}, which CUDA does not know")
    return asdict(request)


# --- a pack ---------------------------------------------------------------------------------------


@dataclass
class Pack:
    """The files of a pack; `left_out` says of the cases that it lacks why."""

    commit: str
    limit: int = LIMIT
    cases: list[Json] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def add(self, name: str, files: dict[str, bytes]) -> None:
        """Add files. Raises PackError if there are such already, or they are too large."""
        if taken := self.files.keys() & files.keys():
            raise PackError(f"{name}: {min(taken)} is there already: give the case another name")
        self.files |= files
        if self.size > self.limit:
            raise PackError(
                f"with {name} the pack has {self.size / 2**20:.1f} MiB, but it may have "
                f"{self.limit / 2**20:.3g} MiB: make arrays of the cases smaller"
            )

    @property
    def size(self) -> int:
        """All bytes."""
        return sum(map(len, self.files.values()))

    def finish(self) -> None:
        """Add what is made from all cases, and the programs."""
        suite = {
            "format": gpu_runner.FORMAT,
            "commit": self.commit,
            "chips": sorted({case["chip"] for case in self.cases}),
            "left_out": self.left_out,
            "cases": self.cases,
        }
        self.add("suite.json", {"suite.json": (json.dumps(suite, indent=1) + "\n").encode()})
        programs = {name: (TOOLS / source).read_bytes() for name, source in PROGRAMS.items()}
        self.add("run.py", programs)

    def write(self, folder: Path) -> None:
        """Write the files to a folder that is new, empty or a pack. Raises PackError."""
        if folder.exists() and not (folder / "suite.json").exists() and any(folder.iterdir()):
            raise PackError(f"{folder} is neither empty nor a pack: name another folder")
        for name in OWN_NAMES:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def pack_all(
    cases: Iterable[Case], commit: str, *, check_races: bool = True, limit: int = LIMIT
) -> Pack:
    """Return a pack of all cases that compile and run without a finding."""
    pack = Pack(commit, limit)
    for case in cases:
        try:
            packed = pack_case(case, check_races=check_races)
        except (pipeline.Error, PackError) as error:
            pack.left_out[case.name] = str(error)
            continue
        pack.add(case.name, packed.files)
        pack.cases.append(packed.record)
    pack.finish()
    return pack


def find_commit(folder: Path = ROOT) -> str:
    """Return the commit that the sources are of, and whether they have changed since."""
    try:
        git = ["git", "-C", str(folder)]
        commit, changes = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain"])
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit.strip() + (" with changes" if changes else "")


# --- the command ----------------------------------------------------------------------------------


def load_cases() -> tuple[Case, ...]:
    """Return the kernels of the test suite."""
    from corpus.kernels import CASES

    return CASES


def run(folder: Path) -> int:
    """Run a pack if this machine can, else say why not."""
    command = [sys.executable, str(folder / "run.py")]
    probe = subprocess.run([*command, "--probe"], capture_output=True, text=True, check=False)
    if probe.returncode == gpu_runner.MISSING:
        reason = probe.stderr.strip().removeprefix("error: ")
        print(f"not run: {reason}")
        return 0
    print(f"running on {probe.stdout.strip()}", flush=True)
    return subprocess.call(command)


def main(arguments: Sequence[str]) -> int:
    """Pack, write, and run if possible."""
    parser = argparse.ArgumentParser(prog="./tools/gpu-check", description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=FOLDER, help="folder for the pack")
    folder = parser.parse_args(arguments).out
    cases = load_cases()
    try:
        with environment.step(f"compiling and emulating {len(cases)} kernels"):
            pack = pack_all(cases, find_commit())
        pack.write(folder)
    except (PackError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, reason in pack.left_out.items():
        print(f"left out: {name}: {reason}")
    for case in pack.cases:
        if case["note"]:
            print(f"{case['name']}: {case['note']}")
    print(f"{len(pack.cases)} kernels, {pack.size / 2**20:.1f} MiB, in {folder}", flush=True)
    code = run(folder)
    return 1 if pack.left_out else code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
