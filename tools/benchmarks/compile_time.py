"""Compare compiling in process with the chain mlir-opt | mlir-translate | llc.

Each round measures every contender once, in turns, so that a drift of the machine hits all of
them; medians are printed. The chain runs the same passes; the text between its processes is
prepared once, outside of the timing, because `mlir-translate` does not look into a `gpu.module`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pipeline
from pipeline.system.toolchain import find_mlir_opt, plugin_path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "test" / "Examples" / "promoted-matmul.mlir"
PIPELINE = "builtin.module(workgroup-memory,workgroup-to-nvvm)"
CHIP, FEATURES = "sm_80", "+ptx70"


def timed(function: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    start = time.perf_counter()
    function()
    return (time.perf_counter() - start) * 1e3


def run(*command: str, source: str | None = None) -> str:
    """Run a program and return its output."""
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def device_module(text: str) -> str:
    """Return the inside of the GPU module of a program as a module of its own."""
    start = text.index("{\n", text.index("gpu.module"))
    return "module " + text[start : text.rindex("}")]


class Chain:
    """The same way in separate processes."""

    def __init__(self, folder: Path) -> None:
        opt = str(find_mlir_opt())
        self.opt = (opt, f"--load-pass-plugin={plugin_path()}", f"--pass-pipeline={PIPELINE}")
        self.schedule = (opt, str(PROGRAM), "--transform-interpreter")
        scheduled = run(*self.schedule)
        # The schedule has been applied; what is left of it is of no use to the passes.
        self.scheduled = scheduled[: scheduled.index("  module attributes {transform")] + "}\n"
        self.device = device_module(run(*self.opt, source=self.scheduled))
        self.llvm = run("mlir-translate-22", "--mlir-to-llvmir", source=self.device)
        self.optimized = run("opt-22", "-O3", "-S", source=self.llvm)
        self.folder = folder

    def milliseconds(self) -> dict[str, float]:
        """Measure each process once."""
        llc = ("llc-22", "-O2", "-mtriple=nvptx64", f"-mcpu={CHIP}", f"-mattr={FEATURES}")
        return {
            "mlir-opt, schedule": timed(lambda: run(*self.schedule)),
            "mlir-opt, passes": timed(lambda: run(*self.opt, source=self.scheduled)),
            "mlir-translate": timed(
                lambda: run("mlir-translate-22", "--mlir-to-llvmir", source=self.device)
            ),
            "opt -O3": timed(lambda: run("opt-22", "-O3", "-S", source=self.llvm)),
            "llc": timed(lambda: run(*llc, "-o", os.devnull, source=self.optimized)),
        }


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="./tools/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    samples: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        samples.setdefault(name, []).append(value)

    with tempfile.TemporaryDirectory() as folder:
        chain = Chain(Path(folder))
        note("in process, first", timed(lambda: pipeline.compile(PROGRAM)))
        for _ in range(rounds):
            module = pipeline.compile(PROGRAM)
            note("in process, warm", sum(module.seconds.values()) * 1e3)
            for stage, seconds in module.seconds.items():
                note(f"  {stage}", seconds * 1e3)
            processes = chain.milliseconds()
            note("chain of processes", sum(processes.values()))
            for name, value in processes.items():
                note(f"  {name}", value)
            note("import pipeline", timed_import("import pipeline"))
            note("interpreter alone", timed_import("pass"))
    print(f"{PROGRAM.relative_to(ROOT)} to PTX for {CHIP}, milliseconds, {rounds} rounds:")
    print(f"{'median':>10}{'fastest':>10}")
    for name, values in samples.items():
        print(f"{statistics.median(values):10.2f}{min(values):10.2f}  {name}")
    return 0


def timed_import(statement: str) -> float:
    """Return the milliseconds of a Python process that runs one statement."""
    return timed(lambda: run(sys.executable, "-c", statement))


if __name__ == "__main__":
    sys.exit(main())
