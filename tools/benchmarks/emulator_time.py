"""Measure the emulator: tiled f32 and tensor core matmuls, beside Oclgrind and Numba's simulator.

Each round measures every contender once, in turns, so that a drift of the machine hits all of
them. Medians are held against the bars, the fastest round tells what a quiet machine would do; of
ratios, the median is that of the rounds, and the other is between the fastest. A run is the launch
alone: translation comes before. Simulators that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import pipeline
from benchmarks.emulator_kernels import MMA_TILE, NUMBA, OPENCL, TILE, tensor_matmul, tiled_matmul
from pipeline.runtime.emulator import Check, Options

Array = npt.NDArray[Any]

SIZE, LARGER, TENSOR_SIZE, SMALL = 256, (512, 1024), 1024, 128
BLOCKS = (SIZE // TILE) ** 2
OCLGRIND_SIDE, NUMBA_SIDE = 4, 2
NEAR_LINEAR = 1.8  # times as fast with two workers


class Failure(Exception):
    """A result that is wrong, or a tool that does not run; nothing can be measured then."""


def matrix(seed: int, size: int, kind: str) -> Array:
    """Return multiples of 1/8 of which no product and no sum rounds in f32."""
    values = np.random.default_rng(seed).integers(-16, 17, (size, size)) / 8
    return np.asarray(values, dtype=kind)


@dataclass
class Launch:
    """A matmul of square matrices, checked against NumPy after each launch."""

    name: str
    text: str
    size: int
    tile: int
    block: tuple[int, int, int]
    kind: str
    expected: Array = field(init=False)
    arguments: tuple[Array, Array, Array] = field(init=False)
    kernel: pipeline.Kernel = field(init=False)

    def __post_init__(self) -> None:
        """Compile the kernel and multiply by NumPy."""
        a, b = matrix(1, self.size, self.kind), matrix(2, self.size, self.kind)
        self.arguments = (a, b, np.zeros_like(a, np.float32))
        self.expected = a.astype(np.float32) @ b.astype(np.float32)
        self.kernel = self.compile()

    def compile(self) -> pipeline.Kernel:
        """Return the kernel as one that has not been launched yet."""
        return pipeline.compile(self.text).kernels[self.name]

    def run(
        self, check: Check, workers: int = 1, blocks: int = 0, kernel: pipeline.Kernel | None = None
    ) -> tuple[float, float]:
        """Launch; return seconds and processor seconds. Raises Failure for a wrong result."""
        side = self.size // self.tile
        self.arguments[2].fill(0)
        start = time.process_time()
        report = (kernel or self.kernel).emulate(
            *self.arguments,
            grid=(side, side, 1),
            block=self.block,
            options=Options(check=check, workers=workers, blocks=blocks),
        )
        processor = time.process_time() - start
        title = f"{self.name} {self.size}^3, check={check}"
        if report.findings:
            raise Failure(f"{title}: {report.rendered}")
        if not blocks and not np.array_equal(self.arguments[2], self.expected):
            raise Failure(f"{title}: the product is wrong")
        return report.seconds, processor

    def translate(self, check: Check) -> tuple[float, float]:
        """Return what the first launch takes longer than the second one, of one block each."""
        kernel = self.compile()
        spans = []
        for _ in range(2):
            start, processor = time.perf_counter(), time.process_time()
            self.run(check, blocks=1, kernel=kernel)
            spans.append((time.perf_counter() - start, time.process_time() - processor))
        return spans[0][0] - spans[1][0], spans[0][1] - spans[1][1]


def tiled(size: int) -> Launch:
    """Return the f32 matmul."""
    return Launch("tiled", tiled_matmul(size), size, TILE, (TILE, TILE, 1), "f4")


def tensor(size: int) -> Launch:
    """Return the matmul on tensor cores."""
    return Launch("tensor", tensor_matmul(size), size, MMA_TILE, (128, 1, 1), "f2")


# --- other simulators -----------------------------------------------------------------------------


def run_peer(command: Sequence[str], **environment: str) -> str:
    """Run a program and return its output. Raises Failure."""
    result = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | environment, check=False
    )
    if result.returncode != 0 or result.stderr:
        raise Failure(f"{command[0]} failed: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout


class Oclgrind:
    """The f32 matmul in OpenCL C on Oclgrind, one thread of the host."""

    program = "oclgrind-kernel"
    missing = "Oclgrind is left out: `apt-get install -y oclgrind` as root installs it."

    def __init__(self, folder: Path) -> None:
        source = folder / "tiled.cl"
        source.write_text(OPENCL.replace("SIZE", str(SIZE)), encoding="utf-8")
        a, b = matrix(1, SIZE, "f4"), matrix(2, SIZE, "f4")
        numbers = [" ".join(f"{value:g}" for value in array.ravel()) for array in (a, b)]
        size = f"size={a.nbytes}"
        self.files = {}
        for name, side, dump in (
            ("one", 1, ""),
            ("few", OCLGRIND_SIDE, ""),
            ("all", SIZE // TILE, ""),
            ("dump", OCLGRIND_SIDE, "dump"),
        ):
            self.files[name] = folder / f"{name}.sim"
            lines = [source, "tiled", f"{side * TILE} {side * TILE} 1", f"{TILE} {TILE} 1"]
            lines += [f"<{size}> {text}" for text in numbers] + [f"<{size} fill=0 {dump}>", ""]
            self.files[name].write_text("\n".join(map(str, lines)), encoding="utf-8")
        self.validate((a @ b)[: OCLGRIND_SIDE * TILE, : OCLGRIND_SIDE * TILE])

    def validate(self, expected: Array) -> None:
        """Raise Failure unless the product is right."""
        output = run_peer([self.program, "--num-threads", "1", str(self.files["dump"])])
        values = [line.split(" = ")[1] for line in output.splitlines() if " = " in line]
        product = np.array(values, np.float64).reshape(SIZE, SIZE)
        # The simulator prints six digits.
        if not np.allclose(product[: len(expected), : len(expected)], expected, rtol=1e-5):
            raise Failure(f"{self.program}: the product is wrong")

    def run(self, whole: bool, *flags: str) -> tuple[float, float]:
        """Return seconds, those of one block left out as its start-up; extrapolated if not all."""
        files = (self.files["one"], self.files["all" if whole else "few"])
        spans = [children_time([self.program, "--num-threads", "1", *flags, str(f)]) for f in files]
        measured = BLOCKS if whole else OCLGRIND_SIDE**2
        scale = BLOCKS / (measured - 1)
        return (spans[1][0] - spans[0][0]) * scale, (spans[1][1] - spans[0][1]) * scale


def children_time(command: Sequence[str]) -> tuple[float, float]:
    """Return the seconds and processor seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    run_peer(command)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def has_numba(python: str) -> bool:
    """Tell whether an interpreter can import Numba."""
    if not shutil.which(python):
        return False
    command = [python, "-c", "import numba.cuda"]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    return (
        subprocess.run(command, capture_output=True, env=environment, check=False).returncode == 0
    )


def numba_missing(python: str) -> str:
    """Return what to say if Numba is not there."""
    return (
        f"Numba is left out, {python} has none: `python3 -m venv numba-venv && "
        "numba-venv/bin/pip install numba`, then --numba numba-venv/bin/python."
    )


def run_numba(python: str, whole: bool) -> tuple[float, float]:
    """Return the seconds of Numba's simulator, extrapolated if not all; it tells no more."""
    side = SIZE // TILE if whole else NUMBA_SIDE
    command = [python, "-c", NUMBA, str(SIZE), str(side)]
    return float(run_peer(command, NUMBA_ENABLE_CUDASIM="1")) * BLOCKS / side**2, float("nan")


# --- the table ------------------------------------------------------------------------------------


@dataclass
class Contender:
    """Something that is measured once in each round: seconds, and seconds of the processors."""

    name: str
    measure: Callable[[], tuple[float, float]]
    bar: float | None = None
    samples: list[tuple[float, float]] = field(default_factory=list)

    @property
    def seconds(self) -> list[float]:
        """What each round took."""
        return [sample[0] for sample in self.samples]

    @property
    def row(self) -> str:
        """A line of the table."""
        median, fastest = statistics.median(self.seconds), min(self.seconds)
        processor = statistics.median(sample[1] for sample in self.samples)
        bar, verdict = "", ""
        if self.bar is not None:
            bar = f"<= {span(self.bar)}"
            verdict = judge(median <= self.bar, fastest=fastest <= self.bar)
            # On a machine that does other things, a run waits for its core.
            if median > self.bar >= processor:
                verdict += ", processor time meets it"
        busy = "" if np.isnan(processor) else span(processor)
        return line(self.name, span(median), span(fastest), busy, bar, verdict)


@dataclass
class Ratio:
    """How often the time of `below` goes into that of `above`."""

    name: str
    above: Contender
    below: Contender
    bar: float

    @property
    def row(self) -> str:
        """A line of the table."""
        rounds = zip(self.above.seconds, self.below.seconds, strict=True)
        median = statistics.median(above / below for above, below in rounds)
        fastest = min(self.above.seconds) / min(self.below.seconds)
        verdict = judge(median >= self.bar, fastest=fastest >= self.bar)
        return line(self.name, times(median), times(fastest), "", f">= {times(self.bar)}", verdict)


def judge(median: bool, *, fastest: bool) -> str:
    """Return the verdict on a bar, which the median has to meet."""
    return "met" if median else "not met" + ", fastest meets it" * fastest


def line(name: str, median: str, fastest: str, processor: str, bar: str, verdict: str) -> str:
    """Return a line of the table."""
    return f"{name:<51}{median:>10}{fastest:>10}{processor:>11}{bar:>12}  {verdict}".rstrip()


def span(seconds: float) -> str:
    """Return a duration to three digits."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{three_digits(seconds)} s"


def times(ratio: float) -> str:
    """Return a ratio to three digits."""
    return f"{three_digits(ratio)} x"


def three_digits(value: float) -> str:
    """Return a number of at least about 1 without exponent."""
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


class Benchmark:
    """Everything that is measured, in the order of the table."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        small, large = tiled(SIZE), tensor(TENSOR_SIZE)
        validate(small, tensor(SMALL))
        self.notes: list[Callable[[], str]] = []
        self.ratios: list[Ratio] = []
        self.contenders: list[Contender] = []
        self.none = self.add_launch(small, "none", bar=0.05)
        self.races = self.add_launch(small, "races")
        self.all = self.add_launch(small, "all", bar=0.3)
        for size in LARGER if options.larger else ():
            launch = tiled(size)
            for check in ("none", "all"):
                self.add_launch(launch, check)
        self.add_launch(large, "none")
        one = self.add_launch(large, "races", bar=5)
        self.add_two_workers(large, one)
        for launch in (small, large):
            checks: tuple[Check, ...] = ("none", "races", "all")
            for check in checks:
                name = f"translation of {launch.name}, check={check}"
                self.add(name, partial(launch.translate, check))
        self.add_oclgrind(options, folder)
        self.add_numba(options)

    def add(
        self, name: str, measure: Callable[[], tuple[float, float]], bar: float | None = None
    ) -> Contender:
        """Add a contender."""
        self.contenders.append(Contender(name, measure, bar))
        return self.contenders[-1]

    def note(self, text: str) -> None:
        """Add a line below the table."""
        self.notes.append(lambda: text)

    def add_launch(
        self, launch: Launch, check: Check, bar: float | None = None, workers: int = 1
    ) -> Contender:
        """Add a launch that is translated now."""
        launch.run(check, blocks=1)
        kind = "f32" if launch.kind == "f4" else "f16 mma.sync"
        name = f"{kind} {launch.size}^3, check={check}, {workers} worker{'s' * (workers > 1)}"
        return self.add(name, lambda: launch.run(check, workers), bar)

    def add_two_workers(self, launch: Launch, one: Contender) -> None:
        """Add the same with two workers, if there are cores for them."""
        if len(os.sched_getaffinity(0)) < 2:
            self.note("Two workers are left out: there is one core.")
            return
        two = self.add_launch(launch, "races", workers=2)
        self.ratios.append(Ratio("1 worker / 2 workers, f16", one, two, NEAR_LINEAR))

        def tell() -> str:
            cores = statistics.median(sample[1] / sample[0] for sample in two.samples)
            pairs = zip(one.samples, two.samples, strict=True)
            work = statistics.median(both[1] / alone[1] for alone, both in pairs)
            return (
                f"Two workers had {cores:.2f} cores, and took {work:.2f} times the processor time "
                f"of one worker: {2 / work:.2f} x on two free cores."
            )

        self.notes.append(tell)

    def add_oclgrind(self, options: argparse.Namespace, folder: Path) -> None:
        """Add the OpenCL twin of the f32 matmul."""
        if not shutil.which(Oclgrind.program):
            self.note(Oclgrind.missing)
            return
        oclgrind = Oclgrind(folder)
        plain = self.add("Oclgrind, f32 256^3", lambda: oclgrind.run(options.whole))
        races = self.add(
            "Oclgrind --data-races, f32 256^3",
            lambda: oclgrind.run(options.whole, "--data-races"),
        )
        self.ratios += [
            Ratio("Oclgrind / check=none", plain, self.none, 50),
            Ratio("Oclgrind --data-races / check=races", races, self.races, 50),
            Ratio("Oclgrind --data-races / check=all", races, self.all, 50),
        ]
        how = "all blocks" if options.whole else f"{OCLGRIND_SIDE**2} of {BLOCKS} blocks, scaled"
        self.note(f"Oclgrind: {how}; the time of a launch of one block is taken off.")

    def add_numba(self, options: argparse.Namespace) -> None:
        """Add the twin of the f32 matmul in Numba's CUDA simulator."""
        if not has_numba(options.numba):
            self.note(numba_missing(options.numba))
            return
        numba = self.add("Numba, f32 256^3", lambda: run_numba(options.numba, options.whole))
        self.ratios += [
            Ratio("Numba / check=none", numba, self.none, 500),
            Ratio("Numba / check=all", numba, self.all, 500),
        ]
        how = "all blocks" if options.whole else f"{NUMBA_SIDE**2} of {BLOCKS} blocks, scaled"
        self.note(f"Numba: {how}; its simulator checks nothing.")

    def measure(self, rounds: int) -> None:
        """Measure every contender once in each round."""
        for number in range(rounds):
            if sys.stderr.isatty():
                print(f"round {number + 1} of {rounds}", end="\r", file=sys.stderr, flush=True)
            for contender in self.contenders:
                contender.samples.append(contender.measure())

    def lines(self) -> Iterator[str]:
        """Return the table, then how some of it was measured."""
        yield line("", "median", "fastest", "processor", "bar", "")
        yield from (contender.row for contender in self.contenders)
        yield from (ratio.row for ratio in self.ratios)
        yield from (note() for note in self.notes)


def validate(*launches: Launch) -> None:
    """Raise Failure unless these are right and clean under all checks."""
    checks: tuple[Check, ...] = ("none", "races", "all")
    for launch in launches:
        for check in checks:
            launch.run(check)


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--larger", action="store_true", help="the f32 matmul of 512 and 1024 too")
    parser.add_argument("--whole", action="store_true", help="run all blocks on other simulators")
    parser.add_argument(
        "--numba", default=sys.executable, metavar="PYTHON", help="an interpreter that has Numba"
    )
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds has to be at least 1")
    try:
        with tempfile.TemporaryDirectory() as folder:
            benchmark = Benchmark(options, Path(folder))
            before = os.getloadavg()[0]
            benchmark.measure(options.rounds)
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    print(
        f"{options.rounds} rounds; load of the machine {before:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after; {len(os.sched_getaffinity(0))} cores"
    )
    print("\n".join(benchmark.lines()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
