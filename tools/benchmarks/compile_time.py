"""Compare compiling in process with the chain mlir-opt | mlir-translate | llc.

Each round measures every contender once, in turns, so that a drift of the machine hits all of
them; medians are printed. The chain runs the same passes; the text between its processes is
prepared once, outside of the timing, because `mlir-translate` does not look into a `gpu.module`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path

import pipeline
from benchmarks.harness import CHILDREN, Sample, Series, Table, span, take_turns, timed
from pipeline.system.toolchain import find_mlir_opt, plugin_path
from setup.arguments import positive

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "test" / "Examples" / "promoted-matmul.mlir"
PIPELINE = "builtin.module(workgroup-memory,workgroup-to-nvvm)"
CHIP, FEATURES = "sm_80", "+ptx70"


def run(*command: str, source: str | None = None) -> str:
    """Run a program and return its output."""
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def device_module(text: str) -> str:
    """Return the inside of the GPU module of a program as a module of its own."""
    start = text.index("{\n", text.index("gpu.module"))
    return "module " + text[start : text.rindex("}")]


class Chain:
    """The same way in separate processes."""

    def __init__(self) -> None:
        opt = str(find_mlir_opt())
        self.opt = (opt, f"--load-pass-plugin={plugin_path()}", f"--pass-pipeline={PIPELINE}")
        self.schedule = (opt, str(PROGRAM), "--transform-interpreter")
        scheduled = run(*self.schedule)
        # The schedule has been applied; what is left of it is of no use to the passes.
        self.scheduled = scheduled[: scheduled.index("  module attributes {transform")] + "}\n"
        self.device = device_module(run(*self.opt, source=self.scheduled))
        self.llvm = run("mlir-translate-22", "--mlir-to-llvmir", source=self.device)
        self.optimized = run("opt-22", "-O3", "-S", source=self.llvm)

    def measure(self) -> dict[str, Sample]:
        """Measure each process once."""
        llc = ("llc-22", "-O2", "-mtriple=nvptx64", f"-mcpu={CHIP}", f"-mattr={FEATURES}")
        translate = ("mlir-translate-22", "--mlir-to-llvmir")
        processes = {
            "mlir-opt, schedule": partial(run, *self.schedule),
            "mlir-opt, passes": partial(run, *self.opt, source=self.scheduled),
            "mlir-translate": partial(run, *translate, source=self.device),
            "opt -O3": partial(run, "opt-22", "-O3", "-S", source=self.llvm),
            "llc": partial(run, *llc, "-o", os.devnull, source=self.optimized),
        }
        return {name: timed(process, CHILDREN) for name, process in processes.items()}


def add(samples: list[Sample]) -> Sample:
    """Return what parts take together."""
    return Sample(sum(s.wall for s in samples), sum(s.processor for s in samples))


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="./tools/bench", description=__doc__)
    parser.add_argument("--rounds", type=positive, default=15)
    rounds = parser.parse_args().rounds
    series: dict[str, Series] = defaultdict(Series)

    def note(name: str, sample: Sample) -> None:
        series[name].samples.append(sample)

    def measure_own() -> None:
        seconds = pipeline.compile(PROGRAM).seconds
        note("in process, warm", Sample(sum(seconds.values()), float("nan")))
        for stage, spent in seconds.items():
            note(f"  {stage}", Sample(spent, float("nan")))

    def measure_chain() -> None:
        processes = chain.measure()
        note("chain of processes", add(list(processes.values())))
        for name, sample in processes.items():
            note(f"  {name}", sample)

    def measure_start() -> None:
        for name, code in {"import pipeline": "import pipeline", "interpreter alone": ""}.items():
            note(name, timed(partial(run, sys.executable, "-c", code), CHILDREN))

    chain = Chain()
    note("in process, first", timed(partial(pipeline.compile, PROGRAM)))
    take_turns([measure_own, measure_chain, measure_start], rounds)
    print(f"{PROGRAM.relative_to(ROOT)} to PTX for {CHIP}, {rounds} rounds")
    table = Table("", "median", "fastest", "processor", name=22)
    for name, one in series.items():
        table.row(name, span(one.median.wall), span(one.fastest.wall), span(one.median.processor))
    return 0


if __name__ == "__main__":
    sys.exit(main())
