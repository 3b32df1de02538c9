"""Programs that fold: sums and the like along any dimension, softmax, normalisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, Program, floats, positive, whole

_REDUCE = """
func.func @main(%x: tensor<{source}x{kind}>) -> tensor<{result}{kind}> {{
  %identity = arith.constant {identity} : {kind}
  {sizes}
  %e = tensor.empty({dims}) : tensor<{result}{kind}>
  %z = linalg.fill ins(%identity : {kind}) outs(%e : tensor<{result}{kind}>)
      -> tensor<{result}{kind}>
  %r = linalg.reduce {{ {combiner} }} ins(%x : tensor<{source}x{kind}>)
      outs(%z : tensor<{result}{kind}>) dimensions = {over}
  return %r : tensor<{result}{kind}>
}}
"""


def _reduce(
    source: str,
    over: list[int],
    combiner: str = "arith.addf",
    kind: str = "f32",
    identity: str = "0.0",
) -> str:
    extents = source.split("x")
    kept = [n for n in range(len(extents)) if n not in over]
    unknown = [n for n in kept if extents[n] == "?"]
    sizes = "\n  ".join(
        f"%c{n} = arith.constant {n} : index\n"
        f"  %d{n} = tensor.dim %x, %c{n} : tensor<{source}x{kind}>"
        for n in unknown
    )
    return _REDUCE.format(
        source=source,
        kind=kind,
        result="".join(f"{extents[n]}x" for n in kept),
        identity=identity,
        sizes=sizes,
        dims=", ".join(f"%d{n}" for n in unknown),
        combiner=combiner,
        over=over,
    )


_INDEXED = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<{m}x{n}xf32>) -> (tensor<{m}xf32>, tensor<{m}xi64>) {{
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  {sizes}
  %e = tensor.empty({dims}) : tensor<{m}xf32>
  %f = tensor.empty({dims}) : tensor<{m}xi64>
  %a = linalg.fill ins(%least : f32) outs(%e : tensor<{m}xf32>) -> tensor<{m}xf32>
  %b = linalg.fill ins(%zero : i64) outs(%f : tensor<{m}xi64>) -> tensor<{m}xi64>
  %r:2 = linalg.generic {{
      indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<{m}x{n}xf32>) outs(%a, %b : tensor<{m}xf32>, tensor<{m}xi64>) {{
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i64
    %max = arith.maximumf %in, %best : f32
    %more = arith.cmpf ogt, %in, %best : f32
    %s = arith.select %more, %c, %at : i64
    linalg.yield %max, %s : f32, i64
  }} -> (tensor<{m}xf32>, tensor<{m}xi64>)
  return %r#0, %r#1 : tensor<{m}xf32>, tensor<{m}xi64>
}}
"""

_ROWS = """%c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>"""


def _best(x: Array) -> tuple[Array, Array]:
    return x.max(1), x.argmax(1).astype("i8")


def _quantized(x: Array) -> tuple[Array, Array]:
    return _best(x)


_TIES = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %least = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xi32>
  %e = tensor.empty(%m) : tensor<?xi32>
  %a = linalg.fill ins(%least : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %b = linalg.fill ins(%zero : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %r:2 = linalg.generic {
      indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi32>) outs(%a, %b : tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%in: i32, %best: i32, %at: i32):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i32
    %max = arith.maxsi %in, %best : i32
    %more = arith.cmpi sgt, %in, %best : i32
    %s = arith.select %more, %c, %at : i32
    linalg.yield %max, %s : i32, i32
  } -> (tensor<?xi32>, tensor<?xi32>)
  return %r#0, %r#1 : tensor<?xi32>, tensor<?xi32>
}
"""

_SOFTMAX = """
!t = tensor<{shape}x{kind}>
func.func @main(%x: !t) -> !t {{
  {sizes}
  %e = tensor.empty({dims}) : !t
  %r = linalg.softmax dimension({axis}) ins(%x : !t) outs(%e : !t) -> !t
  return %r : !t
}}
"""


def softmax_text(shape: str, axis: int, kind: str = "f32") -> str:
    """Return a softmax of a shape of which '?' are not known."""
    unknown = [n for n, extent in enumerate(shape.split("x")) if extent == "?"]
    sizes = "\n  ".join(
        f"%c{n} = arith.constant {n} : index\n  %d{n} = tensor.dim %x, %c{n} : !t" for n in unknown
    )
    dims = ", ".join(f"%d{n}" for n in unknown)
    return _SOFTMAX.format(shape=shape, kind=kind, sizes=sizes, dims=dims, axis=axis)


def softmax(x: Array, axis: int = -1) -> Array:
    """Return exponentials along an axis whose sum is one."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


_LAYER_NORM = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#vector = affine_map<(i) -> (i)>
!t = tensor<?x{n}xf32>
!v = tensor<?xf32>
!w = tensor<{n}xf32>
func.func @main(%x: !t, %g: !w, %b: !w) -> ({results}) {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = arith.constant {n}.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %m = tensor.dim %x, %c0 : !t
  %e1 = tensor.empty(%m) : !v
  %e = tensor.empty(%m) : !t
  %z = linalg.fill ins(%zero : f32) outs(%e1 : !v) -> !v
  %s = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : !t) outs(%z : !v) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }} -> !v
  %mean = linalg.generic {{indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}}
      ins(%s : !v) outs(%e1 : !v) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.divf %a, %n : f32
    linalg.yield %0 : f32
  }} -> !v
  %d = linalg.generic {{
      indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %mean : !t, !v) outs(%e : !t) {{
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.subf %a, %c : f32
    linalg.yield %0 : f32
  }} -> !t
  %v = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%d : !t) outs(%z : !v) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }} -> !v
  %y = linalg.generic {{
      indexing_maps = [#id, #row, #column, #column, #id],
      iterator_types = ["parallel", "parallel"]}}
      ins(%d, %v, %g, %b : !t, !v, !w, !w) outs(%e : !t) {{
  ^bb0(%a: f32, %c: f32, %gain: f32, %bias: f32, %o: f32):
    %0 = arith.divf %c, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %gain : f32
    %5 = arith.addf %4, %bias : f32
    linalg.yield %5 : f32
  }} -> !t
  return {values} : {results}
}}
"""


def _layer_norm(x: Array, g: Array, b: Array) -> Array:
    centred = x - x.mean(1, keepdims=True)
    variance = (centred**2).mean(1, keepdims=True)
    return np.asarray(centred / np.sqrt(variance + np.float32(1e-5)) * g + b)


_RMS_NORM = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
!t = tensor<5x96xf16>
func.func @main(%x: !t, %g: tensor<96xf16>) -> !t {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 96.0 : f32
  %e1 = tensor.empty() : tensor<5xf32>
  %e = tensor.empty() : !t
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : !t) outs(%z : tensor<5xf32>) {
  ^bb0(%a: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<5xf32>
  %y = linalg.generic {
      indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %g : !t, tensor<5xf32>, tensor<96xf16>) outs(%e : !t) {
  ^bb0(%a: f16, %c: f32, %gain: f16, %o: f16):
    %0 = arith.divf %c, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.extf %a : f16 to f32
    %3 = arith.mulf %2, %1 : f32
    %4 = arith.truncf %3 : f32 to f16
    %5 = arith.mulf %4, %gain : f16
    linalg.yield %5 : f16
  } -> !t
  return %y : !t
}
"""


def _rms_norm(x: Array, g: Array) -> Array:
    wide = x.astype("f4")
    scaled = wide / np.sqrt((wide**2).mean(1, keepdims=True))
    return np.asarray(scaled.astype("f2") * g)


_BATCH_NORM = """
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
!t = tensor<2x5x7x6xf32>
!v = tensor<5xf32>
func.func @main(%x: !t, %g: !v, %b: !v, %mean: !v, %var: !v) -> !t {
  %e = tensor.empty() : !t
  %eps = arith.constant 1.0e-5 : f32
  %y = linalg.generic {
      indexing_maps = [#id, #channel, #channel, #channel, #channel, #id],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %g, %b, %mean, %var : !t, !v, !v, !v, !v) outs(%e : !t) {
  ^bb0(%a: f32, %gain: f32, %bias: f32, %m: f32, %v: f32, %o: f32):
    %0 = arith.addf %v, %eps : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.subf %a, %m : f32
    %3 = arith.mulf %2, %1 : f32
    %4 = arith.mulf %3, %gain : f32
    %5 = arith.addf %4, %bias : f32
    linalg.yield %5 : f32
  } -> !t
  return %y : !t
}
"""


def _batch_norm(x: Array, g: Array, b: Array, mean: Array, var: Array) -> Array:
    g, b, mean, var = (v[None, :, None, None] for v in (g, b, mean, var))
    return np.asarray((x - mean) / np.sqrt(var + np.float32(1e-5)) * g + b)


_BATCH_STATISTICS = """
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
!t = tensor<3x4x5x6xf32>
!v = tensor<4xf32>
func.func @main(%x: !t) -> (!v, !v) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !v
  %z = linalg.fill ins(%zero : f32) outs(%e : !v) -> !v
  %r:2 = linalg.generic {
      indexing_maps = [#id, #channel, #channel],
      iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
      ins(%x : !t) outs(%z, %z : !v, !v) {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %0, %2 : f32, f32
  } -> (!v, !v)
  return %r#0, %r#1 : !v, !v
}
"""

_WEIGHTED = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x41xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x41xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 1 : index
    %0 = arith.index_cast %j : index to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.addf %2, %o : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


def _weighted(x: Array, init: Array) -> Array:
    return np.asarray(init + (x * np.arange(41, dtype="f4")).sum(1, dtype="f4"))


def _sums(*axes: int, dtype: Any = None) -> Any:
    return lambda x: np.asarray(x.sum(axes or None, dtype=dtype))


_INF = "0xFF800000"

_ONE_ROW = """
!t = tensor<1x1000xf32>
func.func @main(%x: !t) -> !t {
  %e = tensor.empty() : !t
  %r = linalg.softmax dimension(1) ins(%x : !t) outs(%e : !t) -> !t
  return %r : !t
}
"""


def _softmax_of_row(x: Array) -> Array:
    raised = np.exp(x - x.max())
    return np.asarray(raised / raised.sum())


PROGRAMS = (
    Program(
        "sum_rows",
        _reduce("?x?", [1]),
        ((floats(17, 133),), (floats(1, 1),), (floats(7, 0),), (floats(0, 3),)),
        _sums(1),
    ),
    Program("sum_rows_divisible", _reduce("32x256", [1]), ((floats(32, 256),),), _sums(1)),
    Program("sum_long_rows", _reduce("3x?", [1]), ((floats(3, 5001),),), _sums(1), 1e-4),
    Program(
        "sum_columns",
        _reduce("?x?", [0]),
        ((floats(301, 77),), (floats(1, 5),), (floats(0, 6),)),
        _sums(0),
        1e-4,
    ),
    Program("sum_middle", _reduce("4x30x25", [1]), ((floats(4, 30, 25),),), _sums(1)),
    Program("sum_outer_two", _reduce("6x7x33", [0, 1]), ((floats(6, 7, 33),),), _sums(0, 1)),
    Program("sum_outside", _reduce("9x?x11", [0, 2]), ((floats(9, 12, 11),),), _sums(0, 2)),
    Program(
        "sum_all",
        _reduce("?x?", [0, 1]),
        ((floats(101, 77),), (floats(1, 1),), (floats(0, 4),)),
        _sums(),
        1e-4,
    ),
    Program(
        "sum_f64", _reduce("19x65", [1], kind="f64"), ((floats(19, 65, kind="f64"),),), _sums(1)
    ),
    Program(
        "product_rows",
        _reduce("8x20", [1], "arith.mulf", identity="1.0"),
        ((positive(8, 20),),),
        lambda x: x.prod(1),
        1e-4,
    ),
    Program(
        "max_rows",
        _reduce("?x50", [1], "arith.maximumf", identity=_INF),
        ((floats(9, 50),), (floats(1, 50),)),
        lambda x: x.max(1),
        0,
    ),
    Program(
        "min_i32_columns",
        _reduce("70x13", [0], "arith.minsi", "i32", "2147483647"),
        ((whole(70, 13),),),
        lambda x: x.min(0),
    ),
    Program(
        "max_unsigned",
        _reduce("11x29", [1], "arith.maxui", "i8", "0"),
        ((whole(11, 29, kind="i8"),),),
        lambda x: x.view("u1").max(1).view("i1"),
    ),
    Program(
        "and_i1",
        _reduce("40x3", [1], "arith.andi", "i1", "1"),
        (((floats(40, 3, kind="i1")),),),
        lambda x: x.all(1),
    ),
    Program(
        "sum_i64",
        _reduce("5x200", [1], "arith.addi", "i64", "0"),
        ((whole(5, 200, kind="i64"),),),
        _sums(1),
    ),
    Program(
        "argmax", _INDEXED.format(m=33, n=100, sizes="", dims=""), ((floats(33, 100),),), _best, 0
    ),
    Program(
        "argmax_dynamic",
        _INDEXED.format(m="?", n="?", sizes=_ROWS, dims="%m"),
        ((floats(5, 71),), (floats(1, 1),)),
        _best,
        0,
    ),
    Program(
        "argmax_ties",
        _TIES,
        ((whole(21, 40, low=1, high=5),), (whole(3, 7, low=2, high=3),)),
        lambda x: (x.max(1), x.argmax(1).astype("i4")),
    ),
    Program("softmax", softmax_text("6x1000", 1), ((floats(6, 1000),),), softmax),
    Program(
        "softmax_columns", softmax_text("60x37", 0), ((floats(60, 37),),), lambda x: softmax(x, 0)
    ),
    Program(
        "softmax_dynamic",
        softmax_text("?x?", 1),
        ((floats(9, 130),), (floats(1, 1),), (floats(3, 2),), (floats(0, 5),)),
        softmax,
    ),
    Program(
        "softmax_middle",
        softmax_text("3x18x10", 1),
        ((floats(3, 18, 10),),),
        lambda x: softmax(x, 1),
    ),
    Program(
        "softmax_f64",
        softmax_text("5x77", 1, "f64"),
        ((floats(5, 77, kind="f64"),),),
        softmax,
        1e-12,
    ),
    Program(
        "layer_norm",
        _LAYER_NORM.format(n=384, results="!t", values="%y"),
        ((floats(9, 384), floats(384), floats(384)), (floats(1, 384), floats(384), floats(384))),
        _layer_norm,
        1e-4,
    ),
    Program(
        "layer_norm_and_mean",
        _LAYER_NORM.format(n=65, results="!t, !v", values="%y, %mean"),
        ((floats(4, 65), floats(65), floats(65)),),
        lambda x, g, b: (_layer_norm(x, g, b), x.mean(1)),
        1e-4,
    ),
    Program(
        "rms_norm",
        _RMS_NORM,
        ((floats(5, 96, kind="f16"), floats(96, kind="f16")),),
        _rms_norm,
        4e-3,
    ),
    Program(
        "batch_norm",
        _BATCH_NORM,
        ((floats(2, 5, 7, 6), floats(5), floats(5), floats(5), positive(5)),),
        _batch_norm,
    ),
    Program(
        "batch_statistics",
        _BATCH_STATISTICS,
        ((floats(3, 4, 5, 6),),),
        lambda x: (x.sum((0, 2, 3)), (x * x).sum((0, 2, 3))),
    ),
    Program(
        "weighted_by_index",
        _WEIGHTED,
        ((floats(7, 41), floats(7)), (floats(1, 41), floats(1))),
        _weighted,
    ),
    Program("softmax_one_row", _ONE_ROW, ((floats(1, 1000),),), _softmax_of_row, 1e-4),
)
