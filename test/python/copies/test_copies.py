"""Random copies, compiled and run against NumPy: on the emulator, and from their PTX."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from fuzzing import copies as fuzz_copies
from oracles.copies.programs import Program, generate
from support.launching import launch

# `tools/fuzz copies` goes on from here.
SEEDS, CHUNK = 500, 100


KINDS = ("whole", "tiles", "threads", "boxes", "padded")


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_random_copies(first: int) -> None:
    """Each element is written once, and right, without a race; copies of all sorts are among."""
    counts = fuzz_copies.Counts()
    problems = fuzz_copies.fuzz(range(first, first + CHUNK), counts)
    report = "\n".join(f"seed {seed}: {problem}" for seed, problem in problems.items())
    assert not problems, report
    assert all(counts.kinds[kind] > CHUNK // 20 for kind in KINDS)
    ways = ("copy spread over the block", "copy done by each thread")
    assert all(counts.lowered[way] > CHUNK // 10 for way in ways)
    assert counts.lowered["copy spread over the block by cp.async"] > 0
    assert counts.lowered["copy done by TMA"] > 0
    assert counts.lowered["copy hoisted out of a loop"] > 0
    assert all(counts.widths[width] > 0 for width in (1, 2, 4, 8, 16))


def test_bounded_copies() -> None:
    """Extents that a launch gives, and a constant bounds: of slices, and of buffers."""
    counts = fuzz_copies.Counts()
    problems = fuzz_copies.fuzz(range(CHUNK), counts, is_bounded=True)
    assert not problems, "\n".join(f"seed {seed}: {text}" for seed, text in problems.items())
    assert counts.dynamic > CHUNK // 5


def is_plain(program: Program) -> bool:
    """Tell whether the interpreter of PTX can run a program."""
    arrays = program.arguments[:2]
    is_dense = all(array.flags.c_contiguous for array in arrays)
    has_conversion = arrays[0].dtype != arrays[1].dtype
    return is_dense and not (program.has_host or has_conversion or "alloca()" in program.text)


PLAIN = [seed for seed in range(250) if is_plain(generate(seed))]


@pytest.mark.parametrize("seed", PLAIN)
def test_random_copy_in_ptx(seed: int) -> None:
    """What LLVM makes of a copy is right as well."""
    program = generate(seed)
    module = pipeline.compile(program.text, sync="keep")
    launch(module, program.arguments, grid=program.grid, block=program.block)
    np.testing.assert_array_equal(program.arguments[1], program.expected)
