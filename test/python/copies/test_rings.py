"""Loops whose copies run ahead in rings: random ones against NumPy, and mutants that are caught."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pipeline
from fuzzing import rings as fuzz_rings
from oracles.copies.rings import generate
from support.ring_loops import ROWS, TILE, expect, make_array, make_loop, run_all
from support.ring_mutants import MUTATIONS, mutate

# `tools/fuzz rings` goes on from here.
SEEDS, CHUNK = 100, 50


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_random_loops(first: int) -> None:
    """Rings of any depth compute what the loop says, without a race; all sorts are among."""
    counts = fuzz_rings.Counts()
    problems = fuzz_rings.fuzz(range(first, first + CHUNK), counts)
    report = "\n".join(f"seed {seed}: {problem}" for seed, problem in problems.items())
    assert not problems, report
    assert counts.remarks["FormedRing"] > CHUNK // 2
    assert all(counts.ahead[iterations] > 0 for iterations in (1, 2, 3, 4))
    assert set(counts.engines) == {"cp.async", "registers", "TMA"}


@pytest.mark.parametrize("slots", [2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("chip", ["sm_75", "sm_80"])
def test_entered_again(slots: int, chip: str) -> None:
    """A ring goes on where it was when its loop is entered again, after any number of iterations.

    What comes after has the ring's memory, should it be shared.
    """
    module = pipeline.compile(
        make_loop(0, 3), chip=chip, memory_options=f"slots={slots} reuse=always"
    )
    assert not module.diagnostics  # it is proved
    (lowered,) = [remark for remark in module.remarks if remark.name == "LoweredRing"]
    assert int(lowered.arguments["IterationsAhead"]) == (1 if chip == "sm_75" else slots - 1)
    (memory,) = module.workgroup_memory
    assert all(buffer.is_shared for buffer in memory.buffers)
    for iterations in range(7):
        for out, report in run_all(module, iterations):
            assert not report.findings, report.findings[0].message
            np.testing.assert_array_equal(out, expect(make_array(), iterations, 3))


@pytest.mark.parametrize("slots", [2, 3, 4])
@pytest.mark.parametrize("kind", MUTATIONS)
def test_mutants(kind: str, slots: int) -> None:
    """Each part of a ring is needed: without it there is a race, and no proof."""
    module = pipeline.compile(
        make_loop(0, 2, epilogue=False),
        memory_options=f"slots={slots}",
        until="gpu",
    )
    text = module.texts["gpu"]
    mutant = mutate(text, kind, slots)
    assert mutant != text
    assert pipeline.check(text).is_safe
    clean = pipeline.compile(text)
    for iterations in (5, 6):
        assert all(not report.findings for _, report in run_all(clean, iterations))
    assert not pipeline.check(mutant).is_safe
    wrong = pipeline.compile(mutant, sync="keep", verify=False)
    assert any(report.errors for _, report in run_all(wrong, 6))


@pytest.mark.parametrize("slots", [2, 3, 4, 5, 6, 7, 8])
def test_tensor_copies(slots: int) -> None:
    """A ring that TMA fills is right for any number of iterations, and entered again."""
    module = pipeline.compile(
        make_loop(0, 3), chip="sm_90", memory_options=f"slots={slots} engine=tma reuse=always"
    )
    (lowered,) = [remark for remark in module.remarks if remark.name == "LoweredRing"]
    assert lowered.arguments["Engine"] == "TMA"
    assert "cp.async.bulk.tensor.2d" in module.ptx
    assert module.cubin
    for iterations in range(7):
        for out, report in run_all(module, iterations):
            assert not report.findings, report.findings[0].message
            np.testing.assert_array_equal(out, expect(make_array(), iterations, 3))


def mutate_tensor_copies(text: str, kind: str) -> str:
    """Return the kernel with one mistake in its loop."""
    wait = re.search(r"^ *nvgpu\.mbarrier\.try_wait\.parity .*$", text, re.MULTILINE)
    assert wait
    rest = text[wait.end() :]
    if kind == "wait removed":
        return text[: wait.start()] + rest
    if kind == "parity flipped":
        return re.sub(r"arith\.constant false", "arith.constant true", text)
    if kind == "too many bytes expected":
        return text.replace(
            f"arith.constant {ROWS * TILE * 4} : index", "arith.constant 528 : index"
        )
    if kind == "too few bytes expected":
        return text.replace(
            f"arith.constant {ROWS * TILE * 4} : index", "arith.constant 496 : index"
        )
    pattern = {
        "fence removed": r"^ *nvvm\.fence\.proxy .*$",
        "barrier removed": r"^ *gpu\.barrier$",
    }
    found = re.search(pattern[kind], rest, re.MULTILINE)
    assert found
    return text[: wait.end()] + rest[: found.start()] + rest[found.end() :]


@pytest.mark.parametrize("slots", [2, 3])
@pytest.mark.parametrize(
    "kind",
    [
        "wait removed",
        "parity flipped",
        "too many bytes expected",
        "too few bytes expected",
        "fence removed",
        "barrier removed",
    ],
)
def test_tensor_mutants(kind: str, slots: int) -> None:
    """Each part of a ring that TMA fills is needed."""
    module = pipeline.compile(
        make_loop(0, 2, epilogue=False),
        chip="sm_90",
        memory_options=f"slots={slots} engine=tma",
        until="gpu",
    )
    text = module.texts["gpu"]
    mutant = mutate_tensor_copies(text, kind)
    assert mutant != text
    clean = pipeline.compile(text)
    assert all(not report.findings for _, report in run_all(clean, 6))
    assert not pipeline.check(mutant).is_safe
    wrong = pipeline.compile(mutant, sync="keep", verify=False)
    assert any(report.errors for _, report in run_all(wrong, 6))


@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90"])
def test_assembles(chip: str) -> None:
    """What rings become is what ptxas takes, with asynchronous copies where there are some."""
    module = pipeline.compile(make_loop(0, 2), chip=chip, memory_options="slots=4")
    assert ("cp.async.wait_group" in module.ptx) == (chip != "sm_75")
    assert module.cubin


def test_overlapping_arguments() -> None:
    """Arrays that share memory are refused by a program that takes them not to."""
    text = make_loop(0, 1, epilogue=False)
    memory = np.zeros(ROWS * TILE * 8, np.float32)
    arguments = (memory.reshape(ROWS, TILE * 8), 1, memory[:32])
    pipeline.compile(text).run(*arguments)
    with pytest.raises(pipeline.ArgumentError, match="argument 2 overlaps argument 0"):
        pipeline.compile(text, memory_options="slots=2").run(*arguments)
    options = "slots=2 assume-distinct-arguments=false"
    pipeline.compile(text, memory_options=options).run(*arguments)


def test_programs_differ() -> None:
    """The generator makes loops of all sorts."""
    programs = [generate(seed) for seed in range(60)]
    assert {program.iterations for program in programs} == {0, 1, 2, 3, 4, 6}
    assert len({program.chip for program in programs}) == 3
