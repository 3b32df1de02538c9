"""Random programs of parallel loops that are mapped to nothing, and what NumPy makes of them.

A program is a few pieces, functions that the entry calls one after the other, some of them in a
loop of the host. Numbers are small integers, so that all arithmetic is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linalg.loop_buffers import points_of_buffers, rows_of_buffers, tiles_of_buffers
from linalg.loop_shapes import Array, Shape
from linalg.loop_tensors import (
    loops_in_loops_of_tensors,
    points_of_tensors,
    products_of_tensors,
    sums_of_tensors,
    tiles_of_tensors,
    updates_of_tensors,
)


@dataclass(frozen=True)
class LoopProgram:
    """A program whose entry takes an array, and writes or returns the result."""

    text: str
    is_on_tensors: bool
    argument: Array
    expected: Array


ON_TENSORS = (
    *(tiles_of_tensors, updates_of_tensors, points_of_tensors, sums_of_tensors),
    *(loops_in_loops_of_tensors, products_of_tensors),
)
ON_BUFFERS = (points_of_buffers, rows_of_buffers, tiles_of_buffers)


def _choose_extents(rng: np.random.Generator) -> tuple[int, ...]:
    rank = int(rng.choice([1, 2, 2, 3, 4, 5]))
    most = {1: 700, 2: 40, 3: 12, 4: 6, 5: 4}[rank]
    return tuple(int(extent) for extent in rng.integers(1, most, rank))


def _fill_in(text: str, shape: Shape, name: str, visibility: str) -> str:
    arguments = f"%x: {shape.type}) -> {shape.type} {{\n"
    if shape.kind == "memref":
        arguments = f"%x: {shape.type}, %y: {shape.type}) {{\n"
    text = text.replace("VISIBILITY ", visibility).replace("@NAME", f"@{name}")
    return text.replace("ARGUMENTS)", arguments)


def _call_all(shape: Shape, count: int, trips: int) -> str:
    """Return the entry of a program of several pieces, all of them `trips` times."""
    kind = shape.type
    if shape.kind == "tensor":
        calls, value = "", "%t"
        for number in range(count):
            calls += f"    %v{number} = func.call @piece{number}({value}) : ({kind}) -> {kind}\n"
            value = f"%v{number}"
        loop = f"scf.for %i = %c0 to %trips step %c1 iter_args(%t = %x) -> ({kind})"
        calls = f"  %r = {loop} {{\n{calls}    scf.yield {value} : {kind}\n  }}\n"
        end, arguments = f"  return %r : {kind}\n", f"%x: {kind}) -> {kind}"
    else:
        calls = f"    memref.copy %y, %t : {kind} to {kind}\n"
        for number in range(count):
            ends = "%t, %y" if number % 2 == 0 else "%y, %t"
            calls += f"    func.call @piece{number}({ends}) : ({kind}, {kind}) -> ()\n"
        if count % 2 == 0:
            calls += f"    memref.copy %t, %y : {kind} to {kind}\n"
        asked = ", ".join(f"%n{dim}" for dim in range(shape.rank) if shape.is_dynamic[dim])
        calls = (
            shape.sizes()[0]
            .replace("  %c0 = arith.constant 0 : index\n", "", 1)
            .replace("  %c1 = arith.constant 1 : index\n", "", 1)
            + f"  memref.copy %x, %y : {kind} to {kind}\n"
            + f"  %t = memref.alloc({asked}) : {kind}\n"
            + f"  scf.for %i = %c0 to %trips step %c1 {{\n{calls}  }}\n"
        )
        end, arguments = "  return\n", f"%x: {kind}, %y: {kind})"
    return (
        f"func.func @main({arguments} {{\n  %c0 = arith.constant 0 : index\n"
        f"  %c1 = arith.constant 1 : index\n  %trips = arith.constant {trips} : index\n"
        f"{calls}{end}}}\n"
    )


def make_program(seed: int) -> LoopProgram:
    """Return the random program of a seed."""
    rng = np.random.default_rng(seed)
    kind = "tensor" if rng.integers(2) else "memref"
    shape = Shape(rng, kind, _choose_extents(rng))
    makers = ON_TENSORS if kind == "tensor" else ON_BUFFERS
    count = int(rng.choice([1, 1, 2, 3]))
    pieces = [makers[int(rng.integers(len(makers)))](shape) for _ in range(count)]
    trips = int(rng.integers(1, 3)) if count > 1 else 1
    argument = rng.integers(1, 4, shape.extents).astype("f4" if shape.suffix == "f" else "i4")
    expected = argument
    for _ in range(trips):
        for piece in pieces:
            expected = piece.make(expected)
    if count == 1:
        text = _fill_in(pieces[0].text, shape, "main", "")
    else:
        text = "".join(
            _fill_in(piece.text, shape, f"piece{number}", "private ")
            for number, piece in enumerate(pieces)
        ) + _call_all(shape, count, trips)
    if shape.suffix == "f":
        assert np.abs(expected).max() < 1 << 24, "numbers are exact"
    assert math.prod(shape.extents) == argument.size
    return LoopProgram(text, kind == "tensor", argument, expected)
