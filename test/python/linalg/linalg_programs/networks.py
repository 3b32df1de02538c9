"""Parts of networks, in the form in which torch-mlir and others write them."""

from __future__ import annotations

import numpy as np

from .elementwise import erf
from .program import Array, Program, floats, positive
from .reductions import softmax
from .windows import convolve, windows

_ATTENTION = """
#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#s = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(a, b, c) -> (a, b, c)>
!q = tensor<2x{rows}x32xf32>
!k = tensor<2x{keys}x32xf32>
!s = tensor<2x{rows}x{keys}xf32>
func.func @main(%q: !q, %k: !k, %v: !k) -> !q {{
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  {sizes}
  %e = tensor.empty({scores}) : !s
  %z = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.generic {{
      indexing_maps = [#q, #k, #s],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%q, %k : !q, !k) outs(%z : !s) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }} -> !s
  %t = linalg.generic {{
      indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%s : !s) outs(%e : !s) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %scale : f32
    linalg.yield %0 : f32
  }} -> !s
  %p = linalg.softmax dimension(2) ins(%t : !s) outs(%e : !s) -> !s
  %f = tensor.empty({result}) : !q
  %y = linalg.fill ins(%zero : f32) outs(%f : !q) -> !q
  %r = linalg.batch_matmul ins(%p, %v : !s, !k) outs(%y : !q) -> !q
  return %r : !q
}}
"""

_ATTENTION_SIZES = """%c1 = arith.constant 1 : index
  %m = tensor.dim %q, %c1 : !q
  %n = tensor.dim %k, %c1 : !k"""


def _attention(q: Array, k: Array, v: Array) -> Array:
    scores = np.einsum("bmk,bnk->bmn", q, k) * np.float32(0.125)
    return np.asarray(np.matmul(softmax(scores, 2), v))


# Two layers with erf-GELU between and softmax behind; weights come transposed.
_MLP = """
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#kept = affine_map<(d0, d1) -> (d0, 0)>
#row = affine_map<(d0, d1) -> (d0)>
module attributes {torch.debug_module_name = "MLP"} {
  func.func @main(%arg0: tensor<?x48xf32>, %w0: tensor<80x48xf32>, %b0: tensor<80xf32>,
                  %w1: tensor<10x80xf32>, %b1: tensor<10xf32>) -> tensor<?x10xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 2.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x48xf32>
    %0 = tensor.empty() : tensor<48x80xf32>
    %transposed = linalg.transpose ins(%w0 : tensor<80x48xf32>) outs(%0 : tensor<48x80xf32>) permutation = [1, 0]
    %1 = tensor.empty(%dim) : tensor<?x80xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<?x80xf32>) -> tensor<?x80xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<?x48xf32>, tensor<48x80xf32>) outs(%2 : tensor<?x80xf32>) -> tensor<?x80xf32>
    %4 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%3, %b0 : tensor<?x80xf32>, tensor<80xf32>) outs(%1 : tensor<?x80xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %18 = arith.addf %in, %in_6 : f32
      linalg.yield %18 : f32
    } -> tensor<?x80xf32>
    %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<?x80xf32>) outs(%1 : tensor<?x80xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = math.sqrt %cst_2 : f32
      %19 = arith.divf %in, %18 : f32
      %20 = math.erf %19 : f32
      %21 = arith.addf %20, %cst_1 : f32
      %22 = arith.mulf %21, %cst_3 : f32
      %23 = arith.mulf %in, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<?x80xf32>
    %6 = tensor.empty() : tensor<80x10xf32>
    %transposed_4 = linalg.transpose ins(%w1 : tensor<10x80xf32>) outs(%6 : tensor<80x10xf32>) permutation = [1, 0]
    %7 = tensor.empty(%dim) : tensor<?x10xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<?x10xf32>) -> tensor<?x10xf32>
    %9 = linalg.matmul ins(%5, %transposed_4 : tensor<?x80xf32>, tensor<80x10xf32>) outs(%8 : tensor<?x10xf32>) -> tensor<?x10xf32>
    %10 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%9, %b1 : tensor<?x10xf32>, tensor<10xf32>) outs(%7 : tensor<?x10xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %18 = arith.addf %in, %in_6 : f32
      linalg.yield %18 : f32
    } -> tensor<?x10xf32>
    %11 = tensor.empty(%dim) : tensor<?xi64>
    %12 = linalg.fill ins(%c0_i64 : i64) outs(%11 : tensor<?xi64>) -> tensor<?xi64>
    %13 = tensor.empty(%dim) : tensor<?xf32>
    %14 = linalg.fill ins(%cst_0 : f32) outs(%13 : tensor<?xf32>) -> tensor<?xf32>
    %15:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%10 : tensor<?x10xf32>) outs(%14, %12 : tensor<?xf32>, tensor<?xi64>) {
    ^bb0(%in: f32, %out: f32, %out_6: i64):
      %18 = linalg.index 1 : index
      %19 = arith.index_cast %18 : index to i64
      %20 = arith.maximumf %in, %out : f32
      %21 = arith.cmpf ogt, %in, %out : f32
      %22 = arith.select %21, %19, %out_6 : i64
      linalg.yield %20, %22 : f32, i64
    } -> (tensor<?xf32>, tensor<?xi64>)
    %expanded = tensor.expand_shape %15#0 [[0, 1]] output_shape [%dim, 1] : tensor<?xf32> into tensor<?x1xf32>
    %16 = linalg.generic {indexing_maps = [#id, #kept, #id], iterator_types = ["parallel", "parallel"]} ins(%10, %expanded : tensor<?x10xf32>, tensor<?x1xf32>) outs(%7 : tensor<?x10xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %18 = arith.subf %in, %in_6 : f32
      linalg.yield %18 : f32
    } -> tensor<?x10xf32>
    %17 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<?x10xf32>) outs(%7 : tensor<?x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = math.exp %in : f32
      linalg.yield %18 : f32
    } -> tensor<?x10xf32>
    %20 = tensor.empty(%dim) : tensor<?x1xf32>
    %21 = linalg.fill ins(%cst : f32) outs(%20 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %22 = linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "reduction"]} ins(%17 : tensor<?x10xf32>) outs(%21 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = arith.addf %in, %out : f32
      linalg.yield %18 : f32
    } -> tensor<?x1xf32>
    %23 = linalg.generic {indexing_maps = [#id, #kept, #id], iterator_types = ["parallel", "parallel"]} ins(%17, %22 : tensor<?x10xf32>, tensor<?x1xf32>) outs(%7 : tensor<?x10xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %18 = arith.divf %in, %in_6 : f32
      linalg.yield %18 : f32
    } -> tensor<?x10xf32>
    return %23 : tensor<?x10xf32>
  }
}
"""


def _gelu(x: Array) -> Array:
    return np.asarray(x * ((erf(x / np.sqrt(np.float32(2))) + 1) * np.float32(0.5)))


def _mlp(x: Array, w0: Array, b0: Array, w1: Array, b1: Array) -> Array:
    return softmax(_gelu(x @ w0.T + b0) @ w1.T + b1, 1)


# Convolution, batch normalisation with its statistics given, ReLU and a pooling of 3 by 3.
_CONV_NET = """
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#one = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1)>
func.func @main(%arg0: tensor<1x3x12x12xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8xf32>,
                %gain: tensor<8xf32>, %bias: tensor<8xf32>, %mean: tensor<8xf32>,
                %var: tensor<8xf32>) -> tensor<1x8x6x6xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant 0xFF800000 : f32
  %cst_1 = arith.constant 1.000000e-05 : f64
  %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
    tensor.yield %cst : f32
  } : tensor<1x3x12x12xf32> to tensor<1x3x14x14xf32>
  %0 = tensor.empty() : tensor<1x8x12x12xf32>
  %broadcasted = linalg.broadcast ins(%b : tensor<8xf32>) outs(%0 : tensor<1x8x12x12xf32>) dimensions = [0, 2, 3]
  %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %w : tensor<1x3x14x14xf32>, tensor<8x3x3x3xf32>) outs(%broadcasted : tensor<1x8x12x12xf32>) -> tensor<1x8x12x12xf32>
  %2 = linalg.generic {indexing_maps = [#one, #channel, #channel, #channel, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %gain, %bias, %mean, %var : tensor<1x8x12x12xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<1x8x12x12xf32>) {
  ^bb0(%in: f32, %in_3: f32, %in_4: f32, %in_5: f32, %in_6: f32, %out: f32):
    %7 = arith.truncf %cst_1 : f64 to f32
    %8 = arith.addf %in_6, %7 : f32
    %9 = math.rsqrt %8 : f32
    %10 = arith.subf %in, %in_5 : f32
    %11 = arith.mulf %10, %9 : f32
    %12 = arith.mulf %11, %in_3 : f32
    %13 = arith.addf %12, %in_4 : f32
    linalg.yield %13 : f32
  } -> tensor<1x8x12x12xf32>
  %3 = linalg.generic {indexing_maps = [#one, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<1x8x12x12xf32>) outs(%0 : tensor<1x8x12x12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %7 = arith.cmpf ugt, %in, %cst : f32
    %8 = arith.select %7, %in, %cst : f32
    linalg.yield %8 : f32
  } -> tensor<1x8x12x12xf32>
  %padded_2 = tensor.pad %3 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%arg1: index, %arg2: index, %arg3: index, %arg4: index):
    tensor.yield %cst_0 : f32
  } : tensor<1x8x12x12xf32> to tensor<1x8x14x14xf32>
  %4 = tensor.empty() : tensor<1x8x6x6xf32>
  %5 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %6 = tensor.empty() : tensor<3x3xf32>
  %7 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%padded_2, %6 : tensor<1x8x14x14xf32>, tensor<3x3xf32>) outs(%5 : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %7 : tensor<1x8x6x6xf32>
}
"""


def _pad(x: Array, value: float) -> Array:
    return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=value)


def _conv_net(
    x: Array, w: Array, b: Array, gain: Array, bias: Array, mean: Array, var: Array
) -> Array:
    b, gain, bias, mean, var = (v[None, :, None, None] for v in (b, gain, bias, mean, var))
    y = (convolve(_pad(x, 0), w) + b - mean) / np.sqrt(var + np.float32(1e-5)) * gain + bias
    y = np.maximum(y, np.float32(0))
    return np.asarray(windows(_pad(y, -np.inf), (3, 3), (2, 2), (1, 1)).max((-2, -1)))


# A block of a transformer without its attention, all in one: norm, matmul, SwiGLU, matmul, sum.
_BLOCK = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
!x = tensor<?x32xf32>
!v = tensor<?xf32>
!h = tensor<?x48xf32>
func.func @main(%x: !x, %g: tensor<32xf32>, %up: tensor<32x48xf32>, %gate: tensor<32x48xf32>,
                %down: tensor<48x32xf32>) -> !x {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = arith.constant 32.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %ev = tensor.empty(%m) : !v
  %ex = tensor.empty(%m) : !x
  %eh = tensor.empty(%m) : !h
  %zv = linalg.fill ins(%zero : f32) outs(%ev : !v) -> !v
  %zx = linalg.fill ins(%zero : f32) outs(%ex : !x) -> !x
  %zh = linalg.fill ins(%zero : f32) outs(%eh : !h) -> !h
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : !x) outs(%zv : !v) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> !v
  %y = linalg.generic {
      indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %g : !x, !v, tensor<32xf32>) outs(%ex : !x) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.divf %b, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %2, %c : f32
    linalg.yield %3 : f32
  } -> !x
  %u = linalg.matmul ins(%y, %up : !x, tensor<32x48xf32>) outs(%zh : !h) -> !h
  %w = linalg.matmul ins(%y, %gate : !x, tensor<32x48xf32>) outs(%zh : !h) -> !h
  %h = linalg.generic {
      indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%u, %w : !h, !h) outs(%eh : !h) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.negf %b : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %b, %2 : f32
    %4 = arith.mulf %a, %3 : f32
    linalg.yield %4 : f32
  } -> !h
  %d = linalg.matmul ins(%h, %down : !h, tensor<48x32xf32>) outs(%zx : !x) -> !x
  %r = linalg.add ins(%x, %d : !x, !x) outs(%ex : !x) -> !x
  return %r : !x
}
"""


def _block(x: Array, g: Array, up: Array, gate: Array, down: Array) -> Array:
    y = x / np.sqrt((x * x).mean(1, keepdims=True)) * g
    w = y @ gate
    return np.asarray(x + ((y @ up) * (w / (np.exp(-w) + np.float32(1)))) @ down)


_DIAMOND = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
!x = tensor<?x?xf32>
!v = tensor<?xf32>
func.func @main(%x: !x) -> (!x, !v, !v) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %n = tensor.dim %x, %c1 : !x
  %e = tensor.empty(%m, %n) : !x
  %ev = tensor.empty(%m) : !v
  %ew = tensor.empty(%n) : !v
  %y = linalg.tanh ins(%x : !x) outs(%e : !x) -> !x
  %z = linalg.fill ins(%zero : f32) outs(%ev : !v) -> !v
  %zw = linalg.fill ins(%zero : f32) outs(%ew : !v) -> !v
  %rows = linalg.reduce { arith.addf } ins(%y : !x) outs(%z : !v) dimensions = [1]
  %columns = linalg.reduce { arith.addf } ins(%y : !x) outs(%zw : !v) dimensions = [0]
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %rows : !x, !v) outs(%e : !x) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> !x
  return %r, %rows, %columns : !x, !v, !v
}
"""


def _diamond(x: Array) -> tuple[Array, Array, Array]:
    y = np.tanh(x)
    return y - y.sum(1)[:, None], y.sum(1), y.sum(0)


PROGRAMS = (
    Program(
        "attention",
        _ATTENTION.format(rows=26, keys=37, sizes="", scores="", result=""),
        ((floats(2, 26, 32), floats(2, 37, 32), floats(2, 37, 32)),),
        _attention,
        1e-4,
    ),
    Program(
        "attention_dynamic",
        _ATTENTION.format(rows="?", keys="?", sizes=_ATTENTION_SIZES, scores="%m, %n", result="%m"),
        tuple(
            (floats(2, m, 32), floats(2, n, 32), floats(2, n, 32)) for m, n in ((20, 35), (1, 1))
        ),
        _attention,
        1e-4,
    ),
    Program(
        "torch_mlp",
        _MLP,
        tuple(
            (floats(m, 48), floats(80, 48), floats(80), floats(10, 80), floats(10)) for m in (17, 1)
        ),
        _mlp,
        1e-4,
    ),
    Program(
        "torch_conv_net",
        _CONV_NET,
        (
            (
                *(floats(1, 3, 12, 12), floats(8, 3, 3, 3), floats(8), floats(8), floats(8)),
                *(floats(8), positive(8)),
            ),
        ),
        _conv_net,
        1e-4,
    ),
    Program(
        "transformer_block",
        _BLOCK,
        tuple(
            (floats(m, 32), floats(32), floats(32, 48), floats(32, 48), floats(48, 32))
            for m in (19, 1)
        ),
        _block,
        2e-4,
    ),
    Program("diamond", _DIAMOND, ((floats(21, 34),), (floats(1, 1),)), _diamond, 1e-4),
)
