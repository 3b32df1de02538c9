"""Patterns of irregular parallel code: the emulator finds those that race, and only those."""

from __future__ import annotations

import os
from collections import Counter
from itertools import groupby

import numpy as np
import pytest

import pipeline
from oracles.patterns.graphs import make_graph
from oracles.patterns.kinds import Pattern, all_patterns, scoped_patterns
from oracles.patterns.programs import make_program

PATTERNS = list(all_patterns())
_NODES = 200
"""So many that threads of several blocks have some."""


def _sample() -> list[Pattern]:
    """Return a pattern of each work, mapping, and set of mistakes, or all if that is asked for."""
    if os.environ.get("ALL_PATTERNS"):
        return [*PATTERNS, *scoped_patterns()]

    def kind(pattern: Pattern) -> tuple[object, ...]:
        traits = (pattern.work, pattern.mapping, pattern.carry, pattern.traverses)
        return (*traits, pattern.mistakes)

    groups = [list(found) for _, found in groupby(sorted(PATTERNS, key=kind), kind)]
    # Not always the first of a kind, so that each of the other traits comes.
    return [*(found[at * 7 % len(found)] for at, found in enumerate(groups)), *scoped_patterns()]


def find_kinds(pattern: Pattern) -> set[str]:
    """Return the kinds of findings in two orders of threads."""
    module = pipeline.compile(make_program(pattern), until="llvm", sync="keep", verify=False)
    (kernel,) = module.kernels.values()
    graph = make_graph(nodes=_NODES) if pattern.is_scoped else make_graph()
    kinds: set[str] = set()
    for order in ("forward", "reverse"):
        values = [
            np.array(value, np.int32) if isinstance(value, tuple) else value
            for value in graph.arguments
        ]
        options = pipeline.Options(check="races", order=order, workers=1)
        kinds |= {finding.kind for finding in kernel.emulate(*values, options=options).errors}
    return kinds


def test_there_are_as_many_patterns_as_in_indigo() -> None:
    assert len({pattern.name for pattern in PATTERNS}) == 590
    assert Counter(pattern.is_racy for pattern in PATTERNS) == {True: 346, False: 244}


@pytest.mark.parametrize("pattern", _sample(), ids=lambda pattern: pattern.name)
def test_races_of_patterns_are_found(pattern: Pattern) -> None:
    kinds = find_kinds(pattern)
    assert any(kind.startswith("race.") for kind in kinds) == pattern.is_racy, kinds
    if not pattern.is_racy and "no_bound" not in pattern.mistakes:
        assert not kinds
    (verdict,) = pipeline.check(make_program(pattern)).kernels
    assert verdict.verdict != "SAFE" or not pattern.is_racy
    assert verdict.verdict in ("SAFE", "MAYBE") or pattern.is_racy
