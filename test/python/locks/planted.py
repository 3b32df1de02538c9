"""The planted races of ``locks.cu``, and how often launches in some orders find them.

``python planted.py``, with the package on the path and clang installed, prints the table of
docs/emulator.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pipeline
from pipeline import Kernel, Module, Options

FILE = Path(__file__).with_name("locks.cu")
THREADS, BLOCKS = 64, 4
SEEDS = 50
# A thread that waits for what another block does never sees it.
STEPS = 1 << 20


def names() -> list[str]:
    """Return the kernels of the file, in its order."""
    return re.findall(r"__global__ void (\w+)\(", FILE.read_text())


RIGHT = [name for name in names() if name.endswith("_right")]
# It takes stores that other threads see late.
BEYOND = ["reach_both"]
PLANTED = [name for name in names() if name not in RIGHT + BEYOND]


def compile_all() -> Module:
    """Return all kernels, for the emulator."""
    return pipeline.compile(
        FILE, block=THREADS, grid=BLOCKS, verify=False, assert_bounds=True, until="llvm"
    )


def find(module: Module, name: str) -> Kernel:
    """Return the kernel of this name."""
    (kernel,) = [it for symbol, it in module.kernels.items() if f"{len(name)}{name}P" in symbol]
    return kernel


def arguments() -> list[np.ndarray]:
    """Return what a kernel is run on."""
    return [np.zeros(512, np.int32), np.zeros(16, np.int32)]


def errors(kernel: Kernel, options: Options) -> Sequence[pipeline.Finding]:
    """Return what one launch finds."""
    return kernel.emulate(*arguments(), grid=BLOCKS, block=THREADS, options=options).errors


def with_seed(seed: int, *, delays: bool) -> Options:
    """Return how to run by a seed."""
    return Options(
        check="races",
        order=seed,
        async_mode=seed,
        delays=delays,
        workers=1,
        step_limit=STEPS,
        fixes=False,
    )


@dataclass(frozen=True)
class Rates:
    """In how many of as many launches by seeds a race is found, and whether in the plain orders."""

    name: str
    forward: bool
    reverse: bool
    seeds: int
    by_seed: int
    with_delays: int


def measure(module: Module, name: str, seeds: int) -> Rates:
    """Run a kernel in both plain orders, and by seeds without and with delays."""
    kernel = find(module, name)
    plain = Options(check="races", workers=1, step_limit=STEPS, fixes=False)
    reverse = Options(check="races", order="reverse", workers=1, step_limit=STEPS, fixes=False)
    by_seed, with_delays = (
        sum(bool(errors(kernel, with_seed(seed, delays=delays))) for seed in range(seeds))
        for delays in (False, True)
    )
    return Rates(
        name,
        forward=bool(errors(kernel, plain)),
        reverse=bool(errors(kernel, reverse)),
        seeds=seeds,
        by_seed=by_seed,
        with_delays=with_delays,
    )


def main() -> None:
    """Print the table."""
    module = compile_all()
    print(f"| planted | forward | reverse | of {SEEDS} seeds | of {SEEDS}, with delays |")
    print("|---|---|---|---|---|")
    for name in names():
        rates = measure(module, name, SEEDS)
        plain = " | ".join("found" if it else "-" for it in (rates.forward, rates.reverse))
        print(f"| `{name}` | {plain} | {rates.by_seed} | {rates.with_delays} |", flush=True)


if __name__ == "__main__":
    main()
