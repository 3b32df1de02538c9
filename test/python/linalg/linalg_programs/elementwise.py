"""Programs of one element after the other: arithmetic, types, broadcasts, masks."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from .program import Array, Input, Program, coarse, floats, number, positive, truths, whole

_ADD = """
!t = tensor<{shape}x{kind}>
func.func @main(%x: !t, %y: !t) -> !t {{
  {sizes}
  %e = tensor.empty({dims}) : !t
  %r = linalg.add ins(%x, %y : !t, !t) outs(%e : !t) -> !t
  return %r : !t
}}
"""

_DIMS = """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : !t
  %n = tensor.dim %x, %c1 : !t"""


def _add(shape: str, kind: str = "f32") -> str:
    is_dynamic = "?" in shape
    sizes, dims = (_DIMS, "%m, %n") if is_dynamic else ("", "")
    return _ADD.format(shape=shape, kind=kind, sizes=sizes, dims=dims)


def _sum(x: Array, y: Array) -> Array:
    return x + y


def _add_of(kind: str, values: Any) -> Program:
    return Program(
        f"add_{kind}",
        _add("37x19", kind),
        ((values, values),),
        _sum,
        {"bf16": 8e-3}.get(kind, 1e-3),
    )


_BROADCAST = """
!t = tensor<?x?xf32>
!v = tensor<?xf32>
func.func @main(%x: !t, %b: !v) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : !t
  %n = tensor.dim %x, %c1 : !t
  %e = tensor.empty(%m, %n) : !t
  %bb = linalg.broadcast ins(%b : !v) outs(%e : !t) dimensions = [0]
  %s = linalg.add ins(%x, %bb : !t, !t) outs(%e : !t) -> !t
  %r = linalg.exp ins(%s : !t) outs(%e : !t) -> !t
  return %s, %r : !t, !t
}
"""

_ROW_AND_COLUMN = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>
func.func @main(%x: tensor<33x130xf32>, %r: tensor<33xf32>, %c: tensor<130xf32>, %s: tensor<f32>)
    -> tensor<33x130xf32> {
  %e = tensor.empty() : tensor<33x130xf32>
  %y = linalg.generic {
      indexing_maps = [#id, #row, #column, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r, %c, %s : tensor<33x130xf32>, tensor<33xf32>, tensor<130xf32>, tensor<f32>)
      outs(%e : tensor<33x130xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %f: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.mulf %0, %d : f32
    %2 = arith.divf %1, %f : f32
    linalg.yield %2 : f32
  } -> tensor<33x130xf32>
  return %y : tensor<33x130xf32>
}
"""

_MATH = """
#id = affine_map<(i) -> (i)>
!t = tensor<257xf32>
func.func @main(%x: !t) -> (!t, !t, !t, !t) {
  %e = tensor.empty() : !t
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : !t) outs(%e, %e, %e, %e : !t, !t, !t, !t) {
  ^bb0(%a: f32, %o: f32, %p: f32, %q: f32, %s: f32):
    %half = arith.constant 0.5 : f32
    %exp = math.exp %a : f32
    %log = math.log %a : f32
    %log2 = math.log2 %a : f32
    %sqrt = math.sqrt %a : f32
    %rsqrt = math.rsqrt %a : f32
    %tanh = math.tanh %a : f32
    %erf = math.erf %a : f32
    %pow = math.powf %a, %half : f32
    %sin = math.sin %a : f32
    %cos = math.cos %a : f32
    %log1p = math.log1p %a : f32
    %expm1 = math.expm1 %a : f32
    %exp2 = math.exp2 %a : f32
    %floor = math.floor %a : f32
    %ceil = math.ceil %a : f32
    %atan2 = math.atan2 %a, %half : f32
    %fma = math.fma %a, %exp, %half : f32
    %0 = arith.addf %exp, %log : f32
    %1 = arith.addf %0, %log2 : f32
    %2 = arith.addf %1, %fma : f32
    %3 = arith.addf %sqrt, %rsqrt : f32
    %4 = arith.addf %3, %tanh : f32
    %5 = arith.addf %4, %erf : f32
    %6 = arith.addf %pow, %sin : f32
    %7 = arith.addf %6, %cos : f32
    %8 = arith.addf %7, %atan2 : f32
    %9 = arith.addf %log1p, %expm1 : f32
    %10 = arith.addf %9, %exp2 : f32
    %11 = arith.addf %10, %floor : f32
    %12 = arith.addf %11, %ceil : f32
    linalg.yield %2, %5, %8, %12 : f32, f32, f32, f32
  } -> (!t, !t, !t, !t)
  return %r#0, %r#1, %r#2, %r#3 : !t, !t, !t, !t
}
"""


def erf(x: Array) -> Array:
    """Return the error function."""
    return np.asarray(np.vectorize(math.erf, otypes=["f8"])(x).astype(x.dtype))


def _functions(x: Array) -> tuple[Array, ...]:
    half = np.float32(0.5)
    exp = np.exp(x)
    return (
        exp + np.log(x) + np.log2(x) + (x * exp + half),
        np.sqrt(x) + 1 / np.sqrt(x) + np.tanh(x) + erf(x),
        x**half + np.sin(x) + np.cos(x) + np.arctan2(x, half),
        np.log1p(x) + np.expm1(x) + np.exp2(x) + np.floor(x) + np.ceil(x),
    )


_INTEGERS = """
#id = affine_map<(i) -> (i)>
!t = tensor<?x{kind}>
func.func @main(%x: !t, %y: !t) -> (!t, !t) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : !t
  %e = tensor.empty(%n) : !t
  %r:2 = linalg.generic {{indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}}
      ins(%x, %y : !t, !t) outs(%e, %e : !t, !t) {{
  ^bb0(%a: {kind}, %b: {kind}, %o: {kind}, %p: {kind}):
    %two = arith.constant 2 : {kind}
    %sq = arith.divsi %a, %b : {kind}
    %sr = arith.remsi %a, %b : {kind}
    %uq = arith.divui %a, %b : {kind}
    %ur = arith.remui %a, %b : {kind}
    %smax = arith.maxsi %a, %b : {kind}
    %umin = arith.minui %a, %b : {kind}
    %left = arith.shli %a, %two : {kind}
    %right = arith.shrsi %a, %two : {kind}
    %logical = arith.shrui %b, %two : {kind}
    %0 = arith.xori %sq, %sr : {kind}
    %1 = arith.muli %0, %smax : {kind}
    %2 = arith.ori %1, %left : {kind}
    %3 = arith.addi %uq, %ur : {kind}
    %4 = arith.subi %3, %umin : {kind}
    %5 = arith.andi %logical, %right : {kind}
    %6 = arith.xori %4, %5 : {kind}
    linalg.yield %2, %6 : {kind}, {kind}
  }} -> (!t, !t)
  return %r#0, %r#1 : !t, !t
}}
"""


def _integers(x: Array, y: Array) -> tuple[Array, Array]:
    unsigned = np.dtype(f"u{x.dtype.name}")
    u, v = x.view(unsigned), y.view(unsigned)
    quotient = (np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y)).astype(x.dtype)
    remainder = (x - quotient * y).astype(x.dtype)
    first = (quotient ^ remainder) * np.maximum(x, y) | (x << x.dtype.type(2))
    two = unsigned.type(2)
    second = (u // v + u % v - np.minimum(u, v)) ^ (
        (v >> two) & (x >> x.dtype.type(2)).view(unsigned)
    )
    return first.astype(x.dtype), second.view(x.dtype)


def _integers_of(kind: str) -> Program:
    values = (whole(131, kind=kind), whole(131, kind=kind, low=-9, high=9))
    few = (whole(1, kind=kind), whole(1, kind=kind))
    return Program(f"integers_{kind}", _INTEGERS.format(kind=kind), (values, few), _integers)


_MIXED = """
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<9x40xi8>, %b: tensor<9x40xf16>, %c: tensor<9x40xbf16>,
                %d: tensor<9x40xi32>) -> (tensor<9x40xf32>, tensor<9x40xf16>) {
  %e = tensor.empty() : tensor<9x40xf32>
  %f = tensor.empty() : tensor<9x40xf16>
  %r:2 = linalg.generic {
      indexing_maps = [#id, #id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c, %d : tensor<9x40xi8>, tensor<9x40xf16>, tensor<9x40xbf16>, tensor<9x40xi32>)
      outs(%e, %f : tensor<9x40xf32>, tensor<9x40xf16>) {
  ^bb0(%p: i8, %q: f16, %s: bf16, %t: i32, %o: f32, %u: f16):
    %0 = arith.sitofp %p : i8 to f32
    %1 = arith.extf %q : f16 to f32
    %2 = arith.extf %s : bf16 to f32
    %3 = arith.uitofp %t : i32 to f32
    %4 = arith.mulf %0, %1 : f32
    %5 = arith.mulf %2, %3 : f32
    %6 = arith.addf %4, %5 : f32
    %7 = arith.truncf %4 : f32 to f16
    linalg.yield %6, %7 : f32, f16
  } -> (tensor<9x40xf32>, tensor<9x40xf16>)
  return %r#0, %r#1 : tensor<9x40xf32>, tensor<9x40xf16>
}
"""


def _mixed(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    product = a.astype("f4") * b.astype("f4")
    return product + c.astype("f4") * d.astype("f4"), product.astype("f2")


_NARROW = """
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?x{kind}>, %y: tensor<?x{kind}>) -> (tensor<?xf32>, tensor<?x{kind}>) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x{kind}>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = tensor.empty(%n) : tensor<?x{kind}>
  %r:2 = linalg.generic {{indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}}
      ins(%x, %y : tensor<?x{kind}>, tensor<?x{kind}>)
      outs(%e, %f : tensor<?xf32>, tensor<?x{kind}>) {{
  ^bb0(%a: {kind}, %b: {kind}, %o: f32, %p: {kind}):
    %0 = arith.extf %a : {kind} to f32
    %1 = arith.extf %b : {kind} to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to {kind}
    linalg.yield %2, %3 : f32, {kind}
  }} -> (tensor<?xf32>, tensor<?x{kind}>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?x{kind}>
}}
"""


def _narrow_of(kind: str, dtype: Any) -> Program:
    def reference(x: Array, y: Array) -> tuple[Array, Array]:
        product = x.astype("f4") * y.astype("f4")
        return product, product.astype(dtype)

    values = (floats(75, kind=kind), floats(75, kind=kind))
    few = (floats(3, kind=kind), floats(3, kind=kind))
    return Program(f"narrow_{kind}", _NARROW.format(kind=kind), (values, few), reference)


_MASKS = """
#id = affine_map<(i, j) -> (i, j)>
!t = tensor<?x70xf32>
!b = tensor<?x70xi1>
func.func @main(%x: !t, %y: !t, %m: !b) -> (!b, !t) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : !t
  %e = tensor.empty(%n) : !b
  %f = tensor.empty(%n) : !t
  %g = linalg.generic {
      indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %m : !t, !t, !b) outs(%e : !b) {
  ^bb0(%a: f32, %b: f32, %k: i1, %o: i1):
    %0 = arith.cmpf olt, %a, %b : f32
    %1 = arith.xori %0, %k : i1
    linalg.yield %1 : i1
  } -> !b
  %s = linalg.select ins(%g, %x, %y : !b, !t, !t) outs(%f : !t) -> !t
  return %g, %s : !b, !t
}
"""


def _masks(x: Array, y: Array, m: Array) -> tuple[Array, Array]:
    mask = (x < y) ^ m
    return mask, np.where(mask, x, y)


_IOTA = """
func.func @main(%n: index) -> (tensor<?x9xi64>, tensor<?x9xindex>) {
  %e = tensor.empty(%n) : tensor<?x9xi64>
  %f = tensor.empty(%n) : tensor<?x9xindex>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      outs(%e, %f : tensor<?x9xi64>, tensor<?x9xindex>) {
  ^bb0(%o: i64, %p: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c9 = arith.constant 9 : index
    %0 = arith.muli %i, %c9 : index
    %1 = arith.addi %0, %j : index
    %2 = arith.index_cast %1 : index to i64
    %3 = arith.subi %j, %i : index
    linalg.yield %2, %3 : i64, index
  } -> (tensor<?x9xi64>, tensor<?x9xindex>)
  return %r#0, %r#1 : tensor<?x9xi64>, tensor<?x9xindex>
}
"""


def _iota(n: int) -> tuple[Array, Array]:
    rows, columns = np.indices((n, 9), "i8")
    return np.arange(9 * n, dtype="i8").reshape(n, 9), columns - rows


_FILLS = """
func.func @main(%a: f32, %n: index) -> (tensor<?x5xf32>, tensor<7xi32>, tensor<f16>) {
  %c = arith.constant -7 : i32
  %h = arith.constant 1.5 : f16
  %0 = tensor.empty(%n) : tensor<?x5xf32>
  %1 = linalg.fill ins(%a : f32) outs(%0 : tensor<?x5xf32>) -> tensor<?x5xf32>
  %2 = tensor.splat %c : tensor<7xi32>
  %3 = tensor.empty() : tensor<f16>
  %4 = linalg.fill ins(%h : f16) outs(%3 : tensor<f16>) -> tensor<f16>
  return %1, %2, %4 : tensor<?x5xf32>, tensor<7xi32>, tensor<f16>
}
"""


def _fills(a: Any, n: int) -> tuple[Array, Array, Array]:
    return np.full((n, 5), a, "f4"), np.full(7, -7, "i4"), np.asarray(1.5, "f2")


_NAMED = """
!t = tensor<21x34xf32>
func.func @main(%x: !t, %y: !t) -> !t {
  %e = tensor.empty() : !t
  %0 = linalg.mul ins(%x, %y : !t, !t) outs(%e : !t) -> !t
  %1 = linalg.abs ins(%0 : !t) outs(%e : !t) -> !t
  %2 = linalg.sqrt ins(%1 : !t) outs(%e : !t) -> !t
  %3 = linalg.sub ins(%2, %x : !t, !t) outs(%e : !t) -> !t
  %4 = linalg.max ins(%3, %y : !t, !t) outs(%e : !t) -> !t
  %5 = linalg.negf ins(%4 : !t) outs(%e : !t) -> !t
  %6 = linalg.tanh ins(%5 : !t) outs(%e : !t) -> !t
  %7 = linalg.square ins(%6 : !t) outs(%e : !t) -> !t
  %8 = linalg.div ins(%7, %1 : !t, !t) outs(%e : !t) -> !t
  return %8 : !t
}
"""


def _named(x: Array, y: Array) -> Array:
    size = np.abs(x * y)
    return np.asarray(np.tanh(-np.maximum(np.sqrt(size) - x, y)) ** 2 / size)


_CATEGORY = """
#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#column = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<12x50xf32>, %y: tensor<50x12xf32>, %b: tensor<50xf32>)
    -> (tensor<12x50xf32>, tensor<12x50xf32>) {
  %e = tensor.empty() : tensor<12x50xf32>
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [#id, #swap, #id]
      ins(%x, %y : tensor<12x50xf32>, tensor<50x12xf32>) outs(%e : tensor<12x50xf32>)
      -> tensor<12x50xf32>
  %1 = linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [#id, #column, #id]
      ins(%0, %b : tensor<12x50xf32>, tensor<50xf32>) outs(%e : tensor<12x50xf32>)
      -> tensor<12x50xf32>
  %2 = linalg.map { math.absf } ins(%1 : tensor<12x50xf32>) outs(%e : tensor<12x50xf32>)
  return %1, %2 : tensor<12x50xf32>, tensor<12x50xf32>
}
"""


def _category(x: Array, y: Array, b: Array) -> tuple[Array, Array]:
    product = (x + y.T) * b
    return product, np.abs(product)


_ON_TENSORS = """
!t = tensor<6x11xf32>
func.func @main(%x: !t, %y: !t) -> !t {
  %c = arith.constant dense<0.5> : !t
  %0 = arith.addf %x, %y : !t
  %1 = math.exp %0 : !t
  %2 = arith.mulf %1, %c : !t
  %3 = arith.cmpf ogt, %2, %x : !t
  %4 = arith.select %3, %2, %x : tensor<6x11xi1>, !t
  return %4 : !t
}
"""


def _on_tensors(x: Array, y: Array) -> Array:
    half = np.exp(x + y) * np.float32(0.5)
    return np.where(half > x, half, x)


def _inputs(*shapes: tuple[int, ...]) -> tuple[tuple[Input, Input], ...]:
    return tuple((floats(*shape), floats(*shape)) for shape in shapes)


PROGRAMS = (
    Program("add_divisible", _add("64x128"), _inputs((64, 128)), _sum),
    Program("add_dynamic", _add("?x?"), _inputs((33, 65), (1, 1), (1, 1030), (0, 5), (4, 0)), _sum),
    Program("add_one", _add("1x1"), _inputs((1, 1)), _sum),
    Program("add_empty", _add("0x5"), _inputs((0, 5)), _sum),
    _add_of("f64", floats(37, 19, kind="f64")),
    _add_of("f16", coarse(37, 19, kind="f16")),
    _add_of("bf16", coarse(37, 19, kind="bf16")),
    _add_of("i8", whole(37, 19, kind="i8")),
    _add_of("i64", whole(37, 19, kind="i64")),
    Program(
        "broadcast",
        _BROADCAST,
        ((floats(13, 40), floats(40)), (floats(1, 1), floats(1)), (floats(70, 3), floats(3))),
        lambda x, b: (x + b, np.exp(x + b)),
    ),
    Program(
        "row_and_column",
        _ROW_AND_COLUMN,
        ((floats(33, 130), floats(33), floats(130), floats()),),
        lambda x, r, c, s: (x - r[:, None]) * c / s,
    ),
    Program("math_functions", _MATH, ((positive(257),),), _functions, 2e-5),
    _integers_of("i8"),
    _integers_of("i16"),
    _integers_of("i32"),
    _integers_of("i64"),
    Program(
        "mixed_types",
        _MIXED,
        (
            (
                whole(9, 40, kind="i8"),
                floats(9, 40, kind="f16"),
                floats(9, 40, kind="bf16"),
                whole(9, 40, low=1),
            ),
        ),
        _mixed,
    ),
    _narrow_of("f8E4M3FN", ml_dtypes.float8_e4m3fn),
    _narrow_of("f8E5M2", ml_dtypes.float8_e5m2),
    Program(
        "masks",
        _MASKS,
        tuple((floats(n, 70), floats(n, 70), truths(n, 70)) for n in (5, 1)),
        _masks,
    ),
    Program("iota", _IOTA, ((number(13),), (number(1),), (number(0),)), _iota),
    Program(
        "fills", _FILLS, ((number(3, "f32"), number(6)), (number(7, "f32"), number(0))), _fills
    ),
    Program("named_elementwise", _NAMED, _inputs((21, 34)), _named),
    Program(
        "category_elementwise",
        _CATEGORY,
        ((floats(12, 50), floats(50, 12), floats(50)),),
        _category,
    ),
    Program("arithmetic_on_tensors", _ON_TENSORS, _inputs((6, 11)), _on_tensors),
)
