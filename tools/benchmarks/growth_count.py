"""Count how the instructions of a compilation grow with the size of the program.

valgrind counts what processors execute: the same program takes the same number on a busy machine,
to about a thousandth. Of each program a process compiles it once, and another one twice; the
difference is a warm compilation. Programs are networks of layers, each of a size of its own, so
that each becomes a kernel of its own; and straight-line kernels of accesses, as unrolling leaves
them: those of kinds that `bench sync` tells. Fails if the instructions of a size grow by more than
the size to the power of 1.3, from one size to the next. Takes some minutes.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pipeline
from benchmarks.compiler_programs import network
from benchmarks.harness import Table
from benchmarks.sync_time import print_kernel
from setup.arguments import positive

CHIP = "sm_80"
EXPONENT = 1.3
PATIENCE = 1800.0  # seconds for a process
MISSING = 69  # the exit code of a tool that is not there
COUNTED = re.compile(r"I\s+refs:\s+([\d,]+)")


class Family(NamedTuple):
    """Programs of some sizes: what the size is the number of, and the text of one of a size."""

    unit: str
    sizes: tuple[int, ...]
    print: Callable[[int], str]


def layers(count: int) -> str:
    """Return a network of so many layers, no two of which are alike."""
    return network(tuple(256 + 64 * number for number in range(count + 1)))


FAMILIES = {
    "network": Family("layers", (2, 4, 8), layers),
    **{
        kind: Family("accesses", (64, 128, 256), partial(print_kernel, kind))
        for kind in ("pairs", "chain", "iterations")
    },
}


def read_count(text: str) -> int:
    """Return the number of instructions that valgrind tells at the end of what it prints."""
    found = COUNTED.findall(text)
    if not found:
        lines = text.strip().splitlines() or ["no message"]
        raise ValueError(f"valgrind tells no number of instructions: {lines[-1]}")
    return int(found[-1].replace(",", ""))


def count(valgrind: str, path: Path, times: int) -> int:
    """Return the instructions of a process that compiles a program so many times."""
    command = [valgrind, "--tool=cachegrind", "--cache-sim=no"]
    command += [
        f"--cachegrind-out-file={os.devnull}",
        sys.executable,
        "-m",
        "benchmarks.growth_count",
    ]
    command += ["--own", str(path), "--times", str(times)]
    # Sets of strings are in one order, so that all processes do the same.
    variables = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, env=variables, check=True
    )
    return read_count(done.stderr)


def count_warm(valgrind: str, text: str) -> int:
    """Return the instructions of a compilation in a process that has compiled the program."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mlir"
        path.write_text(text, encoding="utf-8")
        once, twice = (count(valgrind, path, times) for times in (1, 2))
    return twice - once


def exponent(sizes: tuple[int, int], counts: tuple[int, int]) -> float:
    """Return the power of the size by which a count grows from one size to another."""
    return math.log(counts[1] / counts[0]) / math.log(sizes[1] / sizes[0])


def measure(family: Family, name: str, counter: Callable[[str], int], table: Table) -> bool:
    """Print a row for each size; true if none grows by too much."""
    known: list[tuple[int, int]] = []
    is_near = True
    for size in family.sizes:
        counted = counter(family.print(size))
        power = ""
        if known:
            before, fewer = known[-1]
            grown = exponent((before, size), (fewer, counted))
            is_near &= grown <= EXPONENT
            power = f"{grown:.2f}"
        known.append((size, counted))
        cells = (f"{size} {family.unit}", f"{counted / 1e6:.0f}", f"{counted / size / 1e6:.2f}")
        table.row(name, *cells, power)
    return is_near


def main(arguments: Sequence[str]) -> int:
    """Count and print; return the exit code."""
    parser = argparse.ArgumentParser(prog="./tools/bench growth", description=__doc__)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--own", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--times", type=positive, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.own:
        text = options.own.read_text(encoding="utf-8")
        for _ in range(options.times):
            pipeline.compile(text, chip=CHIP)
        return 0
    valgrind = shutil.which("valgrind")
    if not valgrind:
        print(
            "error: valgrind, which counts, is not there: apt-get install valgrind", file=sys.stderr
        )
        return MISSING
    print(f"millions of instructions of a warm compilation for {CHIP}")
    table = Table("", "size", "all", "of one", "power", width=14)
    is_near = True
    try:
        for name in options.families:
            is_near &= measure(FAMILIES[name], name, partial(count_warm, valgrind), table)
    except subprocess.CalledProcessError as error:
        print(f"error: {name} was not compiled: {error}\n{error.stderr}", file=sys.stderr)
        return 1
    except (subprocess.TimeoutExpired, ValueError) as error:
        print(f"error: {name} was not counted: {error}", file=sys.stderr)
        return 1
    return 0 if is_near else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
