"""Programs that put results into tensors which have another use as well."""

from __future__ import annotations

import numpy as np

from .program import Array, Program, floats, number

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


# The memory that is written to in place is read through a view, in another order.
_VIEW = """
#id = affine_map<(i, j) -> (i, j)>
!m = memref<40x40xf32>
!v = {view}
func.func @main(%a: !m) {{
  %c = arith.constant 0.75 : f32
  %t = memref.alloc() : !m
  {make}
  linalg.transpose ins(%v : !v) outs(%t : !m) permutation = [1, 0]
  linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%t : !m) outs(%a : !m) {{
  ^bb0(%p: f32, %o: f32):
    %h = arith.mulf %p, %c : f32
    %s = arith.subf %o, %h : f32
    linalg.yield %s : f32
  }}
  return
}}
"""

_SUBVIEW = _VIEW.format(
    view="memref<40x40xf32, strided<[40, 1]>>",
    make="%v = memref.subview %a[0, 0] [40, 40] [1, 1] : !m to !v",
)
_CAST = _VIEW.format(
    view="!m",
    make="""%l = memref.cast %a : !m to memref<?x?xf32>
  %v = memref.cast %l : memref<?x?xf32> to !v""",
)
_EXPANDED = _VIEW.format(
    view="memref<40x40xf32>",
    make="""%l = memref.collapse_shape %a [[0, 1]] : !m into memref<1600xf32>
  %v = memref.expand_shape %l [[0, 1]] output_shape [40, 40] : memref<1600xf32> into !v""",
)

# Two results of one operation: one is returned, the other goes into what is computed next.
_TWO_RESULTS = """
#id = affine_map<(i, j) -> (i, j)>
!t = tensor<{m}x{n}xf32>
func.func @main(%x: !t) -> ({types}) {{
  %e = tensor.empty() : !t
  %v:2 = linalg.generic {{indexing_maps = [#id, #id, #id],
                         iterator_types = ["parallel", "parallel"]}}
      ins(%x : !t) outs(%e, %e : !t, !t) {{
  ^bb0(%a: f32, %o: f32, %p: f32):
    %0 = arith.addf %a, %a : f32
    %1 = math.tanh %a : f32
    linalg.yield %0, %1 : f32, f32
  }} -> (!t, !t)
  {rest}
}}
"""

_TWO_SUM = _TWO_RESULTS.format(
    m=30,
    n=70,
    types="!t, tensor<30xf32>",
    rest="""%c = arith.constant dense<0.5> : tensor<30xf32>
  %r = linalg.reduce { arith.addf } ins(%v#1 : !t) outs(%c : tensor<30xf32>) dimensions = [1]
  return %v#0, %r : !t, tensor<30xf32>""",
)
_TWO_SOFTMAX = _TWO_RESULTS.format(
    m=5,
    n=17,
    types="!t, !t",
    rest="""%r = linalg.softmax dimension(0) ins(%v#0 : !t) outs(%e : !t) -> !t
  return %v#1, %r : !t, !t""",
)
_TWO_TRANSPOSED = _TWO_RESULTS.format(
    m=20,
    n=33,
    types="!t, tensor<33x20xf32>",
    rest="""%f = tensor.empty() : tensor<33x20xf32>
  %r = linalg.transpose ins(%v#1 : !t) outs(%f : tensor<33x20xf32>) permutation = [1, 0]
  return %v#0, %r : !t, tensor<33x20xf32>""",
)


def _less_transposed(a: Array) -> Array:
    return np.asarray(a - np.float32(0.75) * a.T)


def _softmax_of_twice(x: Array) -> tuple[Array, Array]:
    e = np.exp(2 * x)
    return np.tanh(x), e / e.sum(0)


def _square(x: Array) -> Array:
    y = x + x @ x
    return np.asarray(y + y @ y)


def _read_besides(x: Array, s: Array) -> tuple[Array, Array]:
    new = s + x.sum(1)
    return new, x * s[:, None] - new[:, None]


# What is returned between is made along with what goes on from it.
_BETWEEN = """
!t = tensor<?x?x?xf32>
func.func @main(%x: !t, %y: !t, %l: index, %m: index, %n: index) -> (!t, !t, !t) {
  %e = tensor.empty(%l, %m, %n) : !t
  %s = linalg.add ins(%x, %y : !t, !t) outs(%e : !t) -> !t
  %p = linalg.mul ins(%s, %y : !t, !t) outs(%e : !t) -> !t
  %d = linalg.sub ins(%p, %s : !t, !t) outs(%e : !t) -> !t
  return %d, %s, %p : !t, !t, !t
}
"""


def _between(x: Array, y: Array, *_: int) -> tuple[Array, Array, Array]:
    total = x + y
    product = total * y
    return product - total, total, product


# Each of these updates reads what the one before wrote.
_CHAIN = """
!m = memref<?x?xf32>
func.func @main(%a: !m, %b: !m) {
  linalg.add ins(%a, %b : !m, !m) outs(%a : !m)
  linalg.mul ins(%a, %b : !m, !m) outs(%b : !m)
  linalg.sub ins(%b, %a : !m, !m) outs(%a : !m)
  return
}
"""


def _chain(a: Array, b: Array) -> tuple[Array, Array]:
    a = a + b
    b = a * b
    return b - a, b


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
    *(
        Program(f"update_through_{name}", text, ((floats(40, 40),),), _less_transposed, 1e-5, (0,))
        for name, text in (("subview", _SUBVIEW), ("cast", _CAST), ("expanded", _EXPANDED))
    ),
    Program(
        "two_results_sum",
        _TWO_SUM,
        ((floats(30, 70),),),
        lambda x: (x + x, 0.5 + np.tanh(x).sum(1, dtype="f4")),
        1e-4,
    ),
    Program("two_results_softmax", _TWO_SOFTMAX, ((floats(5, 17),),), _softmax_of_twice, 1e-4),
    Program(
        "two_results_transposed",
        _TWO_TRANSPOSED,
        ((floats(20, 33),),),
        lambda x: (x + x, np.tanh(x).T),
    ),
    Program(
        "returned_between",
        _BETWEEN,
        tuple(
            (floats(*shape), floats(*shape), *map(number, shape))
            for shape in ((3, 5, 37), (2, 1, 256), (4, 0, 8))
        ),
        _between,
    ),
    Program(
        "updates_in_chain",
        _CHAIN,
        tuple((floats(*shape), floats(*shape)) for shape in ((13, 70), (1, 1), (5, 1024))),
        _chain,
        1e-5,
        (0, 1),
    ),
)
