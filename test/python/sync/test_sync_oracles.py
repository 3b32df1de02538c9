"""The judges of the synchronisation passes: they agree with each other, and catch what is wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from fuzzing import sync as fuzz_sync
from oracles.sync.compiler import Message, Outcome, read_barriers, run_passes
from oracles.sync.minimum import brute_force, insert, minimum
from oracles.sync.programs import Program, barriers, cost, join, parse, without
from oracles.sync.races import analyze
from oracles.sync.random import generate
from oracles.sync.text import CONTAINERS, FORMS, Form, print_program
from sync.sync_situations import SITUATIONS, Situation


def verdict(program: Program) -> str:
    """Return what is so."""
    analysis = analyze(program)
    if analysis.divergent:
        return "DIVERGENT"
    if analysis.unfixable:
        return "UNFIXABLE"
    return "RACE" if analysis.races() else "SAFE"


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.name)
def test_situations_are_as_told(situation: Situation) -> None:
    analysis = analyze(situation.program)
    assert verdict(situation.program) == situation.verdict
    if situation.inserted is not None:
        best = minimum(analysis)
        assert best is not None
        assert best.cost == situation.inserted
    if situation.left is not None:
        kept = minimum(analysis, only_existing=True)
        assert kept is not None
        assert kept.cost == situation.left


def test_text_is_read_as_written() -> None:
    for seed in range(40):
        program, _ = generate(seed)
        buffers = " ".join(map(str, program.buffers))
        again = parse(join(program.steps), buffers, program.threads, program.name)
        assert replace(again, arguments=program.arguments) == program


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_emulator_agrees(first: int) -> None:
    counts: Counter[str] = Counter()
    cases = [fuzz_sync.make_case(seed) for seed in range(first, first + 8)]
    assert fuzz_sync.fuzz_judges(cases, counts) == {}
    assert counts["clean"] > 0
    assert counts["racy"] > 0


def test_search_is_as_good_as_trying_all() -> None:
    tried = 0
    for seed in range(60):
        program, analysis = generate(seed)
        # Trying takes long: not for arguments.
        if program.arguments or (best := brute_force(program, most_places=10)) is None:
            continue
        found = minimum(analysis)
        assert found is not None
        assert (found.cost, found.is_unfixable) == (best.cost, best.is_unfixable), program
        tried += 1
    assert tried > 12


def test_none_of_the_least_can_be_left_out() -> None:
    for seed in range(60):
        program, analysis = generate(seed)
        best = minimum(analysis)
        if best is None or best.is_unfixable or analysis.divergent:
            continue
        after = insert(program, best.places)
        again = analyze(after)
        assert not again.races()
        for number in fuzz_sync.find_inserted(program.steps, after.steps):
            assert again.races(number)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_barriers_are_read_back(form: Form) -> None:
    programs = []
    for seed in range(12):
        program, analysis = generate(seed)
        best = minimum(analysis)
        assert best is not None
        programs.append(insert(program, best.places))
    texts = [(program.name, print_program(program, form)) for program in programs]
    for program, outcome in zip(programs, run_passes(texts, ""), strict=True):
        assert outcome.verdict == "SAFE"
        assert read_barriers(program, outcome.text, form) == program
    assert any(barriers(program) for program in programs)


# --- what the judges of passes catch --------------------------------------------------------------


def print_with(case: fuzz_sync.Case, places: list[int]) -> Outcome:
    """Return what an insertion at places would be."""
    chosen = [case.analysis.places[bit] for bit in places]
    program = insert(case.program, chosen, renumber=False)
    (outcome,) = run_passes([(case.program.name, print_program(program, case.form))], "")
    return outcome


def results_of(case: fuzz_sync.Case, inserted: Outcome, verified: Outcome) -> fuzz_sync.Results:
    """Return results of passes that do all well but for insertion and verification."""
    (eliminated,) = run_passes([(case.most.name, print_program(case.most, case.form))], "")
    safe = replace(inserted, messages=[])
    return fuzz_sync.Results(verified, inserted, eliminated, inserted, safe, inserted)


@pytest.mark.parametrize("container", CONTAINERS)
def test_wrong_insertions_are_caught(container: str) -> None:
    case = fuzz_sync.make_case(
        next(
            seed
            for seed in range(100)
            if (best := minimum(generate(seed)[1])) and sum(best.cost[::2]) >= 2
        ),
        Form(container),  # type: ignore[arg-type]
    )
    best = minimum(case.analysis)
    assert best is not None
    bits = [case.analysis.places.index(place) for place in best.places]
    racy = Outcome(
        messages=[Message("error", case.analysis.races()[0].first.number, "data race on ")]
    )

    def check(chosen: list[int]) -> Counter[str]:
        results, counts = results_of(case, print_with(case, chosen), racy), Counter[str]()
        fuzz_sync.check_insertion(case, results, counts)
        return counts

    assert check(bits)["counted"] == 1
    for left_out in range(len(bits)):
        with pytest.raises(fuzz_sync.Wrong, match="still there"):
            check(bits[:left_out] + bits[left_out + 1 :])
    free = next(
        bit
        for bit, place in enumerate(case.analysis.places)
        if bit not in bits and not place.barrier and not place.is_warp
    )
    with pytest.raises(fuzz_sync.Wrong, match="more than the least"):
        check([*bits, free])
    after = analyze(insert(case.program, best.places))
    needed = [n for n, (b, _) in enumerate(barriers(after.program)) if after.races(b.number)]
    fuzz_sync.check_mutant(after, needed[0], racy, Counter())
    with pytest.raises(fuzz_sync.Wrong, match="called SAFE"):
        fuzz_sync.check_mutant(after, needed[0], Outcome(text="-"), Counter())


def test_wrong_verdicts_are_caught() -> None:
    def check(situation: str, verdict: str, step: int = 1) -> None:
        program = next(s.program for s in SITUATIONS if s.name == situation)
        case = fuzz_sync.Case(program, analyze(program), Form(), program)
        openings = {
            "RACE": ("error", "data race on "),
            "UNFIXABLE": ("error", "cannot synchronize "),
            "DIVERGENT": ("error", "barrier in divergent control flow"),
            "MAYBE": ("warning", "possible data race on "),
        }
        messages = []
        if verdict in openings:
            severity, opening = openings[verdict]
            messages.append(Message(severity, step, opening))  # type: ignore[arg-type]
        fuzz_sync.check_verdict(case, Outcome(text="-", messages=messages))

    check("1", "SAFE")
    check("2", "RACE")
    check("2", "MAYBE")
    check("6", "UNFIXABLE")
    check("34", "DIVERGENT")
    for situation, verdict in [
        ("1", "RACE"),
        ("1", "UNFIXABLE"),
        ("1", "DIVERGENT"),
        ("2", "SAFE"),
        ("2", "UNFIXABLE"),
        ("6", "SAFE"),
        ("6", "RACE"),
        ("34", "SAFE"),
    ]:
        with pytest.raises(fuzz_sync.Wrong):
            check(situation, verdict)
    with pytest.raises(fuzz_sync.Wrong, match="no part"):
        check("2", "RACE", step=77)


def test_wrong_eliminations_are_caught() -> None:
    program = parse("W S[t]; barrier; R S[127 - t]; barrier; R S[t]; barrier", name="many")
    bare = without(program)
    case = fuzz_sync.Case(bare, analyze(bare), Form(), program)

    def check(left: set[int]) -> Counter[str]:
        kept, counts = program, Counter[str]()
        for barrier, _ in barriers(program):
            if barrier.number not in left:
                kept = without(kept, barrier.number)
        (outcome,) = run_passes([(program.name, print_program(kept))], "")
        results = fuzz_sync.Results(Outcome(), Outcome(), outcome)
        fuzz_sync.check_elimination(case, results, counts)
        return counts

    assert cost(program) == (3, 0)
    assert check({2})["counted"] == 1
    with pytest.raises(fuzz_sync.Wrong, match="brings"):
        check({4})
    with pytest.raises(fuzz_sync.Wrong, match="more than the least"):
        check({2, 4})
