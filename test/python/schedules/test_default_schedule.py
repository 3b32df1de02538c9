"""The suite by `mlir-opt` alone: what `workgroup-schedule-kernels` makes of it is right."""

from __future__ import annotations

import pytest

import pipeline
from linalg.linalg_programs import PROGRAMS, Program
from support.mlir_opt import run_opt

# Every so many programs of the suite.
STRIDE = 5
OPTIONS = "assume-distinct-arguments=true assume-alignment=16"


@pytest.mark.parametrize("program", PROGRAMS[::STRIDE], ids=lambda program: program.name)
def test_program(program: Program) -> None:
    text = run_opt(program.text, f"workgroup-schedule-kernels{{{OPTIONS}}}")
    run_opt(program.text, f"workgroup-linalg-to-nvvm{{{OPTIONS}}}")
    if "gpu.launch" not in text:
        # Of nothing but copies, or empty: no schedule makes a kernel of it.
        assert "gpu.launch" not in pipeline.compile(program.text, until="gpu").texts["gpu"]
        return
    compiled = pipeline.compile(text, chip="sm_80", schedule="none")
    program.check_module(compiled, 0)
