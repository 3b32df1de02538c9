"""Rotated loops of tensor cores with any number of turns, fewer than the ring has slots too."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import pipeline
from support.ring_loops import MODES, ORDERS

STEP = 32

TYPES = {
    "f16": (np.float16, "f32", np.float32),
    "i8": (np.int8, "i32", np.int32),
}


@cache
def compiled(kind: str, slots: int, depth: str, *, is_rotated: bool) -> pipeline.Module:
    """Return a product of 40 x `depth` and `depth` x 24 matrices in tiles of 32 x 32."""
    of = TYPES[kind][1]
    a, b, c = f"tensor<40x{depth}x{kind}>", f"tensor<{depth}x24x{kind}>", f"tensor<40x24x{of}>"
    text = f"""
    func.func @main(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
      %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
      return %r : {c}
    }}"""
    unknown = text.replace(f"x{depth}x", "x?x").replace(f"<{depth}x", "<?x")
    schedule = pipeline.choose_schedule(unknown)
    block = f'"block" = [32, 32, 0], "reduction" = [{STEP}]'
    schedule = re.sub(r'"block" = \[[0-9, ]+\], "reduction" = \[\d+\]', block, schedule)
    schedule = re.sub(r'("threads" = \[?)\d+', r"\g<1>32", schedule)
    schedule, count = re.subn(r'"slots" = \d+', f'"slots" = {slots}', schedule)
    assert count == 1
    options = "" if is_rotated else "rotate-loops=false"
    return pipeline.compile(text, schedule=schedule, memory_options=options)


def run(module: pipeline.Module, kind: str, depth: int, order: Any, mode: Any) -> None:
    """Compute with integers, so that any order of sums is exact."""
    of, _, sums = TYPES[kind]
    numbers = np.random.default_rng(depth)
    a = numbers.integers(-4, 5, (40, depth)).astype(of)
    b = numbers.integers(-4, 5, (depth, 24)).astype(of)
    c = numbers.integers(-4, 5, (40, 24)).astype(sums)
    options = {"order": order, "async_mode": mode}
    result = module.run(a, b, c, backend="emulator", check="all", **options)
    expected = c + a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("slots", [2, 3, 4])
@pytest.mark.parametrize("kind", TYPES)
def test_turns_of_dynamic_loops(kind: str, slots: int) -> None:
    """No turn, one, one less than there are slots, as many, more, and ragged ones."""
    module = compiled(kind, slots, "?", is_rotated=True)
    assert not module.diagnostics
    assert module.ptx != compiled(kind, slots, "?", is_rotated=False).ptx
    for turns in sorted({0, 1, slots - 1, slots, slots + 2}):
        for depth in {turns * STEP, max(0, turns * STEP - 5)}:
            place = turns + depth
            run(module, kind, depth, ORDERS[place % len(ORDERS)], MODES[place % len(MODES)])


@pytest.mark.parametrize("slots", [2, 3, 4])
def test_turns_of_constant_loops(slots: int) -> None:
    """What the compiler knows to be few turns it may unroll, or make no ring of."""
    for turns in sorted({1, slots - 1, slots, slots + 1}):
        module = compiled("f16", slots, str(turns * STEP), is_rotated=True)
        assert not module.diagnostics
        place = turns + slots
        order, mode = ORDERS[place % len(ORDERS)], MODES[place % len(MODES)]
        run(module, "f16", turns * STEP, order, mode)
