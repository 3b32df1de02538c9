"""Programs that look at windows of their input: convolutions and poolings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .program import Array, Program, coarse, floats, whole

_NAMED = """
!x = tensor<{x}x{kind}>
!w = tensor<{w}x{kind}>
!y = tensor<{y}x{sum}>
func.func @main(%x: !x, %w: !w) -> !y {{
  %zero = arith.constant {zero} : {sum}
  %e = tensor.empty() : !y
  %z = linalg.fill ins(%zero : {sum}) outs(%e : !y) -> !y
  %r = linalg.{op} {{dilations = dense<{dilations}> : tensor<{rank}xi64>,
                    strides = dense<{strides}> : tensor<{rank}xi64>}}
      ins(%x, %w : !x, !w) outs(%z : !y) -> !y
  return %r : !y
}}
"""

_POOL = """
!x = tensor<{x}x{kind}>
!y = tensor<{y}x{kind}>
func.func @main(%x: !x) -> !y {{
  %init = arith.constant {init} : {kind}
  %e = tensor.empty() : !y
  %w = tensor.empty() : tensor<{window}x{kind}>
  %z = linalg.fill ins(%init : {kind}) outs(%e : !y) -> !y
  %r = linalg.{op} {{dilations = dense<{dilations}> : tensor<{rank}xi64>,
                    strides = dense<{strides}> : tensor<{rank}xi64>}}
      ins(%x, %w : !x, tensor<{window}x{kind}>) outs(%z : !y) -> !y
  return %r : !y
}}
"""

Extents = Sequence[int]


def windows(x: Array, window: Extents, strides: Extents, dilations: Extents) -> Array:
    """Return the windows over the last dimensions of an array, as dimensions behind these."""
    rank = len(window)
    reach = [d * (n - 1) + 1 for n, d in zip(window, dilations, strict=True)]
    axes = tuple(range(x.ndim - rank, x.ndim))
    views = np.lib.stride_tricks.sliding_window_view(x, reach, axes)
    steps = [slice(None, None, step) for step in strides]
    holes = [slice(None, None, step) for step in dilations]
    where: Any = (..., *steps, *holes)
    return np.asarray(views[where])


def convolve(x: Array, w: Array, strides: Extents = (1, 1), dilations: Extents = (1, 1)) -> Array:
    """Return the convolution of an array [n, c, ...] with features [f, c, ...]."""
    views = windows(x, w.shape[2:], strides, dilations)
    rank = w.ndim - 2
    inner = range(2 + rank, 2 + 2 * rank)
    total = np.tensordot(views, w, ((1, *inner), (1, *range(2, 2 + rank))))
    return np.moveaxis(total, -1, 1).astype(x.dtype)


def _text(shape: Extents) -> str:
    return "x".join(map(str, shape))


def _conv(
    name: str,
    op: str,
    x: Extents,
    w: Extents,
    reference: Callable[[Array, Array], Array],
    *,
    strides: Extents | None = None,
    dilations: Extents | None = None,
    kind: str = "f32",
) -> Program:
    rank = len(strides or dilations or (1, 1))
    make = floats if kind == "f32" else coarse
    made = (make(*x, kind=kind), make(*w, kind=kind))
    y = reference(np.ones(x, "f4"), np.ones(w, "f4")).shape
    text = _NAMED.format(
        op=op,
        **{"x": _text(x), "w": _text(w), "y": _text(y)},
        kind=kind,
        sum=kind,
        zero="0.0",
        rank=rank,
        dilations=list(dilations or (1,) * rank),
        strides=list(strides or (1,) * rank),
    )
    return Program(name, text, (made,), reference, 1e-4)


def _last_to_first(x: Array) -> Array:
    return np.moveaxis(x, -1, 1)


def _nhwc(x: Array, w: Array, strides: Extents = (1, 1), dilations: Extents = (1, 1)) -> Array:
    """Convolve [n, h, w, c] with [h, w, c, f]."""
    features = np.moveaxis(np.moveaxis(w, -1, 0), -1, 1)
    return np.moveaxis(convolve(_last_to_first(x), features, strides, dilations), 1, -1)


def _depthwise(x: Array, w: Array, strides: Extents = (1, 1)) -> Array:
    """Convolve [n, h, w, c] with [h, w, c]."""
    views = windows(_last_to_first(x), w.shape[:2], strides, (1, 1))
    return np.asarray(np.einsum("nchwij,ijc->nhwc", views, w))


def _grouped(x: Array, w: Array) -> Array:
    """Convolve [n, g, c, h, w] with [f, g, c, h, w]."""
    views = windows(x, w.shape[3:], (1, 1), (1, 1))
    return np.asarray(np.einsum("ngchwij,gfcij->ngfhw", views, w))


def _pool(
    name: str,
    op: str,
    x: Extents,
    window: Extents,
    fold: Any,
    *,
    strides: Extents,
    dilations: Extents = (1, 1),
    init: str = "0.0",
    kind: str = "f32",
) -> Program:
    is_last = "nhwc" in op or op.startswith("pooling_nwc")

    def reference(a: Array) -> Array:
        first = _last_to_first(a) if is_last else a
        views = windows(first, window, strides, dilations)
        result = fold(views, tuple(range(first.ndim, first.ndim + len(window))))
        result = np.asarray(result, a.dtype)
        return np.moveaxis(result, 1, -1) if is_last else result

    y = reference(np.ones(x, "f4")).shape
    text = _POOL.format(
        op=op,
        **{"x": _text(x), "y": _text(y)},
        kind=kind,
        init=init,
        window=_text(window),
        rank=len(window),
        dilations=list(dilations),
        strides=list(strides),
    )
    made = floats(*x) if kind == "f32" else whole(*x, kind=kind)
    return Program(name, text, ((made,),), reference, 1e-5)


_BIAS_RELU = """
#id = affine_map<(n, f, h, w) -> (n, f, h, w)>
!x = tensor<2x3x18x19xf32>
!w = tensor<5x3x3x3xf32>
!y = tensor<2x5x8x9xf32>
func.func @main(%x: !x, %w: !w, %b: tensor<5xf32>) -> !y {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !y
  %z = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : !y) dimensions = [0, 2, 3]
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>,
                                 strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : !x, !w) outs(%z : !y) -> !y
  %y = linalg.generic {
      indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : !y) outs(%e : !y) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %zero : f32
    linalg.yield %0 : f32
  } -> !y
  return %y : !y
}
"""

_PADDED = """
!x = tensor<?x2x9x10xf32>
!p = tensor<?x2x11x12xf32>
!w = tensor<4x2x3x3xf32>
!y = tensor<?x4x9x10xf32>
func.func @main(%x: !x, %w: !w) -> !y {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : !x
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : !x to !p
  %e = tensor.empty(%n) : !y
  %z = linalg.fill ins(%zero : f32) outs(%e : !y) -> !y
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>,
                                 strides = dense<1> : tensor<2xi64>}
      ins(%p, %w : !p, !w) outs(%z : !y) -> !y
  return %r : !y
}
"""

_PADDED_POOL = """
!x = tensor<1x2x9x9xf32>
!p = tensor<1x2x11x11xf32>
!y = tensor<1x2x5x5xf32>
func.func @main(%x: !x) -> !y {
  %least = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : !x to !p
  %e = tensor.empty() : !y
  %w = tensor.empty() : tensor<3x3xf32>
  %z = linalg.fill ins(%least : f32) outs(%e : !y) -> !y
  %r = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>,
                                strides = dense<2> : vector<2xi64>}
      ins(%p, %w : !p, tensor<3x3xf32>) outs(%z : !y) -> !y
  return %r : !y
}
"""


def _pad(x: Array, value: float) -> Array:
    return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=value)


_QUANTIZED = """
!x = tensor<1x8x9x3xi8>
!w = tensor<3x3x3x4xi8>
!y = tensor<1x6x7x4xi32>
func.func @main(%x: !x, %w: !w) -> !y {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : !y
  %z = linalg.fill ins(%zero : i32) outs(%e : !y) -> !y
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>,
                                 strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : !x, !w) outs(%z : !y) -> !y
  return %r : !y
}
"""

# A sum over windows with weights of both indices, as no named operation has it.
_UNKNOWN = """
#x = affine_map<(n, c, i, k, l) -> (n, c + l, i * 2 + k * 3)>
#w = affine_map<(n, c, i, k, l) -> (k, l)>
#y = affine_map<(n, c, i, k, l) -> (n, c, i)>
!x = tensor<3x9x20xf32>
!w = tensor<4x2xf32>
!y = tensor<3x8x5xf32>
func.func @main(%x: !x, %w: !w, %y: !y) -> !y {
  %r = linalg.generic {
      indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : !x, !w) outs(%y : !y) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.cmpf ogt, %0, %o : f32
    %2 = arith.subf %0, %o : f32
    %3 = arith.select %1, %0, %2 : f32
    linalg.yield %3 : f32
  } -> !y
  return %r : !y
}
"""


def _unknown(x: Array, w: Array, y: Array) -> Array:
    result = y.copy()
    for k, m in itertools.product(range(4), range(2)):
        product = x[:, m : m + 8, 3 * k : 3 * k + 9 : 2] * w[k, m]
        result = np.where(product > result, product, product - result)
    return result


_LARGEST = "0xFF800000"

PROGRAMS = (
    _conv(
        "conv_1d_ncw",
        "conv_1d_ncw_fcw",
        (2, 3, 30),
        (4, 3, 5),
        lambda x, w: convolve(x, w, (2,), (1,)),
        strides=(2,),
    ),
    _conv(
        "conv_1d_nwc",
        "conv_1d_nwc_wcf",
        (2, 30, 3),
        (5, 3, 4),
        lambda x, w: np.moveaxis(
            convolve(_last_to_first(x), w.transpose(2, 1, 0), (1,), (3,)), 1, -1
        ),
        dilations=(3,),
    ),
    _conv("conv_2d_nchw", "conv_2d_nchw_fchw", (1, 3, 14, 15), (6, 3, 3, 3), convolve),
    _conv("conv_2d_nhwc", "conv_2d_nhwc_hwcf", (1, 11, 12, 3), (3, 3, 3, 8), _nhwc),
    _conv(
        "conv_2d_nhwc_strided",
        "conv_2d_nhwc_hwcf",
        (2, 15, 14, 4),
        (3, 2, 4, 8),
        lambda x, w: _nhwc(x, w, (2, 3), (2, 1)),
        strides=(2, 3),
        dilations=(2, 1),
    ),
    _conv(
        "conv_2d_nhwc_fhwc",
        "conv_2d_nhwc_fhwc",
        (1, 9, 10, 4),
        (5, 3, 3, 4),
        lambda x, w: _nhwc(x, w.transpose(1, 2, 3, 0)),
    ),
    _conv(
        "conv_2d_f16",
        "conv_2d_nhwc_hwcf",
        (1, 8, 9, 4),
        (1, 1, 4, 8),
        lambda x, w: _nhwc(x.astype("f4"), w.astype("f4")).astype(x.dtype),
        kind="f16",
    ),
    _conv(
        "conv_3d",
        "conv_3d_ncdhw_fcdhw",
        (1, 2, 6, 7, 8),
        (3, 2, 2, 3, 2),
        lambda x, w: convolve(x, w, (1, 1, 1), (1, 1, 1)),
        strides=(1, 1, 1),
    ),
    _conv(
        "conv_depthwise",
        "depthwise_conv_2d_nhwc_hwc",
        (1, 11, 12, 8),
        (3, 3, 8),
        lambda x, w: _depthwise(x, w, (2, 2)),
        strides=(2, 2),
    ),
    _conv(
        "conv_depthwise_several",
        "depthwise_conv_2d_nhwc_hwcm",
        (1, 7, 8, 3),
        (3, 3, 3, 2),
        lambda x, w: np.einsum(
            "nchwij,ijcm->nhwcm", windows(_last_to_first(x), (3, 3), (1, 1), (1, 1)), w
        ),
    ),
    _conv("conv_grouped", "conv_2d_ngchw_gfchw", (1, 2, 3, 8, 9), (2, 4, 3, 3, 3), _grouped),
    Program(
        "conv_bias_relu",
        _BIAS_RELU,
        ((floats(2, 3, 18, 19), floats(5, 3, 3, 3), floats(5)),),
        lambda x, w, b: np.maximum(convolve(x, w, (2, 2)) + b[None, :, None, None], np.float32(0)),
        1e-4,
    ),
    Program(
        "conv_padded",
        _PADDED,
        ((floats(2, 2, 9, 10), floats(4, 2, 3, 3)), (floats(0, 2, 9, 10), floats(4, 2, 3, 3))),
        lambda x, w: convolve(_pad(x, 0), w),
        1e-4,
    ),
    Program(
        "conv_i8",
        _QUANTIZED,
        ((whole(1, 8, 9, 3, kind="i8"), whole(3, 3, 3, 4, kind="i8")),),
        lambda x, w: _nhwc(x.astype("i4"), w.astype("i4")),
    ),
    _pool(
        "pool_max_nchw",
        "pooling_nchw_max",
        (1, 4, 9, 10),
        (3, 3),
        np.max,
        strides=(2, 2),
        init=_LARGEST,
    ),
    _pool(
        "pool_max_nhwc",
        "pooling_nhwc_max",
        (2, 9, 10, 5),
        (2, 3),
        np.max,
        strides=(1, 2),
        dilations=(2, 1),
        init=_LARGEST,
    ),
    _pool("pool_sum_nchw", "pooling_nchw_sum", (1, 4, 8, 8), (2, 2), np.sum, strides=(2, 2)),
    _pool("pool_sum_nhwc", "pooling_nhwc_sum", (1, 8, 7, 6), (3, 3), np.sum, strides=(1, 1)),
    _pool(
        "pool_min_nhwc",
        "pooling_nhwc_min",
        (1, 7, 7, 4),
        (2, 2),
        np.min,
        strides=(1, 1),
        init="2147483647",
        kind="i32",
    ),
    _pool(
        "pool_max_unsigned",
        "pooling_nhwc_max_unsigned",
        (1, 6, 7, 4),
        (2, 2),
        lambda views, axes: (
            views.view("u4").max(axes).view("i4") if views.dtype == np.int32 else views.max(axes)
        ),
        strides=(2, 1),
        init="0",
        kind="i32",
    ),
    Program(
        "pool_max_padded",
        _PADDED_POOL,
        ((floats(1, 2, 9, 9),),),
        lambda x: windows(_pad(x, -np.inf), (3, 3), (2, 2), (1, 1)).max((-2, -1)),
        0,
    ),
    Program(
        "unknown_window",
        _UNKNOWN,
        ((floats(3, 9, 20), floats(4, 2), floats(3, 8, 5)),),
        _unknown,
    ),
)
