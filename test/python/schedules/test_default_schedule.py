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
        return  # of nothing but copies, or empty
    compiled = pipeline.compile(text, chip="sm_80", schedule="none")
    arguments = program.arguments(0)
    entry = program.entry if len(compiled.entries) > 1 else None
    results = compiled.run(*arguments, entry=entry, check="races", workers=1)
    written = [arguments[index] for index in program.written]
    if results is not None:
        written += results if isinstance(results, tuple) else (results,)
    program.check(0, written)
