"""Try `workgroup-pipeline-copies`, in the whole pipeline, on random loops that copy tiles.

Each kernel is compiled with rings of random depth, proved to be free of races, and runs on the
emulator with all checks, in an order of threads and a mode of asynchronous copies of its own. There
must be no finding, and the results must be those of NumPy.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

import pipeline
from oracles.copies.rings import Program, generate
from setup.arguments import positive

ORDERS: tuple[Literal["forward", "reverse", "seeded"], ...] = ("forward", "reverse", "seeded")
MODES: tuple[Literal["on_wait", "eager", "seeded"], ...] = ("on_wait", "eager", "seeded")


@dataclass
class Counts:
    """What became of copies: names of remarks, iterations that rings run ahead, and engines."""

    remarks: Counter[str] = field(default_factory=Counter)
    ahead: Counter[int] = field(default_factory=Counter)
    engines: Counter[str] = field(default_factory=Counter)


def compile_program(program: Program) -> pipeline.Module:
    """Compile a program with its options."""
    return pipeline.compile(program.text, chip=program.chip, memory_options=program.options)


def count(module: pipeline.Module, counts: Counts) -> None:
    """Note what became of the copies of a program."""
    for remark in module.remarks:
        if "rings" in remark.category:
            counts.remarks[remark.name] += 1
        if remark.name == "LoweredRing":
            counts.ahead[int(remark.arguments["IterationsAhead"])] += 1
            counts.engines[remark.arguments["Engine"]] += 1


def check(program: Program, counts: Counts) -> str:
    """Return what is wrong with a program; empty if nothing is."""
    try:
        module = compile_program(program)
    except pipeline.Error as error:
        return f"was not compiled: {error}"
    count(module, counts)
    if module.diagnostics:
        return f"is not proved: {module.diagnostics[0].message}"
    seed = program.seed
    order, mode = ORDERS[seed % 3], MODES[seed // 3 % 3]
    options = pipeline.Options(
        check="all",
        order=order,
        async_mode=mode,
        seed=seed if "seeded" in (order, mode) else 0,
        workers=1,
    )
    (report,) = module.emulate(*program.arguments, options=options)
    if report.findings:
        return f"has a finding: {report.findings[0].message}"
    if not np.array_equal(program.arguments[-1], program.expected):
        return "computes something else"
    return ""


def fuzz(seeds: Sequence[int], counts: Counts) -> dict[int, str]:
    """Try programs; return what is wrong with each that is wrong."""
    problems = {}
    for seed in seeds:
        if problem := check(generate(seed), counts):
            problems[seed] = problem
    return problems


def main(arguments: Sequence[str]) -> int:
    """Run the program `tools/fuzz rings`."""
    parser = argparse.ArgumentParser(prog="tools/fuzz rings", description=__doc__)
    parser.add_argument("--seeds", type=positive, default=200, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--show", action="store_true", help="print the program of the first seed")
    options = parser.parse_args(arguments)
    if options.show:
        program = generate(options.first)
        print(f"// {program.options} chip={program.chip}\n{program.text}")
        return 0
    start, counts = time.perf_counter(), Counts()
    problems = fuzz(range(options.first, options.first + options.seeds), counts)
    for seed, problem in problems.items():
        print(f"seed {seed}: {problem}")
    seconds = time.perf_counter() - start
    print(f"{options.seeds} programs in {seconds:.0f} s, {len(problems)} wrong")
    print(dict(counts.remarks), dict(counts.ahead), dict(counts.engines))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
