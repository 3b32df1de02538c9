"""The suite of linalg programs, with nothing but their text: compiled, assembled, and run.

On the emulator with race checks, against NumPy; no kernel of the default schedules spills.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pipeline
from linalg.linalg_programs import PROGRAMS, Program
from pipeline.runtime.host.extents import Result, evaluate, find_results


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
    entry = module.entry(program.entry if len(module.entries) > 1 else None)
    found = module.run(*arguments, entry=entry.name, check="races", workers=1)
    results = () if found is None else found if isinstance(found, tuple) else (found,)
    if program.name == "loop_of_two":  # which carries both, and swaps them
        with pytest.raises(pipeline.UsageError, match=r"extents 'scf\.for' op decides"):
            find_results(module.plan, entry.name, entry.arguments)
    else:
        told = find_results(module.plan, entry.name, entry.arguments)
        check_results(told, arguments, results)
    return [*(arguments[index] for index in program.written), *results]


def check_results(told: Sequence[Result], arguments: Sequence[Any], results: Sequence[Any]) -> None:
    """Assert that results are as they were told to be before the run."""

    def read(number: int, dim: int | None) -> Any:
        return arguments[number] if dim is None else arguments[number].shape[dim]

    for index, (result, array) in enumerate(zip(told, results, strict=True)):
        if result.extents is None:
            assert np.ndim(array) == 0
            continue
        assert array.shape == tuple(evaluate(extent, read) for extent in result.extents)
        others = [*arguments, *results[:index], *results[index + 1 :]]
        assert not result.is_new or (
            array.flags.writeable and not any(np.may_share_memory(array, o) for o in others)
        )


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
