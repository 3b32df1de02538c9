"""The suite of linalg programs, with nothing but their text: compiled, assembled, and run.

On the emulator with race checks, against NumPy; no kernel of the default schedules spills.
"""

from __future__ import annotations

from typing import Any

import pytest

import pipeline
from linalg.linalg_programs import PROGRAMS, Program


def named(program: Program) -> str:
    return program.name


def check_resources(module: pipeline.Module) -> None:
    for name, kernel in module.kernels.items():
        taken = kernel.resources
        memory = taken.stack_bytes + taken.spill_store_bytes + taken.spill_load_bytes
        assert memory == 0, f"{name} takes {taken}"


def check_proved(module: pipeline.Module) -> None:
    """Assert that nothing about races is left undecided."""
    warnings = [str(item) for item in module.diagnostics if item.severity == "warning"]
    assert not [item for item in warnings if module.kernels or "became a kernel" not in item]


def run(module: pipeline.Module, program: Program, number: int) -> list[Any]:
    arguments = program.arguments(number)
    entry = program.entry if len(module.entries) > 1 else None
    results = module.run(*arguments, entry=entry, check="races", workers=1)
    written = [arguments[index] for index in program.written]
    if results is None:
        return written
    return [*written, *(results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_program(program: Program) -> None:
    module = pipeline.compile(program.text, chip="sm_80")
    check_proved(module)
    check_resources(module)
    for number in range(len(program.runs)):
        program.check(number, run(module, program, number))


@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_newer_chip(program: Program) -> None:
    module = pipeline.compile(program.text, chip="sm_90a")
    check_proved(module)
    check_resources(module)


def test_size_of_the_suite() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names) >= 60
