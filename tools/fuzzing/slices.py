"""Try what is known of accesses in bounds on random kernels with slices of dynamic size.

Each kernel runs on the emulator for some values of its arguments, with assertions of all bounds and
all checks. What leaves bounds has to be found; what is called `SAFE` must not race as long as all
is in bounds; and nothing else is found in kernels that race nowhere.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import pipeline
from oracles.slices.programs import THREADS, Environment, Program, generate
from setup.arguments import positive

# Reading what nobody wrote is no matter of bounds.
IGNORED = ("uninitialized",)


def run(program: Program, module: pipeline.Module, launch: Environment) -> tuple[set[str], str]:
    """Return the kinds of what is found in a launch, and the report."""
    rows, columns = program.shape
    arrays = [np.zeros(THREADS * program.blocks, np.int32)]
    if "%x: memref" in program.text.partition("workgroup(")[0]:
        arrays.append(np.ones((rows, columns), np.int32))
    options = pipeline.Options(check="all", workers=1)
    report = module.kernels["main_kernel"].emulate(
        *arrays, *launch.values(), grid=program.blocks, block=THREADS, options=options
    )
    kinds = {finding.kind for finding in report.findings} - set(IGNORED)
    return kinds, report.rendered


def check(program: Program, counts: Counter[str]) -> str:
    """Return what is wrong with a program; empty if nothing is."""
    chosen = program.choose()
    try:
        (kernel,) = pipeline.check(program.text).kernels
        module = pipeline.compile(
            program.text,
            until="llvm",
            sync="keep",
            verify=False,
            assert_bounds=True,
        )
    except pipeline.Error as error:
        if "out-of-bounds" in str(error) and not any(is_in for _, is_in in chosen):
            counts["refused, out of bounds"] += 1
            return ""
        return str(error)
    counts[kernel.verdict] += 1
    counts["SAFE in bounds"] += kernel.verdict == "SAFE" and kernel.assumes_in_bounds
    has_raced = False
    for launch, is_in in chosen:
        kinds, report = run(program, module, launch)
        counts["runs in bounds" if is_in else "runs out of bounds"] += 1
        if not is_in:
            if "assertion" not in kinds:
                return f"nothing is found, but {launch} is out of bounds\n{report}"
            continue
        races = {kind for kind in kinds if kind.startswith("race")}
        has_raced |= bool(races)
        if kinds - races:
            return f"all is in bounds for {launch}, but there is\n{report}"
        if races and kernel.verdict == "SAFE":
            return f"called SAFE, but for {launch} there is\n{report}"
    counts["raced"] += has_raced
    counts["neither SAFE nor raced"] += kernel.verdict != "SAFE" and not has_raced
    return ""


def fuzz(seeds: Sequence[int], counts: Counter[str]) -> dict[int, str]:
    """Return what is wrong with the programs of some seeds."""
    problems = {seed: check(generate(seed), counts) for seed in seeds}
    return {seed: problem for seed, problem in problems.items() if problem}


def main() -> int:
    """Fuzz seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=positive, default=1000, help="how many")
    parser.add_argument("--keep", type=Path, help="where to write the programs that fail")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    begun, failed = time.monotonic(), 0
    for seed in range(options.first, options.first + options.seeds):
        for problem in fuzz([seed], counts).values():
            failed += 1
            print(f"seed {seed}: {problem}\n", flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{seed}.mlir").write_text(generate(seed).text)
    told = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    seconds = time.monotonic() - begun
    print(f"{options.seeds} programs in {seconds:.0f} s, {failed} failed: {told}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
