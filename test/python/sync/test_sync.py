"""The synchronisation passes: the acceptance situations, and random kernels."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from fuzzing import sync as fuzz_sync
from oracles.sync.compiler import ELIMINATE, INSERT, VERIFY, Outcome, read_barriers, run_passes
from oracles.sync.programs import cost
from oracles.sync.races import analyze
from oracles.sync.text import FORMS, Form, Spelling, print_program
from sync.sync_kernels import KERNELS, Kernel, count
from sync.sync_situations import SITUATIONS, SPELLED, Situation

SEEDS, CHUNK = 250, 125
DECIDED = 0.95


@cache
def outcomes(passes: str, form: Form) -> dict[str, Outcome]:
    """Return what passes make of all situations."""
    texts = [(s.program.name, print_program(s.program, form)) for s in SITUATIONS]
    results = run_passes(texts, passes)
    return {s.name: outcome for s, outcome in zip(SITUATIONS, results, strict=True)}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.name)
def test_situation_is_verified(situation: Situation) -> None:
    outcome = outcomes(VERIFY, Form())[situation.name]
    assert outcome.verdict == situation.verdict, outcome


def inserted(situation: Situation, form: Form) -> tuple[int, ...] | None:
    """Return how many barriers insertion adds, having checked that they do."""
    outcome = outcomes(INSERT, form)[situation.name]
    if not outcome.text:
        assert outcome.verdict == situation.verdict, outcome
        return None
    program = read_barriers(situation.program, outcome.text, form)
    assert not analyze(program).races(), outcome
    before = cost(situation.program)
    return tuple(a - b for a, b in zip(cost(program), before, strict=True))


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.name)
def test_situation_is_put_right(situation: Situation) -> None:
    assert inserted(situation, Form()) == situation.inserted, outcomes(INSERT, Form())


@pytest.mark.parametrize(
    ("spelling", "lowering"),
    [
        ("cf", "canonicalize,"),
        ("arith", "convert-scf-to-cf,"),
        ("i32", "convert-scf-to-cf,canonicalize,cse,"),
        ("while", "convert-scf-to-cf,"),
        ("affine", "lower-affine,convert-scf-to-cf,canonicalize,cse,"),
    ],
)
def test_lowering_does_not_matter(spelling: Spelling, lowering: str) -> None:
    """Canonical blocks have loops with several paths back, and such that start where paths meet."""
    form = Form(spelling=spelling)
    programs = [
        fuzz_sync.make_case(seed, form).program for seed in (*range(1, 21), *range(101, 131))
    ]
    texts = [(program.name, print_program(program, form)) for program in programs]
    for passes in (VERIFY, f"{INSERT},{VERIFY}"):
        before, after = (run_passes(texts, prefix + passes) for prefix in ("", lowering))
        for (name, _), one, other in zip(texts, before, after, strict=True):
            assert one.verdict == other.verdict, name
            for barrier in ("gpu.barrier", "nvvm.bar.warp.sync"):
                assert one.text.count(barrier) == other.text.count(barrier), name


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_spelling_does_not_matter(form: Form) -> None:
    for situation in SITUATIONS:
        if situation.name in SPELLED:
            assert inserted(situation, form) == situation.inserted, situation.name


@pytest.mark.parametrize(
    "situation", [s for s in SITUATIONS if s.left is not None], ids=lambda s: s.name
)
def test_situation_is_thinned_out(situation: Situation) -> None:
    outcome = outcomes(ELIMINATE, Form())[situation.name]
    program = read_barriers(situation.program, outcome.text, Form())
    assert cost(program) == situation.left, outcome


# --- modules --------------------------------------------------------------------------------------


def run_kernel(kernel: Kernel, passes: str) -> Outcome:
    """Run passes on a module without locations."""
    (outcome,) = run_passes([("<stdin>", kernel.text)], passes)
    return outcome


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_kernel_is_verified(kernel: Kernel) -> None:
    outcome = run_kernel(kernel, VERIFY)
    assert outcome.verdict in kernel.verdicts, outcome


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.inserted], ids=lambda k: k.name)
def test_kernel_is_put_right(kernel: Kernel) -> None:
    outcome = run_kernel(kernel, INSERT)
    assert outcome.text, outcome
    before = count(run_kernel(kernel, "").text)
    added = tuple(a - b for a, b in zip(count(outcome.text), before, strict=True))
    assert added == kernel.inserted, outcome


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.left], ids=lambda k: k.name)
def test_kernel_is_thinned_out(kernel: Kernel) -> None:
    outcome = run_kernel(kernel, ELIMINATE)
    assert count(outcome.text) == kernel.left, outcome


# --- random kernels -------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_random_kernels(first: int) -> None:
    counts: Counter[str] = Counter()
    cases = [fuzz_sync.make_case(seed) for seed in range(first, first + CHUNK)]
    problems = fuzz_sync.fuzz_compiler(cases, counts)
    report = "\n\n".join(f"{name}: {problem}" for name, problem in problems.items())
    assert not problems, report
    assert counts["inserted"] > CHUNK // 2
    programs = sum(counts[verdict] for verdict in ("SAFE", "RACE", "UNFIXABLE", "MAYBE"))
    assert counts["undecided"] <= (1 - DECIDED) * programs
    assert counts["counted"] > CHUNK
    assert counts["superfluous"] <= 0.02 * counts["inserted"]


def test_strided_kernels() -> None:
    """Loops from the thread on, with as many iterations for all threads or not, and trees."""
    counts: Counter[str] = Counter()
    cases = [fuzz_sync.make_case(seed, kind="strided") for seed in range(CHUNK)]
    problems = fuzz_sync.fuzz_compiler(cases, counts)
    assert not problems, "\n\n".join(f"{name}: {problem}" for name, problem in problems.items())
    assert counts["undecided"] <= 0.08 * len(cases)
    assert counts["counted"] > CHUNK
