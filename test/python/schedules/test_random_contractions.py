"""Random contractions, convolutions, streaming K and rows: numbers, without races."""

from __future__ import annotations

import pytest

from fuzzing.contractions import Counts, fuzz
from oracles.contractions.programs import KINDS, generate

# `tools/fuzz contractions` goes on from here.
PARTS, SEEDS = 8, 25


@pytest.mark.parametrize("part", range(PARTS))
def test_random(part: int) -> None:
    """What is compiled computes what NumPy does; few tiles that nobody would choose are refused.

    Those that are chosen are not; a user's own schedule may be.
    """
    counts = Counts()
    problems = fuzz(range(part * SEEDS, (part + 1) * SEEDS), counts)
    assert not problems, "\n".join(f"seed {seed} {text}" for seed, text in problems.items())
    assert len(counts.refused) <= SEEDS // 4, counts.refused
    refused = [generate(seed) for seed in counts.refused]
    assert all(case.is_retiled or case.schedule for case in refused), counts.refused
    assert set(counts.kinds) <= set(KINDS)
    assert counts.kinds["product"] > SEEDS // 8
