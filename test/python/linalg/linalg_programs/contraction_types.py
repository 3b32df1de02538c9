"""Sums of products in every type, and from one type into another."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import DTYPES, Array, Input, Program, coarse, floats, whole

_MATMUL = """
!a = tensor<{m}x{k}x{kind}>
!b = tensor<{k}x{n}x{kind}>
!c = tensor<{m}x{n}x{sum}>
func.func @main(%a: !a, %b: !b) -> !c {{
  %zero = arith.constant {zero} : {sum}
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : {sum}) outs(%e : !c) -> !c
  %r = linalg.matmul {cast}ins(%a, %b : !a, !b) outs(%z : !c) -> !c
  return %r : !c
}}
"""


def _of(
    kind: str, total: str, make: Any, tolerance: float = 0.0, *, unsigned: bool = False
) -> Program:
    m, n, k = 33, 50, 21
    text = _MATMUL.format(
        m=m,
        n=n,
        k=k,
        kind=kind,
        sum=total,
        zero="0.0" if "f" in total else "0",
        cast="{cast = #linalg.type_fn<cast_unsigned>} " if unsigned else "",
    )

    def reference(a: Array, b: Array) -> Array:
        if unsigned:
            a, b = a.view(f"u{a.dtype.name}"), b.view(f"u{b.dtype.name}")
        wide = np.float64 if "f" in total else DTYPES[total]
        return np.asarray((a.astype(wide) @ b.astype(wide)).astype(DTYPES[total]))

    name = f"matmul_{'u' if unsigned else ''}{kind}_{total}"
    return Program(name, text, ((make(m, k, kind), make(k, n, kind)),), reference, tolerance)


def _coarse(rows: int, columns: int, kind: str) -> Input:
    return coarse(rows, columns, kind=kind)


def _floats(rows: int, columns: int, kind: str) -> Input:
    return floats(rows, columns, kind=kind)


def _whole(rows: int, columns: int, kind: str) -> Input:
    return whole(rows, columns, kind=kind)


_NARROW = """
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
!a = tensor<18x36xf8E4M3FN>
!b = tensor<36x20xf8E4M3FN>
!c = tensor<18x20xf32>
func.func @main(%a: !a, %b: !b, %c: !c) -> !c {
  %r = linalg.generic {
      indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : !a, !b) outs(%c : !c) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %o: f32):
    %0 = arith.extf %x : f8E4M3FN to f32
    %1 = arith.extf %y : f8E4M3FN to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> !c
  return %r : !c
}
"""

_QUANTIZED = """
!a = tensor<{batch}{m}x40xi8>
!b = tensor<{batch}40x22xi8>
!c = tensor<{batch}{m}x22xi32>
func.func @main(%a: !a, %b: !b, %p: i32, %q: i32) -> !c {{
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : i32) outs(%e : !c) -> !c
  %r = linalg.{op} ins(%a, %b, %p, %q : !a, !b, i32, i32) outs(%z : !c) -> !c
  return %r : !c
}}
"""


def _quantized(name: str, m: int, batch: int = 0) -> Program:
    """A product of bytes from which their zero points are subtracted."""
    op = "quantized_batch_matmul" if batch else "quantized_matmul"
    batches = (batch,) if batch else ()
    return Program(
        name,
        _QUANTIZED.format(op=op, m=m, batch="".join(f"{extent}x" for extent in batches)),
        (
            (
                whole(*batches, m, 40, kind="i8"),
                whole(*batches, 40, 22, kind="i8"),
                Input((), "i32", "scalar", 3, 3),
                Input((), "i32", "scalar", -5, -5),
            ),
        ),
        lambda a, b, p, q: np.asarray((a.astype("i4") - p) @ (b.astype("i4") - q)),
    )


_SCALED = """
!a = tensor<?x?xf16>
!b = tensor<?x?xi8>
!s = tensor<?xf32>
!c = tensor<?x?xf32>
func.func @main(%a: !a, %b: !b, %s: !s, %c: !c) -> !c {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                       affine_map<(i, j, k) -> (j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %s : !a, !b, !s) outs(%c : !c) {
  ^bb0(%x: f16, %y: i8, %w: f32, %o: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.sitofp %y : i8 to f32
    %2 = arith.mulf %1, %w : f32
    %3 = arith.mulf %0, %2 : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> !c
  return %r : !c
}
"""


def _scaled(a: Array, b: Array, s: Array, c: Array) -> Array:
    return np.asarray(c + a.astype("f4") @ (b.astype("f4") * s[:, None]).T)


_CAST = """
#id = affine_map<(i, j) -> (i, j)>
!a = tensor<?x48xf16>
!w = tensor<?x48xf32>
!b = tensor<48x33xf32>
!c = tensor<?x33xf32>
!d = tensor<?x33xf16>
func.func @main(%a: !a, %b: !b) -> !d {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : !a
  %ew = tensor.empty(%m) : !w
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : !a) outs(%ew : !w) {
  ^bb0(%x: f16, %o: f32):
    %0 = arith.extf %x : f16 to f32
    linalg.yield %0 : f32
  } -> !w
  %e = tensor.empty(%m) : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %r = linalg.matmul ins(%w, %b : !w, !b) outs(%z : !c) -> !c
  %f = tensor.empty(%m) : !d
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%r : !c) outs(%f : !d) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> !d
  return %y : !d
}
"""


def _cast(a: Array, b: Array) -> Array:
    return (a.astype("f4") @ b).astype("f2")


PROGRAMS = (
    _of("f64", "f64", _floats, 1e-12),
    _of("f16", "f16", _coarse, 0.02),
    _of("f16", "f32", _coarse),
    _of("bf16", "f32", _coarse),
    _of("bf16", "bf16", _coarse, 0.06),
    _of("i8", "i32", _whole),
    _of("i8", "i32", _whole, unsigned=True),
    _of("i8", "i8", _whole),
    _of("i16", "i32", _whole),
    _of("i32", "i32", _whole),
    _of("i64", "i64", _whole),
    _of("i32", "i64", _whole, unsigned=True),
    _of("i8", "f32", _whole),
    Program(
        "matmul_f8_f32",
        _NARROW,
        ((coarse(18, 36, kind="f8E4M3FN"), coarse(36, 20, kind="f8E4M3FN"), floats(18, 20)),),
        lambda a, b, c: c + a.astype("f4") @ b.astype("f4"),
    ),
    _quantized("quantized_matmul", 17),
    _quantized("quantized_matmul_few_rows", 4),
    _quantized("quantized_batch_matmul", 24, batch=3),
    Program(
        "matmul_scaled_weights",
        _SCALED,
        tuple(
            (coarse(m, k, kind="f16"), whole(n, k, kind="i8"), floats(n), floats(m, n))
            for m, n, k in ((33, 50, 70), (1, 64, 16), (16, 0, 8), (20, 30, 0))
        ),
        _scaled,
        tolerance=1e-3,
    ),
    Program(
        "cast_matmul_cast",
        _CAST,
        tuple((coarse(m, 48, kind="f16"), coarse(48, 33)) for m in (20, 1)),
        _cast,
        2e-3,
    ),
)
