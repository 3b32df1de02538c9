"""Mistakes in the kernels that random contractions are compiled to are found."""

from __future__ import annotations

import pytest

from fuzzing.mutants import Verdict, compile_to_kernels, try_mutants
from oracles.contractions.mutants import KINDS, mutants
from oracles.contractions.programs import Case, generate, generate_whole

# `tools/fuzz mutants` tries as many as one likes. These have rings filled by
# cp.async and through registers, tensor cores, warps that wait, and user's schedules.
CASES = [
    *(generate(seed) for seed in (3, 9, 11, 18, 20)),
    *(generate_whole(seed) for seed in (0, 1, 2)),
]


def is_fine(verdict: Verdict) -> bool:
    """Tell whether a mutant was found, or is a wait that the proof can do without.

    A ring ends with a wait for groups that are empty, which is where packing sees that nothing is
    under way; of loops that are unrolled, the last commits have no copies.
    """
    is_spare = verdict.is_spare and verdict.mutant.kind in ("wait", "commit")
    return not verdict.is_unsound and (verdict.is_caught or is_spare)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind} {case.seed}")
def test_mutants_are_found(case: Case) -> None:
    """One of each kind of mistake, by the compiler, the emulator, wrong numbers or the verifier."""
    verdicts = list(try_mutants(case, 1, KINDS))
    assert verdicts
    missed = [str(verdict) for verdict in verdicts if not is_fine(verdict)]
    assert not missed, "\n".join(missed)


def test_kinds_of_mutants() -> None:
    """Every kind of mistake is tried."""
    texts = [compile_to_kernels(case) for case in CASES]
    found = {mutant.kind for text in texts for mutant in mutants(text)}
    assert found == set(KINDS)
