"""Measure the emulator: tiled f32 and tensor core matmuls, beside Oclgrind and Numba's simulator.

Each round measures every contender once, in turns, so that a drift of the machine hits all of
them. Medians are held against the bars, the fastest round tells what a quiet machine would do; of
ratios, the median is that of the rounds, and the other is between the fastest. A run is the launch
alone: translation comes before. Simulators that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import pipeline
from benchmarks.emulator_kernels import MMA_TILE, NUMBA, OPENCL, TILE, tensor_matmul, tiled_matmul
from benchmarks.harness import (
    CHILDREN,
    Sample,
    Series,
    Table,
    compare,
    span,
    take_turns,
    timed,
    times,
)
from pipeline.runtime.emulator import Check, Options
from setup.arguments import positive

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
    ) -> Sample:
        """Launch; return what the launch alone takes. Raises Failure for a wrong result."""
        side = self.size // self.tile
        self.arguments[2].fill(0)
        reports: list[pipeline.Report] = []

        def launch() -> None:
            report = (kernel or self.kernel).emulate(
                *self.arguments,
                grid=(side, side, 1),
                block=self.block,
                options=Options(check=check, workers=workers, blocks=blocks),
            )
            reports.append(report)

        processor = timed(launch).processor
        [report] = reports
        title = f"{self.name} {self.size}^3, check={check}"
        if report.findings:
            raise Failure(f"{title}: {report.rendered}")
        if not blocks and not np.array_equal(self.arguments[2], self.expected):
            raise Failure(f"{title}: the product is wrong")
        return Sample(report.seconds, processor)

    def translate(self, check: Check) -> Sample:
        """Return what the first launch takes longer than the second one, of one block each."""
        run = partial(self.run, check, blocks=1, kernel=self.compile())
        return subtract(timed(run), timed(run))


def subtract(whole: Sample, part: Sample, scale: float = 1) -> Sample:
    """Return what is left of a sample, and that scaled."""
    return Sample((whole.wall - part.wall) * scale, (whole.processor - part.processor) * scale)


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

    def run(self, whole: bool, *flags: str) -> Sample:
        """Return what blocks take without one, for the start-up; extrapolated if not all."""
        files = (self.files["one"], self.files["all" if whole else "few"])
        command = [self.program, "--num-threads", "1", *flags]
        one, all = (timed(partial(run_peer, [*command, str(f)]), CHILDREN) for f in files)
        measured = BLOCKS if whole else OCLGRIND_SIDE**2
        return subtract(all, one, scale=BLOCKS / (measured - 1))


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


def run_numba(python: str, whole: bool) -> Sample:
    """Return the time of Numba's simulator, extrapolated if not all; it tells no more."""
    side = SIZE // TILE if whole else NUMBA_SIDE
    command = [python, "-c", NUMBA, str(SIZE), str(side)]
    seconds = float(run_peer(command, NUMBA_ENABLE_CUDASIM="1"))
    return Sample(seconds * BLOCKS / side**2, float("nan"))


# --- the table ------------------------------------------------------------------------------------


@dataclass
class Contender:
    """Something that is measured once in each round."""

    name: str
    run: Callable[[], Sample]
    bar: float | None = None
    series: Series = field(default_factory=Series)

    def measure(self) -> None:
        """Take a sample."""
        self.series.samples.append(self.run())

    @property
    def cells(self) -> list[str]:
        """A row of the table."""
        median, fastest = self.series.median, self.series.fastest.wall
        cells = [self.name, span(median.wall), span(fastest), span(median.processor)]
        if self.bar is None:
            return cells
        verdict = judge(median.wall <= self.bar, fastest=fastest <= self.bar)
        # On a machine that does other things, a run waits for its core.
        if median.wall > self.bar >= median.processor:
            verdict += ", processor time meets it"
        return [*cells, f"<= {span(self.bar)}", f"  {verdict}"]


@dataclass
class Ratio:
    """How often the time of `below` goes into that of `above`."""

    name: str
    above: Contender
    below: Contender
    bar: float

    @property
    def cells(self) -> list[str]:
        """A row of the table."""
        median, fastest = compare(self.above.series, self.below.series)
        verdict = judge(median >= self.bar, fastest=fastest >= self.bar)
        bar = f">= {times(self.bar)}"
        return [self.name, times(median), times(fastest), "", bar, f"  {verdict}"]


def judge(median: bool, *, fastest: bool) -> str:
    """Return the verdict on a bar, which the median has to meet."""
    return "met" if median else "not met" + ", fastest meets it" * fastest


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

    def add(self, name: str, run: Callable[[], Sample], bar: float | None = None) -> Contender:
        """Add a contender."""
        self.contenders.append(Contender(name, run, bar))
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
            both = two.series.samples
            cores = statistics.median(sample.processor / sample.wall for sample in both)
            pairs = zip(one.series.samples, both, strict=True)
            work = statistics.median(pair[1].processor / pair[0].processor for pair in pairs)
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

    def print(self) -> None:
        """Print the table, then how some of it was measured."""
        table = Table("", "median", "fastest", "processor", "bar", name=51)
        for cells in (*(c.cells for c in self.contenders), *(r.cells for r in self.ratios)):
            table.row(*cells)
        print("".join(f"{note()}\n" for note in self.notes), end="")


def validate(*launches: Launch) -> None:
    """Raise Failure unless these are right and clean under all checks."""
    checks: tuple[Check, ...] = ("none", "races", "all")
    for launch in launches:
        for check in checks:
            launch.run(check)


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=positive, default=5)
    parser.add_argument("--larger", action="store_true", help="the f32 matmul of 512 and 1024 too")
    parser.add_argument("--whole", action="store_true", help="run all blocks on other simulators")
    parser.add_argument(
        "--numba", default=sys.executable, metavar="PYTHON", help="an interpreter that has Numba"
    )
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            benchmark = Benchmark(options, Path(folder))
            before = os.getloadavg()[0]
            take_turns([one.measure for one in benchmark.contenders], options.rounds)
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    print(
        f"{options.rounds} rounds; load of the machine {before:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after; {len(os.sched_getaffinity(0))} cores"
    )
    benchmark.print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
