"""The suite of linalg programs on a GPU: on arrays of the host, and on tensors in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from gpu.tensors import Tensor, Torch
from linalg.linalg_programs import PROGRAMS, Program


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_program(gpu: StandIn, torch: Torch, program: Program) -> None:
    module = pipeline.compile(program.text, chip="sm_80", verify=False)
    EmulatedLaunches(gpu, module)
    entry = program.entry if len(module.entries) > 1 else None
    for number in range(len(program.runs)):
        arguments = program.arguments(number)
        check(program, number, arguments, module.run(*arguments, entry=entry, backend="cuda"))
        given = [put(torch, value) for value in program.arguments(number)]
        if len(module.entries) > 1 or not any(isinstance(value, Tensor) for value in given):
            continue
        # The second call takes the quick way.
        for _ in range(2):
            given = [put(torch, value) for value in program.arguments(number)]
            check(program, number, given, module(*given))


def put(torch: Torch, value: Any) -> Any:
    """Return an array as a tensor, if PyTorch has such."""
    if not isinstance(value, np.ndarray) or not hasattr(torch, value.dtype.name):
        return value
    tensor = torch.put(value)
    assert value.flags.c_contiguous
    return tensor


def check(program: Program, number: int, arguments: list[Any], found: Any) -> None:
    results = () if found is None else found if isinstance(found, tuple) else (found,)
    values = [*(arguments[index] for index in program.written), *results]
    program.check(number, [getattr(value, "host", value) for value in values])
