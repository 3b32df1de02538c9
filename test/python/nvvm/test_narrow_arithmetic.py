"""Arithmetic of floats of 8, 6 and 4 bits: as exact as their types have numbers for.

The exact result is computed in fractions where it is one, and in float64 otherwise; it is rounded
by the table of all numbers of the type, with which conversions are compared, too.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array, function, module
from nvvm.test_narrow_floats import (
    NARROW,
    ROUNDED,
    check_same,
    expect_truncated,
    from_narrow,
    patterns,
    to_narrow,
)

BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,
    "arith.minnumf": np.fmin,
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.sqrt": np.sqrt,
}
SHAPES = {"scalar": (), "vector": (4,)}


def shaped(element: str, count: int) -> str:
    return element if count == 1 else f"vector<{count}x{element}>"


def kernel(kind: str, line: str, operands: int, count: int) -> pipeline.Kernel:
    """Compile %n of %n0, %n1, ... of a narrow type, `count` elements in each thread."""
    names = "abc"[:operands]
    body = f"%step = arith.constant {count} : index\n%i = arith.muli %tx, %step : index\n"
    shape = () if count == 1 else (count,)
    for number, name in enumerate(names):
        load = "memref.load" if count == 1 else "vector.load"
        suffix = "" if count == 1 else f", {shaped('i8', count)}"
        body += f"%v = {load} %{name}[%i] : memref<256xi8>{suffix}\n".replace("%v", f"%v{number}")
        body += (
            to_narrow(kind, shape)
            .replace("%v", f"%v{number}")
            .replace("%n", f"%n{number}")
            .replace("%bits", f"%bits{number}")
        )
    body += line.replace("TYPE", shaped(kind, count)) + "\n" + from_narrow(kind, shape)
    if count == 1:
        body += "memref.store %r, %o[%i] : memref<256xi8>\n"
    else:
        body += f"vector.store %r, %o[%i] : memref<256xi8>, {shaped('i8', count)}\n"
    arguments = ", ".join(f"%{name}: memref<256xi8>" for name in (*names, "o"))
    text = module(function("k", arguments, body, block=(256 // count, 1, 1)))
    return pipeline.compile(text, until="llvm").kernels["k"]


def run(compiled: pipeline.Kernel, operands: list[Array], count: int) -> Array:
    found = np.zeros(256, np.uint8)
    compiled.run(*operands, found, grid=(1, 1, 1), block=(256 // count, 1, 1))
    return found


def values(kind: str, bits: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(bits.view(NARROW[kind]).astype(np.float64))


@pytest.mark.parametrize("count", [1, 4], ids=["scalar", "vector"])
@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("kind", ROUNDED)
def test_binary(kind: str, op: str, count: int) -> None:
    """All numbers of the type by some others; float64 holds sums and products of any two."""
    compiled = kernel(kind, f"%n = {op} %n0, %n1 : TYPE", 2, count)
    rng = np.random.default_rng(len(op) + len(kind))
    for _ in range(8):
        a, b = patterns(kind), rng.permutation(patterns(kind))
        with np.errstate(all="ignore"):
            exact = BINARY[op](values(kind, a), values(kind, b))
        found = run(compiled, [a, b], count).view(NARROW[kind])
        if op in ("arith.minnumf", "arith.maximumf"):  # which of two zeros is not said
            exact = exact + 0.0
            found = (found.astype(np.float64) + 0.0).astype(NARROW[kind])
        check_same(found, expect_truncated(kind, exact))


@pytest.mark.parametrize("op", UNARY)
@pytest.mark.parametrize("kind", ROUNDED)
def test_unary(kind: str, op: str) -> None:
    bits = patterns(kind)
    with np.errstate(all="ignore"):
        exact = UNARY[op](values(kind, bits))
    found = run(kernel(kind, f"%n = {op} %n0 : TYPE", 1, 1), [bits], 1)
    check_same(found.view(NARROW[kind]), expect_truncated(kind, exact))


def round_fraction(kind: str, exact: Fraction) -> float:
    """Round to the nearest number of a type, ties to the even one, within its range."""
    positive = np.arange(1 << (int(kind[1]) - 1), dtype=np.uint8)
    sizes = [Fraction(float(n)) for n in values(kind, positive) if np.isfinite(n)]
    size = abs(exact)
    below = max(index for index, n in enumerate(sizes) if n <= size)
    above = min(below + 1, len(sizes) - 1)
    distances = (size - sizes[below], sizes[above] - size)
    up = distances[1] < distances[0] or (distances[0] == distances[1] and below % 2 == 1)
    return float(sizes[above if up else below]) * (-1 if exact < 0 else 1)


@pytest.mark.parametrize("op", ["math.fma", "vector.fma"])
@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2", "f4E2M1FN"])
def test_product_and_sum(kind: str, op: str) -> None:
    """Rounded once, also where the product is far from the sum."""
    count = 4 if op == "vector.fma" else 1
    compiled = kernel(kind, f"%n = {op} %n0, %n1, %n2 : TYPE", 3, count)
    rng = np.random.default_rng(7)
    finite = patterns(kind)[np.isfinite(values(kind, patterns(kind)))]
    largest = float(np.abs(values(kind, finite)).max())
    for _ in range(6):
        a, b, c = (rng.choice(finite, 256) for _ in range(3))
        found = values(kind, run(compiled, [a, b, c], count))
        rows = zip(values(kind, a), values(kind, b), values(kind, c), found, strict=True)
        for x, y, z, got in rows:
            exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
            if abs(exact) <= largest:
                assert got == round_fraction(kind, exact), (x, y, z)


@pytest.mark.parametrize("predicate", ["olt", "ueq", "une", "oge", "ord"])
@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ"])
def test_comparison(kind: str, predicate: str) -> None:
    line = f"%is = arith.cmpf {predicate}, %n0, %n1 : TYPE\n%n = arith.select %is, %n0, %n1 : TYPE"
    compiled = kernel(kind, line, 2, 1)
    a, b = patterns(kind), np.random.default_rng(1).permutation(patterns(kind))
    x, y = values(kind, a), values(kind, b)
    odd = np.isnan(x) | np.isnan(y)
    with np.errstate(all="ignore"):
        holds = {
            "olt": x < y,
            "ueq": odd | (x == y),
            "une": odd | (x != y),
            "oge": x >= y,
            "ord": ~odd,
        }[predicate]
    np.testing.assert_array_equal(run(compiled, [a, b], 1), np.where(holds, a, b))


@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("extent", ["70x33", "?x?"])
def test_elementwise(kind: str, extent: str) -> None:
    """Operations on tensors round after each step."""
    kind_of = f"tensor<{extent}x{kind}>"
    text = f"""
func.func @main(%x: {kind_of}, %y: {kind_of}) -> {kind_of} {{
  %0 = arith.mulf %x, %y : {kind_of}
  %1 = arith.addf %0, %x : {kind_of}
  %2 = linalg.sub ins(%1, %y : {kind_of}, {kind_of}) outs(%x : {kind_of}) -> {kind_of}
  return %2 : {kind_of}
}}
"""
    compiled = pipeline.compile(text)
    rng = np.random.default_rng(4)
    x, y = (rng.uniform(0.25, 2, (70, 33)).astype(NARROW[kind]) for _ in range(2))
    found = compiled.run(x, y, check="races", workers=1)
    np.testing.assert_array_equal(found.view(np.uint8), (x * y + x - y).view(np.uint8))


@pytest.mark.parametrize("name", ["matmul", "reduce"])
@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2"])
def test_sums(kind: str, name: str) -> None:
    """Sums in the narrow type round after each term, in the order of the loop."""
    if name == "matmul":
        text = f"""
func.func @main(%a: tensor<9x21x{kind}>, %b: tensor<21x13x{kind}>, %c: tensor<9x13x{kind}>)
    -> tensor<9x13x{kind}> {{
  %r = linalg.matmul ins(%a, %b : tensor<9x21x{kind}>, tensor<21x13x{kind}>)
      outs(%c : tensor<9x13x{kind}>) -> tensor<9x13x{kind}>
  return %r : tensor<9x13x{kind}>
}}
"""
    else:
        text = f"""
func.func @main(%a: tensor<9x21x{kind}>, %c: tensor<9x{kind}>) -> tensor<9x{kind}> {{
  %r = linalg.reduce {{arith.addf}} ins(%a : tensor<9x21x{kind}>) outs(%c : tensor<9x{kind}>)
      dimensions = [1]
  return %r : tensor<9x{kind}>
}}
"""
    rng = np.random.default_rng(6)
    a = rng.uniform(0.25, 2, (9, 21)).astype(NARROW[kind])
    b = rng.uniform(0.25, 2, (21, 13)).astype(NARROW[kind])
    c = rng.uniform(0.25, 2, (9, 13) if name == "matmul" else 9).astype(NARROW[kind])
    expected: Any = c.copy()
    for k in range(21):
        expected = expected + (a[:, k, None] * b[None, k] if name == "matmul" else a[:, k])
    arguments = (a, b, c) if name == "matmul" else (a, c)
    found = pipeline.compile(text).run(*arguments, check="races", workers=1)
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


def test_scales_are_refused() -> None:
    text = module(
        function(
            "k",
            "%a: memref<256xf8E8M0FNU>",
            """
    %x = memref.load %a[%tx] : memref<256xf8E8M0FNU>
    %y = arith.mulf %x, %x : f8E8M0FNU
    memref.store %y, %a[%tx] : memref<256xf8E8M0FNU>
""",
            block=(256, 1, 1),
        )
    )
    with pytest.raises(pipeline.CompileError, match="computes in 'f8E8M0FNU'"):
        pipeline.compile(text, until="llvm")
