"""Kernels of many accesses: what follows from other hazards is left out, and changes nothing.

Up to 64 accesses all pairs are asked for. Here each kernel is tried once more with as many loads
of what nobody writes in front, which no barrier has to order with anything.
"""

from __future__ import annotations

import re

import pytest

from fuzzing import sync as fuzz_sync
from oracles.sync.compiler import ELIMINATE, INSERT, VERIFY, Outcome, read_barriers, run_passes
from oracles.sync.programs import Program, cost
from oracles.sync.races import analyze
from oracles.sync.text import Form, print_program

LOADS = 65
SEEDS = range(5000, 5100)
FIRST = re.compile(r"^%v\d+ = memref\.load %in\[%thread_\] .*$", re.M)


def pad(text: str) -> str:
    """Load what the kernel loads first as often as it takes."""

    def repeat(match: re.Match[str]) -> str:
        load = match[0].split("=", 1)[1]
        return "\n".join([match[0], *(f"%pad{number} ={load}" for number in range(LOADS))])

    return FIRST.sub(repeat, text, count=1)


def run_both(
    programs: list[tuple[Program, Form]], passes: str
) -> list[tuple[Program, Form, Outcome, Outcome]]:
    """Run passes on programs as they are, and on padded ones."""
    texts = [(program.name, print_program(program, form)) for program, form in programs]
    padded = [(name, pad(text)) for name, text in texts]
    assert sum(text.count("%pad") < LOADS for _, text in padded) == 0
    outcomes = zip(programs, run_passes(texts, passes), run_passes(padded, passes), strict=True)
    return [(program, form, few, many) for (program, form), few, many in outcomes]


@pytest.mark.parametrize("passes", [INSERT, ELIMINATE])
def test_barriers_are_the_same(passes: str) -> None:
    cases = [fuzz_sync.make_case(seed) for seed in SEEDS]
    programs = [(case.program if passes == INSERT else case.most, case.form) for case in cases]
    for program, form, few, many in run_both(programs, passes):
        assert few.verdict == many.verdict, (few, many)
        if not few.text:
            continue
        least = read_barriers(program, few.text, form)
        found = read_barriers(program, many.text, form)
        assert cost(found) == cost(least), (few, many)
        assert found == least or not analyze(found).races(), (few, many)


def test_races_are_the_same() -> None:
    cases = [fuzz_sync.make_case(seed) for seed in SEEDS]
    programs = [(case.program, case.form) for case in cases]
    for _, _, few, many in run_both(programs, VERIFY):
        assert few.messages == many.messages, (few, many)
