"""What the benchmarks share: samples taken in turns, medians, ratios, and tables.

A sample has the seconds that passed, and those of processors, of all threads, which say less but
hold on a busy machine. Contenders take turns, so that a drift of the machine hits all of them.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pipeline
from pipeline.system.toolchain import find_mlir_opt

OWN, CHILDREN = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN

# --- samples --------------------------------------------------------------------------------------


class Sample(NamedTuple):
    """Seconds that passed, and seconds of processors, which are no number if nothing tells them."""

    wall: float
    processor: float


def timed(function: Callable[[], object], who: int = OWN) -> Sample:
    """Return what a call takes; of processors, this process or the children that it waits for."""
    start, processor = time.perf_counter(), _processor_seconds(who)
    function()
    return Sample(time.perf_counter() - start, _processor_seconds(who) - processor)


def _processor_seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def time_passes(text: str, passes: str, *flags: str, patience: float | None = None) -> Sample:
    """Return what mlir-opt takes for passes on a module, reading and printing included.

    Raises CalledProcessError, and TimeoutExpired after `patience` seconds.
    """
    command = [str(find_mlir_opt()), f"--load-pass-plugin={pipeline.plugin_path()}", *flags]
    command += [f"--pass-pipeline=builtin.module({passes})", "-o", os.devnull]

    def run() -> None:
        subprocess.run(
            command, input=text, text=True, check=True, capture_output=True, timeout=patience
        )

    return timed(run, CHILDREN)


@dataclass
class Series:
    """The samples of one contender, a round each."""

    samples: list[Sample] = field(default_factory=list)

    @property
    def median(self) -> Sample:
        """The median of what passed, and that of processors."""
        wall, processor = zip(*self.samples, strict=True)
        return Sample(statistics.median(wall), statistics.median(processor))

    @property
    def fastest(self) -> Sample:
        """What a quiet machine would take."""
        wall, processor = zip(*self.samples, strict=True)
        return Sample(min(wall), min(processor))


def take_turns(measures: Sequence[Callable[[], None]], rounds: int) -> None:
    """Let every contender measure itself once in each round."""
    for number in range(rounds):
        if sys.stderr.isatty():
            print(f"round {number + 1} of {rounds}", end="\r", file=sys.stderr, flush=True)
        for measure in measures:
            measure()


def find_fastest(measures: Sequence[Callable[[], Sample]], rounds: int) -> list[float]:
    """Return the fewest seconds of processors that each contender takes, which take turns."""
    series = [Series() for _ in measures]

    def measure() -> None:
        for one, samples in zip(measures, series, strict=True):
            samples.samples.append(one())

    take_turns([measure], rounds)
    return [samples.fastest.processor for samples in series]


def compare(above: Series, below: Series) -> tuple[float, float]:
    """Return how often one goes into another: the median of the rounds, and of the fastest."""
    rounds = zip(above.samples, below.samples, strict=True)
    median = statistics.median(one.wall / other.wall for one, other in rounds)
    return median, above.fastest.wall / below.fastest.wall


# --- tables ---------------------------------------------------------------------------------------


class Table:
    """A table that is printed row by row: names, then cells below their titles."""

    def __init__(self, *titles: str, name: int = 12, width: int = 10) -> None:
        self.name = max(name, len(titles[0]))
        self.widths = [max(width, len(title) + 2) for title in titles[1:]]
        self.row(*titles)

    def row(self, name: str, *cells: str) -> None:
        """Print a row, of which cells behind the last column are as long as they are."""
        widths = [*self.widths, *[0] * (len(cells) - len(self.widths))]
        text = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=False))
        print(f"{name:<{self.name}}{text}".rstrip(), flush=True)


def span(seconds: float) -> str:
    """Return a duration to three digits; nothing if it is no number."""
    if math.isnan(seconds) or math.isinf(seconds):
        return "" if math.isnan(seconds) else "-"
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{_three_digits(seconds)} s"


def times(ratio: float) -> str:
    """Return a ratio to three digits."""
    return f"{_three_digits(ratio)} x"


def _three_digits(value: float) -> str:
    """Return a number of at least about 1 without exponent."""
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"
