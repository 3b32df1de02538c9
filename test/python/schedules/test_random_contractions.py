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

    Those that are chosen are not.
    """
    counts = Counts()
    problems = fuzz(range(part * SEEDS, (part + 1) * SEEDS), counts)
    assert not problems, "\n".join(f"seed {seed} {text}" for seed, text in problems.items())
    assert len(counts.refused) <= SEEDS // 4, counts.refused
    assert all(generate(seed).is_retiled for seed in counts.refused), counts.refused
    assert set(counts.kinds) <= set(KINDS)
    assert counts.kinds["product"] > SEEDS // 8
