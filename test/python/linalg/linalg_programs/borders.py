"""Programs at borders: windows with one output, sums without terms, steps where there is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, Program, coarse, floats, number, whole

# What is beyond the only window is not looked at.
_POOL = """
!x = tensor<{x}xf32>
!y = tensor<{y}xf32>
func.func @main(%x: !x) -> !y {{
  %z = arith.constant {start} : f32
  %w = tensor.empty() : tensor<{window}xf32>
  %e = tensor.empty() : !y
  %i = linalg.fill ins(%z : f32) outs(%e : !y) -> !y
  %r = linalg.{op} {{strides = dense<{stride}> : vector<2xi64>,
                    dilations = dense<1> : vector<2xi64>}}
      ins(%x, %w : !x, tensor<{window}xf32>) outs(%i : !y) -> !y
  return %r : !y
}}
"""

_CONV = """
!y = tensor<1x1x1x6xf32>
func.func @main(%x: tensor<1x5x5x4xf32>, %w: tensor<3x3x4x6xf32>) -> !y {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : !y
  %i = linalg.fill ins(%z : f32) outs(%e : !y) -> !y
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<3> : vector<2xi64>,
                                 dilations = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<1x5x5x4xf32>, tensor<3x3x4x6xf32>) outs(%i : !y) -> !y
  return %r : !y
}
"""

# A product of rows, of what may be larger than the result.
_POINTS = """
!y = tensor<?x?x?x16xf32>
func.func @main(%x: tensor<?x?x?x8xf32>, %w: tensor<1x1x8x16xf32>, %i: !y) -> !y {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : vector<2xi64>,
                                 dilations = dense<1> : vector<2xi64>}
      ins(%x, %w : tensor<?x?x?x8xf32>, tensor<1x1x8x16xf32>) outs(%i : !y) -> !y
  return %r : !y
}
"""

_SLIDE = """
func.func @main(%x: tensor<30xf32>, %i: tensor<{n}xf32>) -> tensor<{n}xf32> {{
  %w = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>,
                                        affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}}
      ins(%x, %w : tensor<30xf32>, tensor<4xf32>) outs(%i : tensor<{n}xf32>) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  }} -> tensor<{n}xf32>
  return %r : tensor<{n}xf32>
}}
"""

# Every second of one row.
_STEP_OF_ONE = """
func.func @main(%a: tensor<20x20xf32>, %x: tensor<1x20x20xf32>, %i: tensor<6x17x20xf32>)
    -> tensor<6x17x20xf32> {
  %s = tensor.extract_slice %x[0, 13, 0] [1, 6, 17] [2, 1, 1]
      : tensor<1x20x20xf32> to tensor<6x17xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j)>,
                                        affine_map<(i, j, k, l) -> (k, l)>,
                                        affine_map<(i, j, k, l) -> (k, l, j)>],
                       iterator_types = ["reduction", "parallel", "parallel", "parallel"]}
      ins(%a, %s : tensor<20x20xf32>, tensor<6x17xf32>) outs(%i : tensor<6x17x20xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<6x17x20xf32>
  return %r : tensor<6x17x20xf32>
}
"""

# Of a slice that steps, one dimension of one element is left out and another stays.
_STEPS = """
!x = tensor<{rows}x8x1x5xf32>
!y = tensor<{n}x1x5xf32>
func.func @main(%x: !x, %i: index, %n: index) -> !y {{
  %s = tensor.extract_slice %x[%i, 1, 0, 0] [1, {size}, 1, 5] [1, 2, 1, 1] : !x to !y
  %e = tensor.empty({extent}) : !y
  %r = linalg.exp ins(%s : !y) outs(%e : !y) -> !y
  return %r : !y
}}
"""

_INTO_STEPS = """
!y = tensor<2x8x1xf32>
func.func @main(%a: tensor<4x1xf32>, %b: !y, %i: index) -> !y {
  %e = tensor.empty() : tensor<4x1xf32>
  %x = linalg.exp ins(%a : tensor<4x1xf32>) outs(%e : tensor<4x1xf32>) -> tensor<4x1xf32>
  %r = tensor.insert_slice %x into %b[%i, 0, 0] [1, 4, 1] [1, 2, 1] : tensor<4x1xf32> into !y
  return %r : !y
}
"""

_VIEW_OF_STEPS = """
!v = memref<4x1xf32, strided<[2, 1], offset: 8>>
func.func @main(%a: memref<2x8x1xf32>, %b: memref<4x1xf32>) {
  %v = memref.subview %a[1, 0, 0] [1, 4, 1] [1, 2, 1] : memref<2x8x1xf32> to !v
  linalg.exp ins(%v : !v) outs(%b : memref<4x1xf32>)
  linalg.negf ins(%b : memref<4x1xf32>) outs(%v : !v)
  return
}
"""

# The last of a row, or what it starts from where the row has none.
_LAST = """
func.func @main(%x: tensor<4x?xi32>) -> tensor<4xi32> {
  %seven = arith.constant 7 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%seven : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x?xi32>) outs(%f : tensor<4xi32>) {
  ^bb0(%p: i32, %o: i32):
    linalg.yield %p : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
"""


# Sizes that are constants, that follow from others, and that only the run knows.
_RESHAPE = """
func.func @main(%x: tensor<4x6xf32>) -> tensor<2x12xf32> {
  %sizes = arith.constant dense<[2, 12]> : tensor<2xi32>
  %e = tensor.empty() : tensor<4x6xf32>
  %y = linalg.exp ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = tensor.reshape %y(%sizes) : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<2x12xf32>
  %o = tensor.empty() : tensor<2x12xf32>
  %z = linalg.negf ins(%r : tensor<2x12xf32>) outs(%o : tensor<2x12xf32>) -> tensor<2x12xf32>
  return %z : tensor<2x12xf32>
}
"""

_FLATTEN = """
func.func @main(%x: tensor<?x6xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %m = arith.muli %n, %c6 : index
  %sizes = tensor.from_elements %m : tensor<1xindex>
  %r = tensor.reshape %x(%sizes) : (tensor<?x6xf32>, tensor<1xindex>) -> tensor<?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = linalg.negf ins(%r : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
"""

_GIVEN_SIZES = """
func.func @main(%x: tensor<4x6xf32>, %n: index) -> tensor<?x4x2xf32> {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %sizes = tensor.from_elements %n, %c4, %c2 : tensor<3xindex>
  %r = tensor.reshape %x(%sizes) : (tensor<4x6xf32>, tensor<3xindex>) -> tensor<?x4x2xf32>
  %z = linalg.negf ins(%r : tensor<?x4x2xf32>) outs(%r : tensor<?x4x2xf32>) -> tensor<?x4x2xf32>
  return %z : tensor<?x4x2xf32>
}
"""

_TO_NUMBER = """
func.func @main(%x: tensor<1x1xf32>) -> tensor<1x1x1xf32> {
  %none = tensor.empty() : tensor<0xindex>
  %ones = arith.constant dense<1> : tensor<3xindex>
  %r = tensor.reshape %x(%none) : (tensor<1x1xf32>, tensor<0xindex>) -> tensor<f32>
  %z = linalg.negf ins(%r : tensor<f32>) outs(%r : tensor<f32>) -> tensor<f32>
  %b = tensor.reshape %z(%ones) : (tensor<f32>, tensor<3xindex>) -> tensor<1x1x1xf32>
  return %b : tensor<1x1x1xf32>
}
"""


def _conv(x: Array, w: Array) -> Any:
    return np.einsum("hwc,hwcf->f", x[0, :3, :3], w).reshape(1, 1, 1, 6)


def _points(x: Array, w: Array, start: Array) -> Any:
    _, rows, columns, _ = start.shape
    return start + x[:, :rows, :columns] @ w[0, 0]


def _slide(x: Array, start: Array) -> Any:
    return start + sum(x[k : k + len(start)] for k in range(4))


def _step(a: Array, x: Array, start: Array) -> Any:
    return start + np.einsum("ij,kl->klj", a, x[0, 13:19, :17])


def _into_steps(a: Array, b: Array, i: int) -> Any:
    result = b.copy()
    result[i, ::2] = np.exp(a)
    return result


def _view_of_steps(a: Array, _: Array) -> tuple[Array, Array]:
    result = a.copy()
    result[1, ::2] = -np.exp(a[1, ::2])
    return result, np.exp(a[1, ::2])


PROGRAMS = (
    Program(
        "one_window_sum",
        _POOL.format(
            x="1x3x3x4", y="1x1x1x4", window="2x2", op="pooling_nhwc_sum", stride=2, start="0.0"
        ),
        ((coarse(1, 3, 3, 4),),),
        lambda x: x[:, :2, :2].sum((1, 2), keepdims=True),
    ),
    Program(
        "one_window_max",
        _POOL.format(
            x="1x4x9x9", y="1x4x1x1", window="7x7", op="pooling_nchw_max", stride=7, start="-9.0"
        ),
        ((floats(1, 4, 9, 9),),),
        lambda x: x[:, :, :7, :7].max((2, 3), keepdims=True),
    ),
    Program("one_window_conv", _CONV, ((floats(1, 5, 5, 4), floats(3, 3, 4, 6)),), _conv, 1e-4),
    Program(
        "conv_of_points",
        _POINTS,
        (
            (coarse(2, 5, 9, 8), coarse(1, 1, 8, 16), coarse(2, 5, 9, 16)),
            (coarse(1, 7, 6, 8), coarse(1, 1, 8, 16), coarse(1, 6, 4, 16)),
        ),
        _points,
        1e-4,
    ),
    *(
        Program(f"slide_{n}", _SLIDE.format(n=n), ((coarse(30), coarse(n)),), _slide)
        for n in (1, 5, 27)
    ),
    Program(
        "step_of_one",
        _STEP_OF_ONE,
        ((coarse(20, 20), coarse(1, 20, 20), coarse(6, 17, 20)),),
        _step,
        1e-4,
    ),
    Program(
        "steps_of_a_row",
        _STEPS.format(rows=3, n=4, size=4, extent=""),
        ((floats(3, 8, 1, 5), number(2), number(4)),),
        lambda x, i, n: np.exp(x[i, 1::2][:n]),
    ),
    Program(
        "steps_of_some_rows",
        _STEPS.format(rows="?", n="?", size="%n", extent="%n"),
        (
            (floats(3, 8, 1, 5), number(1), number(4)),
            (floats(2, 8, 1, 5), number(0), number(1)),
            (floats(2, 8, 1, 5), number(0), number(0)),
        ),
        lambda x, i, n: np.exp(x[i, 1::2][:n]),
    ),
    Program("into_steps", _INTO_STEPS, ((floats(4, 1), floats(2, 8, 1), number(1)),), _into_steps),
    Program(
        "view_of_steps",
        _VIEW_OF_STEPS,
        ((floats(2, 8, 1), floats(4, 1)),),
        _view_of_steps,
        written=(0, 1),
    ),
    Program("reshape_constant", _RESHAPE, ((floats(4, 6),),), lambda x: -np.exp(x).reshape(2, 12)),
    Program(
        "reshape_flat",
        _FLATTEN,
        ((floats(5, 6),), (floats(0, 6),)),
        lambda x: -x.reshape(-1),
    ),
    Program(
        "reshape_given",
        _GIVEN_SIZES,
        ((floats(4, 6), number(3)),),
        lambda x, n: -x.reshape(n, 4, 2),
    ),
    Program(
        "reshape_number",
        _TO_NUMBER,
        ((floats(1, 1),),),
        lambda x: -x.reshape(1, 1, 1),
    ),
    Program(
        "last_of_a_row",
        _LAST,
        ((whole(4, 3),), (whole(4, 0),), (whole(4, 1),)),
        lambda x: x[:, -1] if x.shape[1] else np.full(4, 7, "i4"),
    ),
)
