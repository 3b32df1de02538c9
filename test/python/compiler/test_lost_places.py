"""Each access of a kernel has a place in the program, which findings of the emulator tell."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import pipeline
from linalg.linalg_programs import PROGRAMS, Program
from support.examples import EXAMPLES
from support.programs import SCHEDULABLE, schedule
from support.ring_loops import make_loop

ACCESS = re.compile(
    r"^\s+(?:%[\w.]+ = )?(?:tail )?(?:load|store|atomicrmw|cmpxchg"
    r"|call [^@]*@llvm\.(?:nvvm|mem|masked)|call [^@]*asm )"
)


def find_without_place(module: pipeline.Module) -> list[str]:
    """Return the instructions that access memory, or may, and have no line in the program."""
    emulation = next(iter(module.kernels.values()))._emulation  # all have one
    text = subprocess.run(
        ["llvm-dis-22", "-o", "-"], input=emulation.bitcode, capture_output=True, check=True
    ).stdout.decode()
    lineless = set(
        re.findall(r"^(!\d+) = (?:distinct )?!DILocation\(line: 0[,)]", text, re.MULTILINE)
    )
    accesses = [line for line in text.splitlines() if ACCESS.match(line)]
    assert accesses
    return [
        line
        for line in accesses
        if not (place := re.search(r"!dbg (!\d+)", line)) or place[1] in lineless
    ]


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("program", PROGRAMS[::12], ids=lambda program: program.name)
def test_accesses_of_linalg_programs_have_places(program: Program, chip: str) -> None:
    module = pipeline.compile(program.text, chip=chip, until="llvm")
    if module.kernels:
        assert find_without_place(module) == []


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.mlir")), ids=lambda path: path.stem)
def test_accesses_of_examples_have_places(example: Path, chip: str) -> None:
    """Schedules of their own make loops of named operations, whose bodies no text has."""
    module = pipeline.compile(example, chip=chip, until="llvm")
    assert find_without_place(module) == []


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_accesses_of_rings_have_places(chip: str) -> None:
    module = pipeline.compile(make_loop(5, 2), chip=chip, until="llvm")
    assert find_without_place(module) == []


def test_accesses_of_scheduled_programs_have_places() -> None:
    module = pipeline.compile(SCHEDULABLE, schedule=schedule(16), until="llvm")
    assert find_without_place(module) == []
