"""Programs whose rows are long, so that what is made of one takes memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, Program, floats

# exp(x - max(x)) of what is masked by the numbers of row and column.
_MASKED = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
!x = tensor<8x{n}xf32>
func.func @main(%x: !x) -> !x {{
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : !x
  %least = arith.constant -1.0e+30 : f32
  %e = tensor.empty({dynamic}) : !x
  %y = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%x : !x) outs(%e : !x) {{
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ugt, %j, %i : index
    %v = arith.select %c, %a, %least : f32
    linalg.yield %v : f32
  }} -> !x
  %r = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%least : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%y : !x) outs(%f : tensor<8xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %a, %o : f32
    linalg.yield %v : f32
  }} -> tensor<8xf32>
  %z = linalg.generic {{indexing_maps = [#id, #row, #id],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%y, %m : !x, tensor<8xf32>) outs(%e : !x) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %v = math.exp %d : f32
    linalg.yield %v : f32
  }} -> !x
  return %z : !x
}}
"""

# A sum in which the number of the column counts.
_MOMENT = """
func.func @main(%x: tensor<3x{n}xf32>) -> tensor<3xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<3x{n}xf32>) outs(%f : tensor<3xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %w = arith.sitofp %k : i32 to f32
    %p = arith.mulf %a, %w : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }} -> tensor<3xf32>
  return %r : tensor<3xf32>
}}
"""

# The greatest of a row, and where it is.
_PLACE = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @place(%x: tensor<{m}x{n}xf32>) -> (tensor<{m}xf32>, tensor<{m}xi64>) {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<{m}x{n}xf32>
  %least = arith.constant -1.0e+30 : f32
  %none = arith.constant -1 : i64
  %e = tensor.empty({rows}) : tensor<{m}xf32>
  %k = tensor.empty({rows}) : tensor<{m}xi64>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<{m}xf32>) -> tensor<{m}xf32>
  %g = linalg.fill ins(%none : i64) outs(%k : tensor<{m}xi64>) -> tensor<{m}xi64>
  %r:2 = linalg.generic {{indexing_maps = [#id, #row, #row],
                         iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<{m}x{n}xf32>) outs(%f, %g : tensor<{m}xf32>, tensor<{m}xi64>) {{
  ^bb0(%a: f32, %o: f32, %p: i64):
    %j = linalg.index 1 : index
    %q = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %a, %o : f32
    %v = arith.select %c, %a, %o : f32
    %w = arith.select %c, %q, %p : i64
    linalg.yield %v, %w : f32, i64
  }} -> (tensor<{m}xf32>, tensor<{m}xi64>)
  return %r#0, %r#1 : tensor<{m}xf32>, tensor<{m}xi64>
}}
"""

_SOFTMAX_PLACE = (
    _PLACE
    + """
func.func @main(%x: tensor<{m}x{n}xf32>) -> (tensor<{m}xf32>, tensor<{m}xi64>) {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<{m}x{n}xf32>
  %e = tensor.empty({rows}) : tensor<{m}x{n}xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<{m}x{n}xf32>) outs(%e : tensor<{m}x{n}xf32>)
      -> tensor<{m}x{n}xf32>
  %r:2 = func.call @place(%s)
      : (tensor<{m}x{n}xf32>) -> (tensor<{m}xf32>, tensor<{m}xi64>)
  return %r#0, %r#1 : tensor<{m}xf32>, tensor<{m}xi64>
}}
"""
)

_SUM_PLACE = (
    _PLACE
    + """
func.func @main(%x: tensor<{m}x{n}x2xf32>) -> (tensor<{m}xf32>, tensor<{m}xi64>) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %s = linalg.reduce {{ arith.addf }} ins(%x : tensor<{m}x{n}x2xf32>)
      outs(%f : tensor<{m}x{n}xf32>) dimensions = [2]
  %r:2 = func.call @place(%s)
      : (tensor<{m}x{n}xf32>) -> (tensor<{m}xf32>, tensor<{m}xi64>)
  return %r#0, %r#1 : tensor<{m}xf32>, tensor<{m}xi64>
}}
"""
)

# Which of n codes is next to each of m points.
_NEAREST = (
    _PLACE
    + """
func.func @main(%x: tensor<{m}x8xf32>, %y: tensor<{n}x8xf32>)
    -> (tensor<{m}xf32>, tensor<{m}xi64>) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                                        affine_map<(i, j, k) -> (j, k)>,
                                        affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %y : tensor<{m}x8xf32>, tensor<{n}x8xf32>) outs(%f : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %t = arith.subf %o, %q : f32
    linalg.yield %t : f32
  }} -> tensor<{m}x{n}xf32>
  %r:2 = func.call @place(%s)
      : (tensor<{m}x{n}xf32>) -> (tensor<{m}xf32>, tensor<{m}xi64>)
  return %r#0, %r#1 : tensor<{m}xf32>, tensor<{m}xi64>
}}
"""
)


def _masked(x: Array) -> Any:
    rows, columns = np.indices(x.shape)
    masked = np.where(columns > rows, x, np.float32(-1e30))
    return np.exp(masked - masked.max(1, keepdims=True))


def _place(x: Array) -> Any:
    return x.max(1), x.argmax(1)


def _softmax_place(x: Array) -> Any:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers.max(1) / powers.sum(1), x.argmax(1)


def _nearest(x: Array, y: Array) -> Any:
    return _place(-np.square(x[:, None] - y[None]).sum(2))


PROGRAMS = (
    Program(
        "masked_long_rows",
        _MASKED.format(n=9000, dynamic=""),
        ((floats(8, 9000),),),
        _masked,
    ),
    Program(
        "masked_dynamic_rows",
        _MASKED.format(n="?", dynamic="%n"),
        ((floats(8, 4500),), (floats(8, 9),), (floats(8, 700),)),
        _masked,
    ),
    Program(
        "moment",
        _MOMENT.format(n=9000),
        ((floats(3, 9000),),),
        lambda x: (x.astype("f8") @ np.arange(9000)).astype("f4"),
        1e-2,
    ),
    Program(
        "softmax_place",
        _SOFTMAX_PLACE.format(m=150, n=300, rows=""),
        ((floats(150, 300),),),
        _softmax_place,
    ),
    Program(
        "softmax_place_dynamic",
        _SOFTMAX_PLACE.format(m="?", n=1000, rows="%m"),
        ((floats(19, 1000),), (floats(1, 1000),), (floats(0, 1000),)),
        _softmax_place,
    ),
    Program(
        "sum_place",
        _SUM_PLACE.format(m=140, n=500, rows=""),
        ((floats(140, 500, 2),),),
        lambda x: _place(x.sum(2)),
    ),
    Program(
        "nearest",
        _NEAREST.format(m=40, n=600, rows=""),
        ((floats(40, 8), floats(600, 8)),),
        _nearest,
        1e-4,
    ),
)
