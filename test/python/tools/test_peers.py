"""The programs of docs/measurements/peers.md race as peers leave them, not with what they need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline


def read(name: str) -> str:
    """Read a file of the lit suite, without its comments."""
    folder = Path(__file__).resolve().parents[2] / "Transforms" / "Sync"
    return re.sub(r"^ *//.*\n", "", (folder / name).read_text(encoding="utf-8"), flags=re.M)


UPSTREAM = read("eliminate-barriers-upstream.mlir")
PEERS = read("insert-barriers-peers.mlir")
REFUSED = read("insert-barriers-peers-invalid.mlir")
DELETED = (
    *("reinterpret_cast", "select", "memory_space_cast", "extract_strided_metadata"),
    *("assume_alignment", "if_result", "calls_device_helper"),
)

LOAD_A, LOAD_B = "%q = memref.load %A", "%r = memref.load %B"
# Kernel, iterations of its loop, the lines that get a barrier before them, and whether it races.
PLACEMENTS = [
    ("p1", 0, [], True),  # TileLang
    ("p1", 0, ["memref.store %y"], False),
    ("p2", 0, [LOAD_B], True),  # TileLang
    ("p2", 0, [LOAD_B, LOAD_A], False),
    ("p3", 5, [], True),  # TileLang
    ("p3", 5, ["%r = memref.load"], False),
    ("p4", 0, [], True),  # TileLang
    ("p4", 0, ["memref.store %x"], True),  # no barrier helps
    ("p5", 0, [], False),
    ("p6", 0, [LOAD_B], True),  # TileLang
    ("p6", 5, [LOAD_A], True),
    ("p6", 0, [LOAD_B, LOAD_A], False),
    ("p6", 5, [LOAD_B, LOAD_A], False),
    ("loop", 5, ["%r = memref.load"], True),  # Wave
    ("loop", 5, ["%r = memref.load", "scf.yield"], False),
]


def make_argument(kind: str, position: int, iterations: int) -> Any:
    """Return an argument, of other values than others: equal ones may be written twice."""
    match kind:
        case "memref<128xf32>":
            return np.arange(128, dtype=np.float32)
        case "f32":
            return np.float32(position)
        case "i1":
            return np.bool_(True)
        case "index":
            return iterations
    raise AssertionError(f"no argument of type {kind}")


def races(text: str, name: str, iterations: int = 0) -> bool:
    """Tell whether the threads of a block race in a kernel as it stands."""
    compiled = pipeline.compile(text, until="llvm", sync="keep", verify=False)
    signature = re.search(rf"gpu\.func @{name}\((.*?)\) kernel", text, re.S)
    assert signature
    kinds = re.findall(r": ([^,]+)", signature[1])
    arguments = [make_argument(kind, number, iterations) for number, kind in enumerate(kinds)]
    # That blocks overwrite each other's results and slots are read unfilled is not what is asked.
    options = pipeline.Options(check="races", workers=1)
    report = compiled.kernels[name].emulate(*arguments, grid=2, block=128, options=options)
    found = {finding.kind for finding in report.findings}
    assert found <= {"race.shared", "race.blocks", "uninitialized"}
    return "race.shared" in found


def with_barriers(text: str, name: str, lines: list[str]) -> str:
    """Put a barrier before each of some lines of a kernel."""
    before, start, rest = text.partition(f"gpu.func @{name}(")
    kernel, end, after = rest.partition("gpu.return")
    for line in lines:
        assert kernel.count(line) == 1
        kernel = kernel.replace(line, f"gpu.barrier\n{line}")
    return before + start + kernel + end + after


@pytest.mark.parametrize("name", DELETED)
def test_what_upstream_deletes_is_needed(name: str) -> None:
    """Without their barriers the kernels race, and with them they do not."""
    assert not races(UPSTREAM, name)
    assert races(UPSTREAM.replace("    gpu.barrier\n", ""), name)
    assert races(PEERS, name)


@pytest.mark.parametrize(("name", "iterations", "lines", "expected"), PLACEMENTS)
def test_placements(name: str, iterations: int, lines: list[str], expected: bool) -> None:
    """The barriers of the peers leave a race; those that are required leave none."""
    text = REFUSED if name == "p4" else PEERS
    assert races(with_barriers(text, name, lines), name, iterations) == expected
