"""Try tensor cores, rings, convolutions and streaming K on random programs.

Each is compiled by the default schedule, by one with other tiles, slots and threads, or by the one
of a user, for some chip; it runs on the emulator with all checks, in an order of threads and a mode
of asynchronous copies of its own, and the results must be those of NumPy.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pipeline
from oracles.contractions.programs import Case, generate
from setup.arguments import positive


@dataclass
class Counts:
    """What became of programs: their kinds, and those that were refused, by the reason."""

    kinds: Counter[str] = field(default_factory=Counter)
    refused: dict[int, str] = field(default_factory=dict)
    # Those that are compiled with a warning, as a race between blocks cannot be excluded.
    unproved: dict[int, str] = field(default_factory=dict)


def schedule_of(case: Case) -> str:
    """Return the schedule of a case; empty if that is the default one."""
    if not case.is_retiled:
        return case.schedule
    numerics: Any = case.numerics
    return case.retile(pipeline.choose_schedule(case.text, chip=case.chip, numerics=numerics))


def compile_case(case: Case) -> pipeline.Module:
    """Compile a case with its schedule."""
    options: dict[str, Any] = {"numerics": case.numerics, "memory_options": case.memory_options}
    if schedule := schedule_of(case):
        options["schedule"] = schedule
    return pipeline.compile(case.text, chip=case.chip, until="llvm", **options)


def check(case: Case, counts: Counts) -> str:
    """Return what is wrong with a case; empty if nothing is."""
    counts.kinds[case.kind] += 1
    try:
        module = compile_case(case)
    except pipeline.CompileError as error:
        counts.refused[case.seed] = f"{case.kind}: {error.args[0]}"
        return ""
    except pipeline.Error as error:
        return f"is not compiled: {error}"
    if module.diagnostics:
        counts.unproved[case.seed] = f"{case.kind}: {module.diagnostics[0].message}"
    try:
        result = run(case, module)
    except pipeline.Error as error:
        return f"does not run: {error}"
    return case.problem(result)


def run(case: Case, module: pipeline.Module) -> Any:
    """Run a case, or a mutant of it."""
    seed = case.seed
    return module.run(
        *case.arguments,
        backend="emulator",
        check="all",
        order=("forward", "reverse", seed)[seed % 3],
        async_mode=("on_wait", "eager", seed)[seed // 3 % 3],
        workers=1,
    )


def fuzz(seeds: Sequence[int], counts: Counts) -> dict[int, str]:
    """Try cases; return what is wrong with each that is wrong."""
    problems = {}
    for seed in seeds:
        case = generate(seed)
        if problem := check(case, counts):
            command = f"./tools/fuzz contractions --first {seed} --seeds 1"
            problems[seed] = f"({case.kind}, {case.chip}) {problem}\n    {command}"
    return problems


def _show(seed: int) -> None:
    case = generate(seed)
    print(f"// {case.kind}, chip={case.chip} numerics={case.numerics}\n{case.text}")
    print(schedule_of(case))


def main(arguments: Sequence[str]) -> int:
    """Run the program `tools/fuzz contractions`."""
    parser = argparse.ArgumentParser(prog="tools/fuzz contractions", description=__doc__)
    parser.add_argument("--seeds", type=positive, default=200, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--show", action="store_true", help="print the program of the first seed")
    options = parser.parse_args(arguments)
    if options.show:
        _show(options.first)
        return 0
    start, counts, wrong = time.perf_counter(), Counts(), 0
    for seed in range(options.first, options.first + options.seeds):
        for problem in fuzz([seed], counts).values():
            wrong += 1
            print(f"seed {seed} {problem}", flush=True)
    seconds = time.perf_counter() - start
    for seed, reason in counts.refused.items():
        print(f"seed {seed} is refused: {reason}")
    for seed, reason in counts.unproved.items():
        print(f"seed {seed} is not proved: {reason}")
    print(f"{options.seeds} programs in {seconds:.0f} s, {wrong} wrong, ", end="")
    print(f"{len(counts.refused)} refused, {len(counts.unproved)} not proved; {dict(counts.kinds)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
