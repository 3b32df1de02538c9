"""Look for what finds mistakes in the kernels of random contractions.

Each mutant of a kernel (`oracles.contractions.mutants`) is compiled without the check of barriers
and run on the emulator, and the verifier is asked about those that only let threads wait less.
Of a kernel that is not proved itself it is not.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import pipeline
from fuzzing.contractions import run, schedule_of
from oracles.contractions.mutants import KINDS, ORDERING, Mutant, sample
from oracles.contractions.programs import Case, generate, generate_whole
from setup.arguments import positive


@dataclass(frozen=True)
class Verdict:
    """What found a mutant: the compiler, the emulator, numbers, the verifier; else nothing."""

    seed: int
    mutant: Mutant
    found: str
    # What the verifier says; empty if it was not asked, or does not know of the kernel either.
    proof: str = ""

    @property
    def is_unsound(self) -> bool:
        """A race that the emulator found is proved not to be."""
        return self.found == "finding" and self.proof == "SAFE"

    @property
    def is_caught(self) -> bool:
        return bool(self.found) or self.proof not in ("", "SAFE")

    @property
    def is_spare(self) -> bool:
        """What was left out is proved not to be needed."""
        return not self.found and self.proof == "SAFE"

    def __str__(self) -> str:
        what = "UNSOUND" if self.is_unsound else "not needed" if self.is_spare else "not found"
        return f"seed {self.seed}, {self.mutant}: {what}"


def compile_to_kernels(case: Case) -> str:
    """Return a case's program once its kernels have their barriers; empty if it is refused."""
    options: dict[str, Any] = {"numerics": case.numerics, "memory_options": case.memory_options}
    if schedule := schedule_of(case):
        options["schedule"] = schedule
    try:
        module = pipeline.compile(case.text, chip=case.chip, until="gpu", **options)
    except pipeline.CompileError:
        return ""
    return module.texts["gpu"]


def judge(case: Case, text: str) -> str:
    """Return what finds a mistake in kernels of a case: the compiler, the emulator, the numbers."""
    # Arguments are written.
    case = replace(case, arguments=copy.deepcopy(case.arguments))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pipeline.UnverifiedWarning)
            module = pipeline.compile(text, chip=case.chip, sync="keep", verify=False, until="llvm")
    except pipeline.CompileError:
        return "refused"
    try:
        result = run(case, module)
    except pipeline.Error:
        return "finding"
    return "numbers" if case.problem(result) else ""


def try_mutants(case: Case, of_each: int, kinds: Sequence[str]) -> Iterator[Verdict]:
    """Try mutants of a case, so many of each kind; none if it is refused."""
    text = compile_to_kernels(case)
    mutants = sample(text, case.seed, of_each, kinds)
    if not mutants:
        return
    if problem := judge(case, text):
        raise AssertionError(f"seed {case.seed}: {problem} in what is no mutant")
    is_proved = pipeline.check(text).is_safe
    for mutant in mutants:
        found, proof = judge(case, mutant.text), ""
        if mutant.kind in ORDERING and is_proved and found != "refused":
            proof = "SAFE" if pipeline.check(mutant.text).is_safe else "not SAFE"
        yield Verdict(case.seed, mutant, found, proof)


def fuzz_mutants(seeds: Sequence[int], of_each: int) -> int:
    """Try mutants of cases and tell of those that nothing finds; return how many are unsound."""
    counts: Counter[tuple[str, str]] = Counter()
    unsound = 0
    for seed in seeds:
        for verdict in chain(
            try_mutants(generate(seed), of_each, (*ORDERING, "buffer")),
            try_mutants(generate_whole(seed), of_each, KINDS),
        ):
            how = verdict.found or ("verifier" if verdict.is_caught else "")
            how = how or ("not needed" if verdict.is_spare else "not found")
            counts[verdict.mutant.kind, how] += 1
            unsound += verdict.is_unsound
            if verdict.is_unsound or not verdict.is_caught:
                print(verdict, flush=True)
    for kind in dict.fromkeys(kind for kind, _ in counts):
        told = {how: number for (of, how), number in counts.items() if of == kind}
        print(f"{kind}: {sum(told.values())} mutants; {told}")
    return unsound


def main(arguments: Sequence[str]) -> int:
    """Run the program `tools/fuzz mutants`."""
    parser = argparse.ArgumentParser(prog="tools/fuzz mutants", description=__doc__)
    parser.add_argument("--seeds", type=positive, default=50, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--each", type=positive, default=2, help="mutants of each kind a program")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    unsound = fuzz_mutants(range(options.first, options.first + options.seeds), options.each)
    print(f"{options.seeds} programs in {time.perf_counter() - start:.0f} s, {unsound} unsound")
    return 1 if unsound else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
