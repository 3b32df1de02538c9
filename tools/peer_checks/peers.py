"""The table of docs/measurements/peers.md: how many barriers other compilers leave or insert.

Each peer runs as it was published. MLIR's tool is Debian's; the others are wheels of PyPI, in
virtual environments of their own below build/peers, without the packages that nothing here uses
(PyTorch above all). The exit status is 1 if a peer does anything else than the page says.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from setup import environment
from setup.environment import ROOT

VENVS = ROOT / "build" / "peers"
TESTS = ROOT / "test" / "Transforms" / "Sync"
KERNELS = TESTS / "eliminate-barriers-upstream.mlir"
SCHEDULE = TESTS / "Inputs" / "upstream-eliminate-barriers.mlir"

# With their versions, so that what is recorded can be repeated.
TILELANG = (
    "tilelang==0.1.15",
    "apache-tvm-ffi==0.1.12",
    "ml-dtypes==0.6.0",
    "numpy==2.4.6",
    "psutil==7.2.2",
    "typing-extensions==4.16.0",
    "z3-solver==4.15.4.0",
)
WAVE = ("wave-lang==3.9.1",)


@dataclass(frozen=True)
class Probe:
    """What a peer made of one program."""

    name: str
    required: int
    found: int
    recorded: int  # in docs/measurements/peers.md

    def verdict(self) -> str:
        """Say in words whether the number of barriers is right."""
        if self.found == self.required:
            words = "right"
        else:
            words = "MISSING" if self.found < self.required else "redundant"
        return words if self.found == self.recorded else f"{words} (recorded: {self.recorded})"


def main(arguments: Sequence[str]) -> int:
    """Run the peers, print what they do, compare it with the record."""
    parser = argparse.ArgumentParser(prog="./tools/peers", description=__doc__)
    parser.add_argument("--tilelang", action="store_true", help="also TileLang (PyPI, 0.4 GB)")
    parser.add_argument("--wave", action="store_true", help="also Wave (PyPI)")
    options = parser.parse_args(arguments)
    try:
        environment.ensure_system()
        probes = list(show("MLIR, gpu-eliminate-barriers", mlir_version(), run_mlir()))
        if options.tilelang:
            probes += show("TileLang, ThreadSync", TILELANG[0], run_venv("tilelang", TILELANG))
        if options.wave:
            probes += show("Wave, minimize_placement_strategy", WAVE[0], run_venv("wave", WAVE))
    except environment.SetupError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        return 130
    changed = [probe.name for probe in probes if probe.found != probe.recorded]
    if changed:
        print(f"\nnot as docs/measurements/peers.md has it: {', '.join(changed)}")
    return 1 if changed else 0


def show(title: str, version: str, probes: Sequence[Probe]) -> Sequence[Probe]:
    """Print what a peer made of its programs."""
    print(f"\n{title} ({version})")
    print(f"  {'program':<26}{'required':>9}{'found':>7}")
    for probe in probes:
        print(f"  {probe.name:<26}{probe.required:>9}{probe.found:>7}  {probe.verdict()}")
    return probes


# --- MLIR -----------------------------------------------------------------------------------------


def mlir_opt(*arguments: str | Path) -> str:
    """Return what the plain mlir-opt, without any plugin, prints."""
    program = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
    if not program:
        raise environment.SetupError("mlir-opt-22 is not on PATH")
    command = [program, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise environment.SetupError(f"mlir-opt failed\n{result.stderr}")
    return result.stdout


def mlir_version() -> str:
    """Return the version of the tool."""
    found = re.search(r"version (\S+)", mlir_opt("--version"))
    return found[1] if found else "unknown version"


def run_mlir() -> list[Probe]:
    """Run upstream's elimination on kernels that need each of their barriers."""
    # The pass takes func.func only; the op of the transform dialect runs the same on kernels.
    library = f"transform-preload-library{{transform-library-paths={SCHEDULE}}}"
    pipeline = f"builtin.module({library},transform-interpreter)"
    required = count_barriers(mlir_opt(KERNELS))
    found = count_barriers(mlir_opt(KERNELS, f"--pass-pipeline={pipeline}"))
    return [
        Probe(name, count, found[name], recorded=count if name == "direct" else 0)
        for name, count in required.items()
    ]


def count_barriers(text: str) -> Counter[str]:
    """Count the barriers of each function that mlir-opt has printed."""
    counts: Counter[str] = Counter()
    name = ""
    for line in text.splitlines():
        if function := re.match(r"\s*(?:gpu|func)\.func @(\w+)\(", line):
            name = function[1]
        elif line.strip() == "gpu.barrier":
            counts[name] += 1
    return counts


# --- peers from PyPI ------------------------------------------------------------------------------


def run_venv(name: str, requirements: Sequence[str]) -> list[Probe]:
    """Run `peers_NAME.py` where the peer is installed. It prints one JSON object per probe."""
    python = ensure_venv(name, requirements)
    program = Path(__file__).resolve().parent / f"peers_{name}.py"
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [python, str(program)], cwd=folder, capture_output=True, text=True, check=False
        )
    if result.returncode != 0:
        raise environment.SetupError(f"{program.name} failed\n{result.stderr}")
    return list(read_probes(result.stdout))


def read_probes(output: str) -> Iterator[Probe]:
    """Read the lines that a program of a peer prints."""
    for line in output.splitlines():
        if line.startswith("{"):
            yield Probe(**json.loads(line))


def ensure_venv(name: str, requirements: Sequence[str]) -> str:
    """Return the interpreter of the peer's virtual environment, which is made if needed."""
    folder = VENVS / name
    python, done = folder / "bin" / "python", folder / "requirements.txt"
    wanted = "\n".join(requirements) + "\n"
    if not (done.exists() and done.read_text(encoding="utf-8") == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        with environment.step(f"installing {requirements[0]} (PyPI)"):
            environment.run([sys.executable, "-m", "venv", str(folder)], "cannot create a venv")
            command = [str(python), "-m", "pip", "install", "--no-deps", *requirements]
            environment.run(command, "pip install failed")
        done.write_text(wanted, encoding="utf-8")
    return str(python)
