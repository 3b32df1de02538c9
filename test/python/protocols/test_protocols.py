"""Warps that hand slots to each other by mbarriers: what is proved of them, and what is found.

What the verifier calls safe the emulator must never find a race in, in whatever order: that is
checked for kernels of others, for rings of all kinds, and for rings of which one thing was changed.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.emulating import check_results, compile_kernel, emulate
from corpus.kernels_case import Case
from protocols.protocol_cases import Known, known
from protocols.protocol_programs import program_case
from protocols.protocol_rings import RINGS, Ring, mutants, ring_case, ring_text

KNOWN = known()
TILE_LOOPS = {
    "buffer-for-each-tile": {"race.shared"},
    "consumers-shake-hands-once-a-tile": {"deadlock"},
    "parity-of-consumers-flips": {"async.not-waited", "deadlock", "mbarrier"},
    "parity-of-producers-flips": {"async.not-waited", "deadlock", "mbarrier"},
    "producers-shake-hands-once-a-tile": {"deadlock"},
    "slot-is-shifted": {"async.not-published", "async.not-waited"},
    "warps-meet-once-a-tile": {"deadlock"},
}
"""Programs that deadlock or race from the second iteration of a loop around a loop on, and what
the emulator finds in them."""


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


def tile_loop(name: str) -> Path:
    return Path(__file__).parent / "tile_loops" / f"{name}.mlir"


def find_in_tiles(name: str, tiles: int) -> set[str]:
    """Return the kinds of what the emulator finds, in two orders, where blocks have some tiles.

    A product of matrices has four tiles for most blocks.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pipeline.UnverifiedWarning)
        module = pipeline.compile(tile_loop(name), chip="sm_90a", verify=False, sync="keep")
    is_product = "main_kernel" in module.kernels
    factors = [np.ones((320, 448), np.float16), np.ones((448, 192), np.float16)]
    arguments = factors if is_product else [np.zeros(32, np.float32), tiles, 3]
    kinds: set[str] = set()
    for order in ("forward", "reverse"):
        mode: dict[str, Any] = {"order": order, "async_mode": "on_wait"}
        if order == "reverse":
            mode["async_mode"] = "eager"
        try:
            module.run(*arguments, backend="emulator", check="all", workers=1, **mode)
        except (pipeline.RaceError, pipeline.SynchronizationError) as error:
            kinds.update(finding.kind for finding in error.report.findings)
    return kinds


def test_all_tile_loops_are_told() -> None:
    assert {path.stem for path in tile_loop("any").parent.iterdir()} == set(TILE_LOOPS)


@pytest.mark.parametrize("name", TILE_LOOPS)
def test_what_only_a_second_tile_shows(name: str) -> None:
    """A loop around the loop through steps is no repetition of its first iteration."""
    (kernel,) = pipeline.check(tile_loop(name)).kernels
    assert kernel.verdict != "SAFE"


@pytest.mark.parametrize(("name", "kinds"), TILE_LOOPS.items(), ids=TILE_LOOPS)
def test_second_tiles_are_wrong(name: str, kinds: set[str]) -> None:
    """What is not proved of these programs is not so."""
    assert find_in_tiles(name, tiles=2) == kinds


@pytest.mark.parametrize("name", [one for one in TILE_LOOPS if "tile" in one])
def test_first_tiles_are_right(name: str) -> None:
    assert not find_in_tiles(name, tiles=1)
