"""Programs that put results into tensors which have another use as well."""

from __future__ import annotations

import numpy as np

from .program import Array, Program, floats

_CONSTANT = """
func.func @main(%x: tensor<70x9xf32>) -> tensor<70xf32> {
  %c = arith.constant dense<1.5> : tensor<70xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<70x9xf32>)
      outs(%c : tensor<70xf32>) dimensions = [1]
  return %r : tensor<70xf32>
}
"""

_PART = """
func.func @main(%x: tensor<70x9xf32>, %s: tensor<?xf32>) -> (tensor<70xf32>, tensor<?xf32>) {
  %p = tensor.extract_slice %s[3] [70] [2] : tensor<?xf32> to tensor<70xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<70x9xf32>)
      outs(%p : tensor<70xf32>) dimensions = [1]
  return %r, %s : tensor<70xf32>, tensor<?xf32>
}
"""

_SQUARE = """
!t = tensor<17x17xf32>
func.func @main(%x: !t) -> !t {
  %y = linalg.matmul ins(%x, %x : !t, !t) outs(%x : !t) -> !t
  %z = linalg.matmul ins(%y, %y : !t, !t) outs(%y : !t) -> !t
  return %z : !t
}
"""

_READ_BESIDES = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
!x = tensor<?x8xf32>
!s = tensor<?xf32>
func.func @main(%x: !x, %s: !s) -> (!s, !x) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : !x
  %e = tensor.empty(%n) : !x
  %new = linalg.reduce { arith.addf } ins(%x : !x) outs(%s : !s) dimensions = [1]
  %y = linalg.generic {
      indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %new : !x, !s, !s) outs(%e : !x) {
  ^bb0(%a: f32, %p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %a, %p : f32
    %1 = arith.subf %0, %q : f32
    linalg.yield %1 : f32
  } -> !x
  return %new, %y : !s, !x
}
"""


def _square(x: Array) -> Array:
    y = x + x @ x
    return np.asarray(y + y @ y)


def _read_besides(x: Array, s: Array) -> tuple[Array, Array]:
    new = s + x.sum(1)
    return new, x * s[:, None] - new[:, None]


PROGRAMS = (
    Program("update_of_constant", _CONSTANT, ((floats(70, 9),),), lambda x: 1.5 + x.sum(1), 1e-4),
    Program(
        "update_of_part",
        _PART,
        ((floats(70, 9), floats(150)),),
        lambda x, s: (s[3:143:2] + x.sum(1), s),
        1e-4,
    ),
    Program("update_of_read", _SQUARE, ((floats(17, 17),),), _square, 1e-3),
    Program(
        "update_read_besides",
        _READ_BESIDES,
        tuple((floats(m, 8), floats(m)) for m in (37, 1, 0)),
        _read_besides,
        1e-4,
    ),
)
