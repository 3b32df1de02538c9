"""Compare the emulator with an oracle on random kernels and on their mutants.

Each program, and each variant of it that lacks a barrier, is run in all orders. The emulator has to
find a race exactly if there is one, and where there is none its numbers have to be right.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

import pipeline
from oracles.emulator.programs import Outcome, Printer, Program, execute, generate, without_barrier
from setup.arguments import positive

ORDERS: tuple[Literal["forward", "reverse", "seeded"], ...] = ("forward", "reverse", "seeded")


@dataclass
class Counts:
    """What was compared."""

    clean: int = 0
    racy: int = 0


def compare(program: Program, seed: int, counts: Counts) -> str:
    """Return what is wrong with the emulator's view of a program; empty if nothing is."""
    start = _start(program, seed)
    outcome = execute(program, start)
    kernel = pipeline.compile(
        Printer(program).print(), until="llvm", sync="keep", verify=False
    ).kernels["fuzz"]
    for order in ORDERS:
        buffers = {name: np.array(values, np.uint32) for name, values in start.items()}
        out = np.full(program.threads * program.blocks, 77, np.uint32)
        report = kernel.emulate(
            *buffers.values(),
            out,
            grid=(program.blocks, 1, 1),
            block=(program.threads, 1, 1),
            options=pipeline.Options(check="all", order=order, seed=seed),
        )
        races = [finding for finding in report.findings if finding.kind.startswith("race")]
        if bool(races) != outcome.is_racy:
            verdict = "a race" if outcome.is_racy else "none"
            return f"order {order}: there is {verdict}, but the emulator found:\n{report.rendered}"
        if not outcome.is_racy and (problem := _compare_numbers(outcome, buffers, out)):
            return f"order {order}: {problem}"
    counts.racy += outcome.is_racy
    counts.clean += not outcome.is_racy
    return ""


def _start(program: Program, seed: int) -> dict[str, list[int]]:
    random = np.random.default_rng(seed)
    return {
        buffer.name: random.integers(
            1, 1000, buffer.size * (program.blocks if buffer.place == "own" else 1)
        ).tolist()
        for buffer in program.buffers
        if buffer.place != "shared"
    }


def _compare_numbers(
    outcome: Outcome, buffers: dict[str, npt.NDArray[np.uint32]], out: npt.NDArray[np.uint32]
) -> str:
    if out.tolist() != outcome.out:
        return "wrong sums"
    for name, array in buffers.items():
        if array.tolist() != outcome.memory[name]:
            return f"wrong contents of {name}"
    return ""


def fuzz(seed: int, counts: Counts) -> str:
    """Compare a random program and its mutants; return what is wrong."""
    program = generate(seed)
    number = 0
    variant: Program | None = program
    while variant is not None:
        if problem := compare(variant, seed, counts):
            which = "" if number == 0 else f" without barrier {number}"
            return f"seed {seed}{which}: {problem}\n{Printer(variant).print()}"
        variant = without_barrier(program, number)
        number += 1
    return ""


def main() -> int:
    """Fuzz seeds until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=positive, default=200, help="how many")
    options = parser.parse_args()
    counts = Counts()
    begun = time.monotonic()
    for seed in range(options.first, options.first + options.seeds):
        if problem := fuzz(seed, counts):
            print(problem)
            return 1
    seconds = time.monotonic() - begun
    print(
        f"{options.seeds} programs and their mutants in {seconds:.0f} s: {counts.clean} without a "
        f"race are clean and right, {counts.racy} with one are caught"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
