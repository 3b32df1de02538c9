"""Loops of the host that compare without sign."""

from __future__ import annotations

import pytest

import pipeline
from pipeline.runtime.host.numbers import iterations


@pytest.mark.parametrize(
    ("lower", "upper", "step", "width", "expected"),
    [
        (0, 6, 2, None, [0, 2, 4]),
        (-2, 1, 1, None, [-2, -1, 0]),
        (-2, 1, 1, 8, []),
        (2, -2, 100, 8, [2, 102, -54]),
        (0x7FFFFFFF, -2, 0x7FFFFFFF, 32, [0x7FFFFFFF]),
        (0, -1, -2, 8, [0, -2]),
    ],
)
def test_iterations(
    lower: int, upper: int, step: int, width: int | None, expected: list[int]
) -> None:
    assert list(iterations(lower, upper, step, width)) == expected


def test_plan_says_unsigned() -> None:
    text = """
    func.func @main(%a: memref<8xf32>, %n: index) {
      %c1 = arith.constant 1 : index
      scf.for unsigned %i = %c1 to %n step %c1 {
        linalg.exp ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
      }
      scf.for %i = %c1 to %n step %c1 {
        linalg.exp ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
      }
      return
    }
    """
    body = pipeline.compile(text).plan.functions["main"].body
    assert body is not None
    loops = [step for step in body.steps if step.op == "scf.for"]
    assert [loop.fields.get("unsigned") for loop in loops] == [64, None]
