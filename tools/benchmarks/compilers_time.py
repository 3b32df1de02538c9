"""Compare compile time, from linalg to PTX for sm_80, with that of IREE and Triton.

Each contender runs in a process and environment of its own; IREE and Triton are installed from PyPI
below build/compilers first (0.4 GB and 1 GB on disk). One that cannot be installed, or fails, is
told and left out. They take turns, so that a drift of the machine hits all of them. The first
compilation of a process, which loads what is needed, is not counted; processes are counted whole.
Time of processors, of all threads, says less than that which passes, but holds on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pipeline
from benchmarks.compiler_programs import OPERATIONS, PROGRAMS
from benchmarks.harness import CHILDREN, Sample, Series, Table, span, take_turns, timed, times
from setup.arguments import positive
from setup.environment import ROOT, SetupError, run, step

VENVS = ROOT / "build" / "compilers"
TOOLS = Path(__file__).resolve().parent
CHIP = "sm_80"
PATIENCE = 300.0  # seconds for a process
COLUMNS = {
    "matmul": "matmul 1024^3, warm",
    "process": "matmul, whole process",
    "half": "matmul 4096^3 of f16, warm",
    "attention": "ragged attention of f16, warm",
    "network": f"network of {OPERATIONS} operations, warm",
}
# What we want to be below, in seconds, and how many times faster than each peer in these columns.
LIMITS = {"matmul": 0.08, "process": 0.2, "half": 0.12, "attention": 0.4, "network": 1.0}
WANTED_RATIO = 3.0
COMPARED = ("matmul", "process", "network")


@dataclass
class Contender:
    """A compiler, what has to be installed for it, and what it took."""

    name: str
    requirements: tuple[str, ...] = ()
    # What it is not asked to compile.
    omitted: tuple[str, ...] = ()
    columns: dict[str, Series] = field(default_factory=lambda: defaultdict(Series))
    failure: str = ""

    @property
    def python(self) -> str:
        """The interpreter of its environment."""
        if not self.requirements:
            return sys.executable
        return str(VENVS / self.name.lower() / "bin" / "python")

    def install(self) -> None:
        """Make its environment, unless it is there."""
        folder = VENVS / self.name.lower()
        done, wanted = folder / "requirements.txt", "\n".join(self.requirements) + "\n"
        if not wanted.strip() or (done.exists() and done.read_text(encoding="utf-8") == wanted):
            return
        shutil.rmtree(folder, ignore_errors=True)
        try:
            with step(f"installing {self.requirements[0]} (PyPI)"):
                run([sys.executable, "-m", "venv", str(folder)], "cannot create a venv")
                command = [self.python, "-m", "pip", "install", *self.requirements]
                run(command, "pip install failed")
        except SetupError as error:
            self.failure = f"not installed: {error}"
        else:
            done.write_text(wanted, encoding="utf-8")

    def measure(self, folder: Path, rounds: int) -> None:
        """Run its processes once: one that compiles a few times, one that does so once."""
        if self.failure:
            return
        try:
            for program in PROGRAMS:
                if program in self.omitted:
                    continue
                # The first one is warming up.
                self.columns[program].samples += self._warm(folder, program, rounds + 1)[1:]
            process = partial(_run, self._once(folder))
            self.columns["process"].samples.append(timed(process, CHILDREN))
        except subprocess.CalledProcessError as error:
            lines = (error.stderr or error.stdout or "").strip().splitlines() or ["no message"]
            self.failure = f"fails: {lines[-1]}"
        except subprocess.TimeoutExpired:
            self.failure = f"fails: more than {PATIENCE:.0f} s"

    def median(self, column: str) -> Sample | None:
        """Return the median of what passed, and that of processors, if it has been measured."""
        series = self.columns.get(column)
        return series.median if series and series.samples else None

    def _warm(self, folder: Path, program: str, rounds: int) -> list[Sample]:
        if not self.requirements:
            command = [self.python, __file__, "--own", str(folder / f"{program}.mlir")]
            command += ["--rounds", str(rounds)]
        else:
            inputs = program if self.name == "Triton" else str(folder / f"{program}.mlir")
            script = TOOLS / f"compilers_{self.name.lower()}.py"
            command = [self.python, str(script), str(rounds), inputs]
        lines = [line for line in _run(command).splitlines() if line.startswith("{")]
        return [Sample(*json.loads(line)["seconds"]) for line in lines]

    def _once(self, folder: Path) -> list[str]:
        """Return what a user would run."""
        source, target = str(folder / "matmul.mlir"), str(folder / "out")
        if self.name == "IREE":
            program = str(Path(self.python).with_name("iree-compile"))
            flags = ["--iree-hal-target-device=cuda", f"--iree-cuda-target={CHIP}"]
            return [program, source, *flags, "-o", target]
        if self.name == "Triton":
            return [self.python, str(TOOLS / "compilers_triton.py"), "1", "matmul"]
        command = [self.python, "-m", "pipeline", "compile", source]
        return [*command, "--chip", CHIP, "-o", target]


def _run(command: Sequence[str]) -> str:
    variables = {**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(TOOLS.parent)}
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=PATIENCE, env=variables
    ).stdout


def measure_own(path: Path, rounds: int) -> None:
    """Print the seconds of compilations in this process."""
    text = path.read_text(encoding="utf-8")

    def compile() -> None:
        if not pipeline.compile(text, chip=CHIP).ptx:
            sys.exit("there is no PTX")

    for _ in range(rounds):
        spent = timed(compile)
        print(json.dumps({"program": path.stem, "seconds": spent}), flush=True)


def show(contenders: Sequence[Contender]) -> None:
    """Print medians, and how many times as long as ours they are."""
    own = contenders[0]
    print(f"linalg to PTX for {CHIP}: medians, and how many times as long as ours")
    for column, title in COLUMNS.items():
        ours = own.median(column)
        print(f"\n{title} (wanted: {span(LIMITS[column])})")
        table = Table("", "passed", "ratio", "of processors", "ratio")
        for contender in contenders:
            middle = contender.median(column)
            if not middle:
                table.row(contender.name, "-")
                continue
            pairs = zip(middle, ours or middle, strict=True)
            cells = [(span(one), times(one / base) if ours else "") for one, base in pairs]
            table.row(contender.name, *cells[0], *cells[1])
    for contender in contenders:
        if contender.failure:
            print(f"\n{contender.name} {contender.failure}")


def is_met(contenders: Sequence[Contender]) -> bool:
    """Return whether we are as fast as wanted."""
    own, *peers = contenders
    for column, limit in LIMITS.items():
        ours = own.median(column)
        if not ours or ours.wall > limit:
            return False
        for peer in peers:
            theirs = peer.median(column) if column in COMPARED else None
            if theirs and theirs.wall < WANTED_RATIO * ours.wall:
                return False
    return True


def main() -> int:
    """Measure, and print a table; 1 if we fail, or with --strict if we are slower than wanted."""
    parser = argparse.ArgumentParser(prog="./tools/bench compilers", description=__doc__)
    parser.add_argument("--rounds", type=positive, default=3, help="processes of each contender")
    parser.add_argument("--strict", action="store_true", help="fail if targets are missed")
    parser.add_argument("--own", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.own:
        measure_own(options.own, options.rounds)
        return 0
    contenders = [
        Contender("ours"),
        Contender("IREE", ("iree-base-compiler==3.13.0",), omitted=("attention",)),
        Contender("Triton", ("triton==3.9.0",)),
    ]
    for contender in contenders:
        contender.install()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program, text in PROGRAMS.items():
            (folder / f"{program}.mlir").write_text(text, encoding="utf-8")
        measures = [partial(contender.measure, folder, rounds=3) for contender in contenders]
        take_turns(measures, options.rounds)
    show(contenders)
    if contenders[0].failure:
        return 1
    return 0 if not options.strict or is_met(contenders) else 1


if __name__ == "__main__":
    sys.exit(main())
