"""Warps that hand slots to each other by mbarriers: what is proved of them, and what is found.

What the verifier calls safe the emulator must never find a race in, in whatever order: that is
checked for kernels of others, for rings of all kinds, and for rings of which one thing was changed.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import pipeline
from corpus.emulating import check_results, compile_kernel, emulate
from corpus.kernels_case import Case
from protocols.protocol_cases import Known, known
from protocols.protocol_programs import program_case
from protocols.protocol_rings import RINGS, Ring, mutants, ring_case, ring_text

KNOWN = known()
TILE_LOOPS = sorted(Path(__file__).with_name("tile_loops").glob("*.mlir"))
"""Programs that deadlock or race from the second iteration of a loop around a loop on."""


def verify(text: str) -> pipeline.KernelVerdict:
    """Return what is known of the only kernel of a program."""
    (kernel,) = pipeline.check(text).kernels
    return kernel


def find(case: Case, text: str) -> set[str]:
    """Return the kinds of what the emulator finds, in two orders of threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is not verified
        kernel = compile_kernel(text, case.chip, case.kernel, verify=False)
    reports = [
        emulate(case, kernel, check="races", order=order).report for order in ("forward", "reverse")
    ]
    kinds = {finding.kind for report in reports for finding in report.findings}
    return kinds - {"uninitialized"}  # some read what nobody has written


@pytest.mark.parametrize("case", KNOWN, ids=[case.program.name for case in KNOWN])
def test_what_others_test(case: Known) -> None:
    program = program_case(case.program)
    assert verify(program.text).verdict == case.verdict
    assert bool(find(program, program.text)) == case.is_wrong


@pytest.mark.parametrize("ring", RINGS, ids=[ring.name for ring in RINGS])
def test_rings_are_safe(ring: Ring) -> None:
    case = ring_case(ring)
    kernel = verify(case.text)
    assert kernel.verdict == "SAFE", [finding.message for finding in kernel.findings]
    outcome = emulate(case, check="races")
    assert not outcome.report.findings
    check_results(case, outcome.arguments)


def is_harmless(ring: Ring, name: str) -> bool:
    """Return whether a change makes no difference."""
    is_unused = name.startswith(("%bytes", "without nvvm.fence.mbarrier.init"))
    is_same = ring.slots == 1 and name.startswith(("%full[%c0]", "%empty[%c0]"))
    return is_same or (is_unused and ring.fills != "tma")


@pytest.mark.parametrize("ring", RINGS, ids=[ring.name for ring in RINGS])
def test_changed_rings(ring: Ring) -> None:
    """What is changed is seen; of what is called safe, the emulator finds nothing."""
    case = ring_case(ring)
    safe, verdicts = [], set()
    for name, text in mutants(ring):
        verdict = verify(text).verdict
        verdicts.add(verdict)
        if verdict != "SAFE":
            continue
        safe.append(name)
        assert not find(case, text), name
    assert {"MAYBE", "DEADLOCK"} <= verdicts
    assert [name for name in safe if not is_harmless(ring, name)] == []


def test_a_race_names_both_threads_and_the_wait() -> None:
    text = ring_text(Ring()).replace("%even = arith.constant false", "%even = arith.constant true")
    (finding,) = [one for one in verify(text).findings if one.verdict == "RACE"]
    assert finding.other is not None
    assert {finding.at.op, finding.other.op} == {"nvgpu.tma.async.load", "memref.load"}
    assert (64, 0, 0) in finding.threads
    assert "no wait for an mbarrier orders them" in finding.message


@pytest.mark.parametrize("path", TILE_LOOPS, ids=[path.stem for path in TILE_LOOPS])
def test_what_only_a_second_tile_shows(path: Path) -> None:
    """A loop around the loop through steps is no repetition of its first iteration."""
    (kernel,) = pipeline.check(path).kernels
    assert kernel.verdict != "SAFE"
