"""Kernels whose warps hand slots to each other, as others test their race checkers on them."""

from __future__ import annotations

import json
import re
import warnings

import pytest

import pipeline
from corpus.kernels_hopper import Matmul, matmul_text
from fuzzing.certificates import find_race, judge
from protocols.protocol_cases import Known, known
from protocols.protocol_programs import program_text
from protocols.protocol_rings import Ring, mutants, ring_text
from protocols.test_protocols import is_harmless

KNOWN = known()
MORE = {"consan different_phases"}
"""What is right for a reason that is not looked for: that a phase cannot end a second time."""


def certify(text: str) -> tuple[dict[str, object], str]:
    """Return the certificate of kernels whose barriers are kept, right or wrong, and LLVM IR."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they are not verified
        module = pipeline.compile(
            text, chip="sm_90a", until="llvm", certify=True, schedule="none", sync="keep",
            verify=False,
        )  # fmt: skip
    return json.loads(module.texts["certificate"]), module.texts["llvm"]


@pytest.mark.parametrize("case", KNOWN, ids=[case.program.name for case in KNOWN])
def test_what_others_test(case: Known) -> None:
    said = judge(*certify(program_text(case.program)))
    assert said == ("refuted" if case.is_wrong or case.program.name in MORE else "holds")


# Of as many tiles as they are given: the blocks of all launches do the same again after some.
RINGS = (
    Ring(slots=2, lets_go="threads"),
    Ring(counts="carried"),
    Ring(fills="store", slots=1, consumers=1),
    Ring(fills="copy", slots=2),
)


@pytest.mark.parametrize("ring", RINGS, ids=[ring.name for ring in RINGS])
def test_rings_of_any_number_of_tiles(ring: Ring) -> None:
    assert judge(*certify(ring_text(ring))) == "holds"
    for name, text in mutants(ring):
        if not is_harmless(ring, name):
            assert judge(*certify(text)) == "refuted", name


def test_rounds_that_only_the_launch_knows_within_others_are_not_checked() -> None:
    assert judge(*certify(ring_text(Ring(counts="carried", rounds=3)))) == "not checked"


TILES = Matmul(epilogue="tma", m=256, columns=64, grid=3, k=64)
"""Blocks that take tile after tile, and store each by TMA while the next is multiplied."""
_ORDERS = (
    "mbarrier.arrive", "barrier.cta.sync.aligned.count", "fence.proxy", "wgmma.wait_group",
    "cp.async.bulk.commit", "cp.async.bulk.wait", "mbarrier.try_wait",
)  # fmt: skip


def test_blocks_that_take_tile_after_tile() -> None:
    text = matmul_text(TILES)
    text = text.replace("nvvm.read.ptx.sreg.cluster.ctarank", "arith.constant 0")
    document, code = certify(text)
    assert judge(document, code) == "holds"
    lines = code.split("\n")
    for order in _ORDERS:
        found = [number for number, line in enumerate(lines)
                 if order in line and "call" in line]  # fmt: skip
        assert found, order
        for number in found:
            result = re.match(r" *%\S+ = ", lines[number])
            gone = f"{result[0]}add i64 0, 0" if result else "  ;"
            changed = "\n".join([*lines[:number], gone, *lines[number + 1 :]])
            assert find_race(document, changed) == "refuted", lines[number]
