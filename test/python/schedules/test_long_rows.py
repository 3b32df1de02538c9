"""Rows of any length: what the default schedules make of them fits the chip, and is right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pipeline
from pipeline import _native
from schedules.row_programs import Program, Shape, make_programs

CHIPS = {chip.name: chip.max_workgroup_bytes for chip in _native.chips()}
# Beyond what a block can keep, and about as much, or half of it, which schedules go by.
LENGTHS: dict[str, Callable[[int, int], int]] = {
    "131072": lambda most, width: 131072,
    "limit": lambda most, width: most // width,
    "over the limit": lambda most, width: most // width + 1,
    "half": lambda most, width: most // 2 // width,
    "over half": lambda most, width: most // 2 // width + 1,
}


def named(program: Program) -> str:
    return f"{program.source}, {program.reader}".replace(" ", "-")


@pytest.mark.parametrize(
    ("chip", "length", "element"),
    [
        *((chip, "131072", "f32") for chip in CHIPS),
        *((chip, "131072", element) for chip in ("sm_75", "sm_80") for element in ("f64", "i8")),
        *((chip, length, "f64") for chip in ("sm_75", "sm_120") for length in LENGTHS),
        *(("sm_80", length, "i8") for length in LENGTHS),
    ],
)
def test_memory(chip: str, length: str, element: str) -> None:
    """Every program compiles for every chip, however long its rows are."""
    width = {"f32": 4, "f64": 8, "i8": 1}[element]
    shape = Shape(128, LENGTHS[length](CHIPS[chip], width), element)
    sources = ("iota", "broadcast", "argument")
    for program in make_programs(shape):
        if program.source in sources or (chip, element) == ("sm_80", "f32"):
            module = pipeline.compile(program.text, chip=chip, until="gpu")
            for memory in module.workgroup_memory:
                assert memory.static_bytes + memory.dynamic_bytes <= CHIPS[chip], named(program)


def check(program: Program, chip: str) -> None:
    module = pipeline.compile(program.text, chip=chip, until="llvm")
    arguments = program.make_arguments()
    found = module.run(*arguments, check="races")
    found = found if isinstance(found, tuple) else (found,)
    for got, want in zip(found, program.expect(arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("element", "extents"),
    [
        ("f32", (3, 70)),
        ("f32", (130, 9)),
        ("f64", (2, 1500)),
        ("i32", (1, 1)),
        ("i8", (3, 70)),
    ],
)
def test_results(element: str, extents: tuple[int, int]) -> None:
    for program in make_programs(Shape(*extents, element)):
        check(program, "sm_80")


@pytest.mark.parametrize(
    "reader", ["rows", "sum and maximum", "softmax", "norm", "argmax", "whole"]
)
@pytest.mark.parametrize("source", ["iota", "broadcast", "argument"])
def test_results_of_long_rows(source: str, reader: str) -> None:
    """Of rows that a block of the smallest memory cannot keep."""
    check(Program(source, reader, Shape(2, 20000, "f32")), "sm_75")


def test_generated_rows_take_no_memory() -> None:
    """A block adds up numbers that it makes: what it keeps is one for each warp."""
    program = Program("iota", "rows", Shape(128, 131072, "f32"))
    for memory in pipeline.compile(program.text, until="gpu").workgroup_memory:
        assert memory.static_bytes <= 32 * 4
