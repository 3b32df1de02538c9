"""Try the synchronisation passes on random kernels, against an enumeration of all that can happen.

With --compiler: what `workgroup-verify-sync` says has to be so; what is left by
`workgroup-insert-barriers` and `workgroup-eliminate-barriers` has to be free of races, by as few
barriers as can be, of which none can be left out. Without: the enumeration and the emulator have to
agree.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pipeline
from oracles.sync import emulator as sync_emulator
from oracles.sync.compiler import (
    ELIMINATE,
    INSERT,
    VERIFY,
    Mismatch,
    Outcome,
    has_passes,
    is_barrier,
    read_barriers,
    run_passes,
)
from oracles.sync.minimum import Cost, Minimum, insert, minimum
from oracles.sync.programs import (
    Access,
    Barrier,
    Program,
    Step,
    barriers,
    cost,
    parts,
    walk,
    without,
)
from oracles.sync.races import Analysis, analyze
from oracles.sync.random import Generator, form_of, generate, with_barriers
from oracles.sync.strided import StridedGenerator
from oracles.sync.text import Form, print_program
from setup.arguments import seed_range


@dataclass
class Case:
    """A program in one form; and one with more barriers than it needs."""

    program: Program
    analysis: Analysis
    form: Form
    most: Program

    @property
    def text(self) -> tuple[str, str]:
        """What is given to the passes, with its name."""
        return self.program.name, print_program(self.program, self.form)


# By what is asked for: any kernels, or those with loops from the thread on, and trees.
KINDS: dict[str, type[Generator]] = {"any": Generator, "strided": StridedGenerator}


class Wrong(Exception):
    """What a pass did is not right."""


def make_case(seed: int, form: Form | None = None, kind: str = "any") -> Case:
    """Return the case of a seed."""
    program, analysis = generate(seed, KINDS[kind])
    form = form or form_of(seed)
    program = replace(program, name=f"{program.name}.{form}")
    bare = without(program)
    has_barriers = bool(barriers(program))
    most = with_barriers(bare, analyze(bare) if has_barriers else analysis, seed)
    return Case(program, analysis, form, replace(most, name=f"{program.name}.most"))


# --- the passes -----------------------------------------------------------------------------------


@dataclass
class Results:
    """What the passes made of a case."""

    verified: Outcome
    inserted: Outcome
    eliminated: Outcome
    # What they made of what was inserted, if it was.
    again: Outcome | None = None
    proved: Outcome | None = None
    spared: Outcome | None = None
    # What is said of the output without one of its barriers, by its number among them.
    mutant: tuple[int, Outcome] | None = None


def run_all(cases: Sequence[Case]) -> list[Results]:
    """Run the passes on all cases."""
    texts = [case.text for case in cases]
    most = [(case.most.name, print_program(case.most, case.form)) for case in cases]
    verified, inserted = run_passes(texts, VERIFY), run_passes(texts, INSERT)
    eliminated = run_passes(most, ELIMINATE)
    results = [Results(*each) for each in zip(verified, inserted, eliminated, strict=True)]
    done = [number for number, outcome in enumerate(inserted) if outcome.text]
    outputs = [(cases[number].program.name, inserted[number].text) for number in done]
    if outputs:
        lists = [run_passes(outputs, passes) for passes in (INSERT, VERIFY, ELIMINATE)]
        for number, *outcomes in zip(done, *lists, strict=True):
            results[number].again, results[number].proved, results[number].spared = outcomes
    run_mutants(cases, results)
    return results


def run_mutants(cases: Sequence[Case], results: Sequence[Results]) -> None:
    """Verify what was inserted without one barrier."""
    texts: list[tuple[str, str]] = []
    removed: list[tuple[Results, int]] = []
    for number, (case, result) in enumerate(zip(cases, results, strict=True)):
        lines = result.inserted.text.splitlines()
        if found := [line for line, text in enumerate(lines) if is_barrier(text)]:
            which = number % len(found)
            del lines[found[which]]
            texts.append((case.program.name, "\n".join([*lines, ""])))
            removed.append((result, which))
    if texts:
        for (result, which), outcome in zip(removed, run_passes(texts, VERIFY), strict=True):
            result.mutant = which, outcome


def check_verdict(case: Case, verified: Outcome) -> None:
    """Check what verification says."""
    verdict, analysis = verified.verdict, case.analysis
    races = analysis.races()
    if verdict == "REFUSED":
        raise Wrong(f"refused: {verified}")
    if verdict == "SAFE" and (races or analysis.divergent):
        raise Wrong(f"called SAFE, but there is {(races or analysis.divergent)[0]}")
    is_missing = verdict == "RACE" and not races
    if is_missing or (verdict == "UNFIXABLE") > bool(analysis.unfixable):
        # What races may take more iterations than were tried.
        analysis = analyze(with_more_values(case.program))
        races = analysis.races()
    if verdict == "RACE" and not races:
        raise Wrong(f"there is no race: {verified.errors[0]}")
    if (verdict == "UNFIXABLE") > bool(analysis.unfixable):
        raise Wrong(f"this can be put right: {verified.errors[0]}")
    if (verdict == "DIVERGENT") > bool(analysis.divergent):
        raise Wrong(f"no barrier is divergent: {verified.errors[0]}")
    if analysis.divergent and verdict not in ("DIVERGENT", "MAYBE"):
        raise Wrong(f"called {verdict}, but threads go apart at {analysis.divergent[0]}")
    said = ("UNFIXABLE", "DIVERGENT", "MAYBE", *(["RACE"] if is_undecided(verified) else []))
    if analysis.unfixable and verdict not in said:
        raise Wrong(f"called {verdict}, but nothing helps against {analysis.unfixable[0]}")
    told = [m for m in verified.errors if m.text.startswith("data race on ")]
    if any(message.step not in racing_steps(analysis) for message in told):
        # A race may take more iterations than were tried.
        analysis = analyze(with_more_values(case.program))
    for message in told:
        if message.step not in racing_steps(analysis):
            raise Wrong(f"step {message.step} has no part in a race: {message.text}")


def racing_steps(analysis: Analysis) -> set[int]:
    """Return the numbers of the steps that race."""
    return {step.number for race in analysis.races() for step in (race.first, race.second)}


def with_more_values(program: Program, *, at_most: int = 0) -> Program:
    """Return the program with more values of the numbers of iterations that are arguments.

    By default as many as threads if there is one such number: then what each iteration shifts has
    gone round. Bounds of loops that the length of buffers bounds get more values in longer ones.
    """
    iterations = [name for name in program.arguments if name.startswith("n")]
    at_most = at_most or (program.threads + 5 if len(iterations) == 1 else 13)
    more = {name: tuple(range(at_most)) for name in iterations}
    return _with_longer_buffers(replace(program, arguments={**program.arguments, **more}))


def _with_longer_buffers(program: Program) -> Program:
    """Return the program with buffers twice as long, if their length bounds arguments.

    That is known of no access but those that would leave their buffer."""
    bounds = {name: max(values) for name, values in program.arguments.items() if name[0] in "km"}
    if not bounds:
        return program
    buffers = tuple(
        replace(buffer, shape=(*buffer.shape[:-1], 2 * buffer.shape[-1]))
        for buffer in program.buffers
    )
    more = {
        name: tuple(sorted({*program.arguments[name], most + 1, 2 * most}))
        for name, most in bounds.items()
    }
    return replace(program, buffers=buffers, arguments={**program.arguments, **more})


def check_insertion(case: Case, results: Results, counts: Counter[str]) -> None:
    """Check what insertion did."""
    best, analysis = minimum(case.analysis), case.analysis
    outcome = results.inserted
    if not outcome.text:
        if outcome.verdict not in ("UNFIXABLE", "DIVERGENT"):
            raise Wrong(f"insertion refused: {outcome}")
        if not (analysis.unfixable or analysis.divergent):
            # Nothing may help for more iterations than were tried.
            analysis = analyze(with_more_values(case.program))
        if not (analysis.unfixable or analysis.divergent):
            raise Wrong(f"insertion failed, but {best and list(map(str, best.places))} would do")
        counts["refused"] += 1
        return
    if analysis.unfixable or analysis.divergent:
        if not is_undecided(results.verified):
            raise Wrong("insertion did what cannot be done")
        return
    program = read_barriers(case.program, outcome.text, case.form)
    after = analyze(program)
    if (races := after.races()) and is_undecided(outcome):
        counts["left, and told of"] += 1
        return
    if races:
        raise Wrong(f"still there: {races[0]}\n{program}")
    if after.divergent:
        raise Wrong(f"put into divergent control flow\n{program}")
    counts["inserted"] += sum(cost(program)) - sum(cost(case.program))
    if best and not is_undecided(results.verified):
        put = tuple(a - b for a, b in zip(cost(program), cost(case.program), strict=True))
        check_count(put, best, case.program, minimum, counts)
    for number in find_inserted(case.program.steps, program.steps):
        if not after.races(number):
            counts["superfluous"] += 1
    check_output(case, results, program)
    if results.mutant:
        check_mutant(after, *results.mutant, counts)


def check_mutant(after: Analysis, which: int, said: Outcome, counts: Counter[str]) -> None:
    """Check what is said of the output without one barrier."""
    barrier, _ = barriers(after.program)[which]
    races = after.races(barrier.number)
    counts["mutants"] += 1
    counts["mutants that race"] += bool(races)
    if races and said.verdict == "SAFE":
        raise Wrong(f"called SAFE without barrier {barrier.number}: {races[0]}\n{after.program}")
    if not races and said.verdict not in ("SAFE", "MAYBE"):
        more = analyze(with_more_values(after.program))
        if not more.races(barrier.number):
            raise Wrong(f"not needed, but without barrier {barrier.number}: {said.errors[0]}")


def is_undecided(outcome: Outcome) -> bool:
    """Tell whether something was not decided."""
    return any(m.text.startswith("possible data race on ") for m in outcome.messages)


def check_count(
    put: Cost,
    best: Minimum,
    program: Program,
    find: Callable[[Analysis], Minimum | None],
    counts: Counter[str],
) -> None:
    """Check that the barriers that were put into a program are as few as can be.

    What is needed only for more than the few values that arguments have, `find` tells.
    """
    counts["counted"] += 1
    if put < best.cost:
        raise Wrong(f"{put} is less than the least, {best.cost}")
    if put == best.cost:
        return
    for more in (with_more_values(program, at_most=13), with_more_values(program)):
        better = find(analyze(more))
        if not better or put <= better.cost:
            counts["needed for other arguments"] += 1
            return
        best = better
    places = ", ".join(map(str, best.places))
    raise Wrong(f"{put} is more than the least, {best.cost}: {places}")


def check_output(case: Case, results: Results, program: Program) -> None:
    """Check what the passes say of what was inserted."""
    assert results.again
    assert results.proved
    assert results.spared
    if results.again.text != results.inserted.text:
        raise Wrong(f"inserting twice is not the same\n{results.inserted}\n{results.again}")
    expected = ("SAFE", "MAYBE") if is_undecided(results.verified) else ("SAFE",)
    if results.proved.verdict not in expected:
        raise Wrong(f"called {results.proved.verdict} after insertion\n{results.proved}")
    spared = read_barriers(case.program, results.spared.text, case.form)
    if cost(spared) > cost(program) or (
        cost(spared) < cost(program) and not barriers(case.program)
    ):
        raise Wrong(f"elimination does not leave it alone\n{program}\n{spared}")
    if spared != program and (races := analyze(spared).races()):
        raise Wrong(f"elimination brings {races[0]}\n{spared}")


def check_elimination(case: Case, results: Results, counts: Counter[str]) -> None:
    """Check what elimination left of a program with many barriers."""
    if not results.eliminated.text:
        raise Wrong(f"elimination refused: {results.eliminated}")
    after = read_barriers(case.most, results.eliminated.text, case.form)
    before, left = analyze(case.most), analyze(after)
    if not _racing(after, left) <= _racing(case.most, before):
        raise Wrong(f"elimination brings {left.races()[0]}\n{case.most}\n{after}")
    counts["eliminated"] += sum(cost(case.most)) - sum(cost(after))
    # What the block meets for may become a matter of warps.
    # What it does not order, it does not order in any iteration of a loop.
    if before.races() or left.races():
        return
    is_left_alone = cost(after) == cost(case.most)
    if is_left_alone or is_undecided(results.verified) or is_undecided(results.eliminated):
        return

    def find(analysis: Analysis) -> Minimum | None:
        best = minimum(analysis, only_existing=True)
        if best is None or best.cost == cost(after):
            return best
        return minimum(analysis, only_existing=True, weaker=True)

    if best := find(before):
        check_count(cost(after), best, case.most, find, counts)


def _racing(program: Program, analysis: Analysis) -> set[tuple[int, int]]:
    """Return the racing pairs, by the accesses' numbers among accesses."""
    accesses = [step.number for step, _ in walk(program.steps) if isinstance(step, Access)]
    order = {number: place for place, number in enumerate(accesses)}
    return {(order[race.first.number], order[race.second.number]) for race in analysis.races()}


def find_inserted(before: Sequence[Step], after: Sequence[Step]) -> list[int]:
    """Return the numbers of the barriers in `after` that are not in `before`."""
    found: list[int] = []
    old = list(before)
    for step in after:
        if isinstance(step, Barrier):
            if old and isinstance(old[0], Barrier) and old[0].is_warp == step.is_warp:
                old.pop(0)
            else:
                found.append(step.number)
            continue
        # What is before here was passed over by a barrier of the other kind.
        while isinstance(old[0], Barrier):
            old.pop(0)
        for inner, whole in zip(parts(old.pop(0)), parts(step), strict=True):
            found += find_inserted(inner, whole)
    return found


def fuzz_compiler(cases: Sequence[Case], counts: Counter[str]) -> dict[str, str]:
    """Return what is wrong, by the names of the programs."""
    problems: dict[str, str] = {}
    for case, results in zip(cases, run_all(cases), strict=True):
        verdict = results.verified.verdict
        counts[verdict] += 1
        counts["undecided"] += is_undecided(results.verified)
        counts["racy"] += bool(case.analysis.races())
        checks: list[Callable[[], None]] = [
            lambda: check_verdict(case, results.verified),  # noqa: B023
            lambda: check_insertion(case, results, counts),  # noqa: B023
            lambda: check_elimination(case, results, counts),  # noqa: B023
        ]
        wrong = []
        for check in checks:
            try:
                check()
            except (Wrong, Mismatch) as error:
                wrong.append(str(error))
        if wrong:
            problems[case.program.name] = "\n".join([str(case.program), *wrong])
    return problems


# --- the judges -----------------------------------------------------------------------------------


def fuzz_judges(cases: Sequence[Case], counts: Counter[str]) -> dict[str, str]:
    """Compare the enumeration with the emulator, before and after the least barriers."""
    problems: dict[str, str] = {}
    for case in cases:
        best = minimum(case.analysis)
        for program in (case.program, best and insert(case.program, best.places)):
            if program and (problem := compare(program, case.form, counts)):
                problems[case.program.name] = f"{program}\n{problem}"
    return problems


def compare(program: Program, form: Form, counts: Counter[str]) -> str:
    """Return where the emulator differs from the enumeration."""
    analysis = analyze(program)
    if analysis.divergent:
        return ""
    races = analysis.races()
    try:
        found = sync_emulator.run(program, print_program(program, form), form.container)
    except pipeline.Error as error:
        return str(error)
    counts["runs"] += len(found)
    counts["racy" if races else "clean"] += 1
    if strange := [run for run in found if run.kinds and not run.is_race]:
        return strange[0].report
    if races and not any(run.is_race for run in found):
        return f"the emulator does not find {races[0]}"
    if not races and (racing := [run for run in found if run.is_race]):
        return f"there is no race, but the emulator found\n{racing[0].report}"
    outputs = {(tuple(run.launch.items()), run.output) for run in found}
    if not races and len(outputs) != len({launch for launch, _ in outputs}):
        return "the order of threads changes the output, but there is no race"
    return ""


# --- the command ----------------------------------------------------------------------------------


def main() -> int:
    """Fuzz seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", action="store_true", help="try the passes")
    parser.add_argument(
        "--seeds", type=seed_range, default="0-99", help="the first and the last seed"
    )
    parser.add_argument("--kind", choices=KINDS, default="any", help="what kernels")
    parser.add_argument("--keep", type=Path, help="where to write the programs that fail")
    options = parser.parse_args()
    seeds = options.seeds
    if options.compiler and not has_passes():
        sys.exit("error: the plugin lacks the synchronisation passes; build it again")
    run = fuzz_compiler if options.compiler else fuzz_judges
    counts: Counter[str] = Counter()
    begun, failed = time.monotonic(), 0
    for start in range(seeds.start, seeds.stop, 50):
        cases = [
            make_case(seed, kind=options.kind) for seed in range(start, min(start + 50, seeds.stop))
        ]
        for name, problem in run(cases, counts).items():
            failed += 1
            print(f"{name}: {problem}\n", flush=True)
            if options.keep:
                keep(next(case for case in cases if case.program.name == name), options.keep)
    told = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    print(f"{len(seeds)} programs in {time.monotonic() - begun:.0f} s, {failed} failed: {told}")
    return 1 if failed else 0


def keep(case: Case, folder: Path) -> None:
    """Write a program, and the one with many barriers."""
    folder.mkdir(parents=True, exist_ok=True)
    for program in (case.program, case.most):
        name = program.name.replace("/", ".")
        (folder / f"{name}.mlir").write_text(print_program(program, case.form))


if __name__ == "__main__":
    sys.exit(main())
