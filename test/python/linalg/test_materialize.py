"""``bufferization.materialize_in_destination`` of tensors: what callers pass stays theirs.

As upstream's one-shot bufferization has it, a tensor is a value: a result that is put into an
argument is that result, and the argument is what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pipeline

TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i8": np.int8}


def add(name: str, lhs: str, rhs: str, shape: str, *, into: str = "") -> str:
    """Return a sum of two tensors, put into another or a new one."""
    tensor = f"tensor<{shape}>"
    empty = "" if into else f"  %e{name} = tensor.empty() : {tensor}\n"
    return (
        f"{empty}  %{name} = linalg.add ins(%{lhs}, %{rhs} : {tensor}, {tensor}) "
        f"outs(%{into or 'e' + name} : {tensor}) -> {tensor}\n"
    )


def put(name: str, source: str, target: str, shape: str) -> str:
    tensor = f"tensor<{shape}>"
    return (
        f"  %{name} = bufferization.materialize_in_destination %{source} in %{target} : "
        f"({tensor}, {tensor}) -> {tensor}\n"
    )


def function(body: str, shape: str, *results: str, kinds: str = "") -> str:
    tensor = f"tensor<{shape}>"
    types = kinds or ", ".join([tensor] * len(results))
    return (
        f"func.func @main(%a: {tensor}, %d: {tensor}) -> ({types}) {{\n{body}"
        f"  return {', '.join('%' + name for name in results)} : {types}\n}}\n"
    )


def run(text: str, *arrays: Any) -> Any:
    """Run a program with race checks, and assert that it leaves its arguments alone."""
    module = pipeline.compile(text)
    copies = [array.copy() for array in arrays]
    results = module.run(*arrays, check="races")
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    return results


def make(element: str, rows: int = 8, columns: int = 8) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    kind = TYPES[element]
    a, d = (random.integers(0, 50, (rows, columns)).astype(kind) for _ in range(2))
    return a, d


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("extents", [(8, 8), (1, 1), (37, 5)])
def test_into_an_argument(element: str, extents: tuple[int, int]) -> None:
    a, d = make(element, *extents)
    shape = f"{extents[0]}x{extents[1]}x{element}"
    text = function(add("s", "a", "a", shape) + put("r", "s", "d", shape), shape, "r")
    np.testing.assert_array_equal(run(text, a, d), a + a)


BODIES: dict[str, tuple[str, tuple[str, ...], Callable[[Any, Any], list[Any]]]] = {
    "read before": (
        add("s", "a", "d", "8x8xf32") + put("r", "s", "d", "8x8xf32"),
        ("r",),
        lambda a, d: [a + d],
    ),
    "read after": (
        add("s", "a", "a", "8x8xf32")
        + put("r", "s", "d", "8x8xf32")
        + add("t", "d", "r", "8x8xf32"),
        ("r", "t"),
        lambda a, d: [a + a, d + a + a],
    ),
    "twice": (
        add("s", "a", "a", "8x8xf32")
        + put("r", "s", "d", "8x8xf32")
        + add("t", "r", "a", "8x8xf32")
        + put("q", "t", "d", "8x8xf32"),
        ("r", "q"),
        lambda a, d: [a + a, a + a + a],
    ),
    "one after the other": (
        add("s", "a", "a", "8x8xf32")
        + put("r", "s", "d", "8x8xf32")
        + add("t", "r", "a", "8x8xf32")
        + put("q", "t", "r", "8x8xf32"),
        ("q",),
        lambda a, d: [a + a + a],
    ),
    "into a new tensor": (
        add("s", "a", "d", "8x8xf32")
        + "  %n = tensor.empty() : tensor<8x8xf32>\n"
        + put("r", "s", "n", "8x8xf32"),
        ("r",),
        lambda a, d: [a + d],
    ),
    "into a constant": (
        "  %k = arith.constant dense<1.0> : tensor<8x8xf32>\n"
        + add("s", "a", "k", "8x8xf32")
        + put("r", "s", "k", "8x8xf32"),
        ("r", "k"),
        lambda a, d: [a + 1, np.ones_like(a)],
    ),
    "of an argument": (put("r", "a", "d", "8x8xf32"), ("r",), lambda a, d: [a]),
    "into itself": (put("r", "d", "d", "8x8xf32"), ("r",), lambda a, d: [d]),
}


@pytest.mark.parametrize("name", BODIES)
def test_values(name: str) -> None:
    body, results, expected = BODIES[name]
    a, d = make("f32")
    found = run(function(body, "8x8xf32", *results), a, d)
    found = found if isinstance(found, tuple) else (found,)
    for got, want in zip(found, expected(a, d), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize("reads", [False, True])
def test_into_a_slice_of_an_argument(offset: int, reads: bool) -> None:
    """The rest of the argument is in the result, and the argument is not changed."""
    part = "tensor<4x8xf32>"
    slice_of = f"[{offset}, 0] [4, 8] [1, 1]"
    body = (
        f"  %p = tensor.extract_slice %a{slice_of} : tensor<8x8xf32> to {part}\n"
        f"  %l = tensor.extract_slice %d{slice_of} : tensor<8x8xf32> to {part}\n"
        + add("s", "p", "l" if reads else "p", "4x8xf32")
        + put("m", "s", "l", "4x8xf32")
        + f"  %r = tensor.insert_slice %m into %d{slice_of} : {part} into tensor<8x8xf32>\n"
    )
    a, d = make("f32")
    expected = d.copy()
    rows = slice(offset, offset + 4)
    expected[rows] = a[rows] + (d if reads else a)[rows]
    np.testing.assert_array_equal(run(function(body, "8x8xf32", "r"), a, d), expected)


@pytest.mark.parametrize("reads", [False, True])
def test_into_what_a_loop_carries(reads: bool) -> None:
    tensor = "tensor<8x8xf32>"
    body = (
        "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
        "  %c3 = arith.constant 3 : index\n"
        f"  %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %d) -> ({tensor}) {{\n"
        + add("s", "a", "t" if reads else "a", "8x8xf32")
        + put("m", "s", "t", "8x8xf32")
        + f"  scf.yield %m : {tensor}\n  }}\n"
    )
    a, d = make("f32")
    expected = 3 * a + d if reads else a + a
    np.testing.assert_array_equal(run(function(body, "8x8xf32", "r"), a, d), expected)


def test_into_memory() -> None:
    """A memref is memory: the caller sees what is put into it."""
    text = """func.func @main(%a: tensor<8x8xf32>, %m: memref<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %s = linalg.add ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>)
                  outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  bufferization.materialize_in_destination %s in restrict writable %m
      : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}
"""
    a, m = make("f32")
    pipeline.compile(text).run(a, m, check="races")
    np.testing.assert_array_equal(m, a + a)


def test_extents_of_the_launch() -> None:
    body = """func.func @main(%a: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = linalg.add ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>)
                  outs(%d : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = bufferization.materialize_in_destination %s in %d
      : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
    a, d = make("f32", 9, 33)
    np.testing.assert_array_equal(run(body, a, d), a + a)


def test_in_a_branch() -> None:
    tensor = "tensor<8x8xf32>"
    body = (
        "  %c = arith.constant 1.0 : f32\n  %i = arith.constant 0 : index\n"
        f"  %v = tensor.extract %a[%i, %i] : {tensor}\n"
        "  %l = arith.cmpf olt, %v, %c : f32\n"
        f"  %r = scf.if %l -> ({tensor}) {{\n"
        + add("s", "a", "a", "8x8xf32")
        + put("m", "s", "d", "8x8xf32")
        + f"    scf.yield %m : {tensor}\n  }} else {{\n    scf.yield %d : {tensor}\n  }}\n"
    )
    a, d = make("f32")
    for first in (0, 2):
        a[0, 0] = first
        expected = a + a if first < 1 else d
        np.testing.assert_array_equal(run(function(body, "8x8xf32", "r"), a, d), expected)


def test_in_a_function_that_is_called() -> None:
    """What the callee may write is the caller's, which keeps it."""
    tensor = "tensor<8x8xf32>"
    callee = function(
        add("s", "a", "d", "8x8xf32") + put("r", "s", "d", "8x8xf32"), "8x8xf32", "r"
    ).replace("func.func @main", "func.func private @callee")
    body = (
        f"  %p = func.call @callee(%a, %d) : ({tensor}, {tensor}) -> {tensor}\n"
        f"  %q = func.call @callee(%p, %d) : ({tensor}, {tensor}) -> {tensor}\n"
    )
    a, d = make("f32")
    p, q = run(callee + function(body, "8x8xf32", "p", "q"), a, d)
    np.testing.assert_array_equal(p, a + d)
    np.testing.assert_array_equal(q, a + d + d)


def test_in_a_loop_of_while() -> None:
    tensor = "tensor<8x8xf32>"
    body = (
        "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
        "  %c3 = arith.constant 3 : index\n"
        f"  %n, %r = scf.while (%i = %c0, %t = %d) : (index, {tensor}) -> (index, {tensor}) {{\n"
        "    %l = arith.cmpi ult, %i, %c3 : index\n"
        f"    scf.condition(%l) %i, %t : index, {tensor}\n  }} do {{\n"
        f"  ^bb0(%i: index, %t: {tensor}):\n"
        + add("s", "a", "t", "8x8xf32")
        + put("m", "s", "t", "8x8xf32")
        + "    %k = arith.addi %i, %c1 : index\n"
        f"    scf.yield %k, %m : index, {tensor}\n  }}\n"
    )
    a, d = make("f32")
    np.testing.assert_array_equal(run(function(body, "8x8xf32", "r"), a, d), 3 * a + d)
