"""Programs whose tiles no vector and no block fits, and columns that only the launch knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, Input, Program, coarse, floats, whole
from .reductions import softmax, softmax_text

_CONTRACTION = """
!left = tensor<{left}x{kind}>
!right = tensor<{right}x{kind}>
!result = tensor<{result}x{kind}>
func.func @main(%a: !left, %b: !right, %c: !result) -> !result {{
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
      ins(%a, %b : !left, !right) outs(%c : !result) {{
  ^bb0(%x: {kind}, %y: {kind}, %o: {kind}):
    %p = arith.mul{suffix} %x, %y : {kind}
    %s = arith.add{suffix} %o, %p : {kind}
    linalg.yield %s : {kind}
  }} -> !result
  return %r : !result
}}
"""


def _text(equation: str, kind: str, **extents: int | str) -> str:
    """Return a contraction of extents of which '?' are not known."""
    inputs, result = equation.split("->")
    left, right = inputs.split(",")
    loops = [*result, *sorted(({*left} | {*right}) - {*result})]
    maps = [
        f"affine_map<({', '.join(loops)}) -> ({', '.join(to)})>" for to in (left, right, result)
    ]
    return _CONTRACTION.format(
        **{
            name: "x".join(str(extents[loop]) for loop in of)
            for name, of in (("left", left), ("right", right), ("result", result))
        },
        kind=kind,
        maps=", ".join(maps),
        iterators=", ".join(f'"{"parallel" if d in result else "reduction"}"' for d in loops),
        suffix="f" if kind.startswith("f") else "i",
    )


def _contraction(
    name: str, equation: str, kind: str, launches: list[dict[str, int]], **extents: int | str
) -> Program:
    """Return a contraction, run with each of some numbers for what is not known."""

    def make(of: str, known: dict[str, int]) -> Input:
        shape = [size if isinstance(size := extents[d], int) else known[d] for d in of]
        return coarse(*shape, kind=kind) if kind.startswith("f") else whole(*shape, kind=kind)

    inputs, result = equation.split("->")
    left, right = inputs.split(",")
    return Program(
        name,
        _text(equation, kind, **extents),
        tuple(tuple(make(of, known) for of in (left, right, result)) for known in launches),
        lambda a, b, c: c + np.einsum(equation, a, b).astype(c.dtype),
        1e-3 if kind == "f16" else 1e-5,
    )


_ROWS = [{"i": rows} for rows in (70, 1, 0)]
_SIDES = [{"i": rows, "j": columns} for rows, columns in ((70, 67), (1, 1))]

_PADDED_COLUMNS = """
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %more = affine.apply affine_map<(n) -> (n + 2)>(%n)
  %p = tensor.pad %x low[0, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %e = tensor.empty(%more, %m) : tensor<?x?xf32>
  %r = linalg.softmax dimension(0) ins(%p : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""

_REVERSED_COLUMNS = """
func.func @main(%x: tensor<?x?xf32>, %start: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %last = arith.subi %n, %c1 : index
    %k = arith.subi %last, %i : index
    %v = tensor.extract %x[%k, %j] : tensor<?x?xf32>
    %s = math.exp %v : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %r = linalg.reduce { arith.addf } ins(%y : tensor<?x?xf32>) outs(%start : tensor<?xf32>)
      dimensions = [0]
  return %r : tensor<?xf32>
}
"""

# Columns of narrow numbers, the sums of which are wider: rows are written two ways.
_WIDENED = """
!left = tensor<{k}x?x{kind}>
!right = tensor<{k}x{j}x{kind}>
!result = tensor<?x{j}x{total}>
func.func @main(%a: !left, %b: !right, %c: !result) -> !result {{
  %r = linalg.generic {{
      indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                       affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : !left, !right) outs(%c : !result) {{
  ^bb0(%x: {kind}, %y: {kind}, %o: {total}):
    %v = arith.ext{letter} %x : {kind} to {total}
    %w = arith.ext{letter} %y : {kind} to {total}
    %p = arith.mul{suffix} %v, %w : {total}
    %s = arith.add{suffix} %o, %p : {total}
    linalg.yield %s : {total}
  }} -> !result
  return %r : !result
}}
"""


def _widened(kind: str, k: int, j: int) -> Program:
    """Return a product with transposed rows of which only the run knows how many there are."""
    is_float = "f" in kind
    total = "f32" if is_float else "i32"

    def make(*shape: int, of: str = kind) -> Input:
        return coarse(*shape, kind=of) if is_float else whole(*shape, kind=of)

    return Program(
        f"widened_rows_of_{j}_{kind}",
        _WIDENED.format(
            k=k,
            j=j,
            kind=kind,
            total=total,
            letter="f" if is_float else "si",
            suffix="f" if is_float else "i",
        ),
        tuple((make(k, i), make(k, j), make(i, j, of=total)) for i in (131, 1, 0)),
        lambda a, b, c: c + np.einsum("ki,kj->ij", a.astype(c.dtype), b.astype(c.dtype)),
        1e-4,
    )


def _softmax_along(shape: str, axis: int, kind: str, *launches: tuple[int, ...]) -> Program:
    """Return a softmax along an axis that is not the last one, of rows as each run has them."""
    return Program(
        f"softmax_{axis}_of_{shape.replace('?', 'n')}_{kind}",
        softmax_text(shape, axis, kind),
        tuple((floats(*launch, kind=kind),) for launch in launches),
        lambda x: softmax(x.astype("f4"), axis).astype(x.dtype),
        2e-3 if kind == "f16" else 1e-5,
    )


def _softmax_of_padded(x: Array) -> Any:
    return softmax(np.pad(x, ((0, 2), (0, 0))), 0)


PROGRAMS = (
    _contraction("odd_columns", "ik,kj->ij", "f32", _ROWS, i="?", j=130, k=64),
    _contraction("few_odd_columns", "ik,kj->ij", "f32", _ROWS, i="?", j=21, k=32),
    _contraction("odd_columns_of_halves", "ik,kj->ij", "f16", _ROWS, i="?", j=100, k=32),
    _contraction("batch_last", "ikb,kjb->ijb", "f32", _ROWS, i="?", j=80, k=24, b=2),
    _contraction("short_sums_f64", "ik,kj->ij", "f64", _SIDES, i="?", j="?", k=5),
    _contraction("short_sums_i64", "ki,kj->ij", "i64", _SIDES, i="?", j="?", k=5),
    _contraction("short_sums_i8", "ki,jk->ij", "i8", _SIDES, i="?", j="?", k=5),
    _contraction("short_sums_f32", "ki,kj->ij", "f32", [{}], i=40, j=40, k=7),
    _contraction("few_columns", "ik,kj->ij", "f32", _ROWS, i="?", j=16, k=40),
    _contraction("few_rows", "ik,kj->ij", "f16", [{"j": 90}, {"j": 1}], i=9, j="?", k=40),
    _contraction("ragged_bytes", "ik,jk->ij", "i8", _SIDES, i="?", j="?", k=40),
    _widened("f16", 33, 70),
    _widened("i8", 48, 128),
    _widened("i8", 33, 70),
    _softmax_along("2x?", 0, "f32", (2, 131), (2, 1), (2, 0)),
    _softmax_along("5x?", 0, "f32", (5, 70), (5, 64)),
    _softmax_along("3x?", 0, "f16", (3, 133), (3, 7)),
    _softmax_along("?x4x?", 1, "f32", (3, 4, 37), (1, 4, 1)),
    Program(
        "softmax_columns_of_padded",
        _PADDED_COLUMNS,
        ((floats(5, 9),), (floats(1, 1),)),
        _softmax_of_padded,
    ),
    Program(
        "columns_read_backwards",
        _REVERSED_COLUMNS,
        ((floats(7, 40), floats(40)), (floats(1, 3), floats(3))),
        lambda x, start: start + np.exp(x).sum(0),
        1e-5,
    ),
)
