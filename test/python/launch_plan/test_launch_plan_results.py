"""What functions return, as told before they run; linalg's programs are asked when they run."""

from __future__ import annotations

from typing import Any

import pytest

import pipeline
from launch_plan.host_programs import host
from pipeline.runtime.host.extents import Result, evaluate, find_results

T = "memref<?xi32>"

# A kernel, without which no function is an entry.
TOUCH = """\
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
"""

DIMS = f"""\
  %n = memref.dim %a, %c0 : {T}
  %m = memref.dim %b, %c0 : {T}
"""


def results(body: str, arguments: str, kinds: str, *, more: str = "") -> tuple[Result, ...]:
    module = host(TOUCH + body, arguments, kinds, more=more)
    return find_results(module.plan, "main", module.entry("main").arguments)


def shapes(found: tuple[Result, ...], *given: Any) -> list[Any]:
    """Return the shapes of results, given the shapes of arrays, and numbers."""

    def read(number: int, dim: int | None) -> Any:
        return given[number] if dim is None else given[number][dim]

    return [
        None if result.extents is None else tuple(evaluate(e, read) for e in result.extents)
        for result in found
    ]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("%r = arith.addi %n, %m : index", lambda n, m: n + m),
        ("%r = arith.muli %n, %m : index", lambda n, m: n * m),
        (
            "%d = arith.subi %n, %m : index\n  %r = arith.maxsi %d, %c2 : index",
            lambda n, m: max(n - m, 2),
        ),
        ("%r = arith.minsi %n, %m : index", min),
        ("%r = arith.ceildivsi %n, %c8 : index", lambda n, m: -(-n // 8)),
        ("%r = arith.floordivsi %n, %c8 : index", lambda n, m: n // 8),
        ("%r = arith.divsi %n, %c8 : index", lambda n, m: n // 8),
        (
            "%d = arith.subi %n, %m : index\n  %e = arith.maxsi %d, %c0 : index\n"
            "  %r = arith.divui %e, %c2 : index",
            lambda n, m: max(n - m, 0) // 2,
        ),
        ("%r = arith.remui %n, %c8 : index", lambda n, m: n % 8),
        (
            "%r = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0 floordiv 3)>(%n)[%m]",
            lambda n, m: 2 * n + m // 3,
        ),
        (
            "%r = affine.min affine_map<(d0)[s0] -> (d0, s0 + 1, 6)>(%n)[%m]",
            lambda n, m: min(n, m + 1, 6),
        ),
        (
            "%p = arith.cmpi slt, %n, %m : index\n  %r = arith.select %p, %m, %c8 : index",
            lambda n, m: m if n < m else 8,
        ),
        (
            "%i = arith.index_cast %n : index to i64\n  %k = arith.constant -1 : i64\n"
            "  %j = arith.addi %i, %k : i64\n  %r = arith.index_cast %j : i64 to index",
            lambda n, m: n - 1,
        ),
        (
            "%p = arith.cmpi eq, %n, %m : index\n"
            "  %r = scf.if %p -> index {\n    scf.yield %n : index\n"
            "  } else {\n    scf.yield %c2 : index\n  }",
            lambda n, m: n if n == m else 2,
        ),
    ],
)
def test_numbers(number: str, expected: Any) -> None:
    body = f"{DIMS}  {number}\n  %t = memref.alloc(%r) : {T}\n  return %t : {T}\n"
    found = results(body, f"%a: {T}, %b: {T}", T)
    assert [result.element_type for result in found] == ["i32"]
    for n, m in ((9, 4), (4, 9), (17, 17), (1, 30)):
        assert shapes(found, (n,), (m,)) == [(expected(n, m),)]


@pytest.mark.parametrize(
    ("view", "kind", "expected"),
    [
        ("subview %t[1, 0] [%n, 3] [1, 1]", "memref<?x3xi32, strided<[3, 1], offset: 3>>", (4, 3)),
        ("subview %t[1, 0] [1, 3] [1, 1]", "memref<3xi32, strided<[1], offset: 3>>", (3,)),
        ("subview %t[0, 1] [%n, 1] [1, 1]", "memref<?xi32, strided<[3], offset: 1>>", (4,)),
        ("transpose %t (i, j) -> (j, i)", "memref<3x?xi32, strided<[1, 3]>>", (3, 9)),
        ("collapse_shape %t [[0, 1]]", "memref<?xi32>", (27,)),
        ("expand_shape %t [[0, 1], [2]] output_shape [%m, 1, 3]", "memref<?x1x3xi32>", (9, 1, 3)),
        (
            "reinterpret_cast %t to offset: [0], sizes: [%n, 2], strides: [3, 1]",
            "memref<?x2xi32, strided<[3, 1]>>",
            (4, 2),
        ),
        ("cast %t", "memref<?x?xi32>", (9, 3)),
    ],
)
def test_views(view: str, kind: str, expected: tuple[int, ...]) -> None:
    word = "into" if "_shape" in view else "to"
    body = f"""{DIMS}
  %t = memref.alloc(%m) : memref<?x3xi32>
  %v = memref.{view} : memref<?x3xi32> {word} {kind}
  return %v : {kind}
"""
    found = results(body, f"%a: {T}, %b: {T}", kind)
    assert shapes(found, (4,), (9,)) == [expected]
    assert [result.is_new for result in found] == [True]


def test_what_a_loop_carries() -> None:
    body = f"""{DIMS}
  %s = memref.alloc(%n) : {T}
  %t = memref.alloc(%n) : {T}
  %r:2 = scf.for %i = %c0 to %m step %c1 iter_args(%x = %s, %y = %t) -> ({T}, {T}) {{
    scf.yield %y, %x : {T}, {T}
  }}
  return %r#0, %r#1 : {T}, {T}
"""
    found = results(body, f"%a: {T}, %b: {T}", f"({T}, {T})")
    assert shapes(found, (5,), (7,)) == [(5,), (5,)]
    assert not any(result.is_new for result in found)


def test_what_changes_in_a_loop() -> None:
    body = f"""{DIMS}
  %s = memref.alloc(%n) : {T}
  %t = memref.alloc(%m) : {T}
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%x = %s) -> ({T}) {{
    scf.yield %t : {T}
  }}
  return %r : {T}
"""
    with pytest.raises(pipeline.UsageError, match=r"extents 'scf\.for' op decides"):
        results(body, f"%a: {T}, %b: {T}", T)


def test_functions_that_are_called() -> None:
    more = f"""
func.func private @make(%n: index, %given: {T}) -> ({T}, {T}) {{
  %t = memref.alloc(%n) : {T}
  return %t, %given : {T}, {T}
}}
"""
    body = f"""{DIMS}
  %s = memref.alloc(%m) : {T}
  %r:2 = func.call @make(%n, %s) : (index, {T}) -> ({T}, {T})
  %q:2 = func.call @make(%m, %a) : (index, {T}) -> ({T}, {T})
  return %r#0, %r#1, %q#0, %q#1, %s : {T}, {T}, {T}, {T}, {T}
"""
    found = results(body, f"%a: {T}, %b: {T}", f"({T}, {T}, {T}, {T}, {T})", more=more)
    assert shapes(found, (5,), (7,)) == [(5,), (7,), (7,), (5,), (7,)]
    # The second and the last are the same memory, the fourth is an argument.
    assert [result.is_new for result in found] == [True, False, True, False, False]


def test_arguments_and_numbers() -> None:
    body = f"""
  %t = memref.alloc(%n) : memref<?x4xf32>
  %d = memref.dim %a, %c0 : {T}
  return %a, %t, %d : {T}, memref<?x4xf32>, index
"""
    found = results(body, f"%a: {T}, %n: index", f"({T}, memref<?x4xf32>, index)")
    assert shapes(found, (5,), 7) == [(5,), (7, 4), None]
    assert [result.element_type for result in found] == ["i32", "f32", "index"]
    assert [result.is_new for result in found] == [False, True, True]


@pytest.mark.parametrize(
    ("number", "operation"),
    [
        (
            f"%v = memref.load %a[%c0] : {T}\n  %r = arith.index_cast %v : i32 to index",
            "arith.index_cast",
        ),
        (
            "%r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1) -> index {\n"
            "    %y = arith.addi %x, %x : index\n    scf.yield %y : index\n  }",
            "scf.for",
        ),
        ("%d = arith.subi %n, %c8 : index\n  %r = arith.divsi %d, %c2 : index", "arith.divsi"),
    ],
)
def test_extents_that_the_program_finds_out(number: str, operation: str) -> None:
    body = f"{DIMS}  {number}\n  %t = memref.alloc(%r) : {T}\n  return %t : {T}\n"
    told = rf"<string>:\d+:\d+: error: .* returns arrays whose extents '{operation}' op decides"
    with pytest.raises(pipeline.UsageError, match=told):
        results(body, f"%a: {T}, %b: {T}", T)


def test_extents_that_the_type_tells() -> None:
    body = f"""
  %v = memref.load %a[%c0] : {T}
  %n = arith.index_cast %v : i32 to index
  %t = memref.alloc(%n) : {T}
  %r = memref.cast %t : {T} to memref<6xi32>
  return %r : memref<6xi32>
"""
    assert shapes(results(body, f"%a: {T}", "memref<6xi32>"), (3,)) == [(6,)]
