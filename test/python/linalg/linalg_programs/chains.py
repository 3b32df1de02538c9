"""Two contractions, one of what is made of the other's result: attention, layers of a network."""

from __future__ import annotations

import numpy as np

from .program import Array, Inputs, Program, coarse, floats, whole
from .reductions import softmax

# Heads of attention; `score` makes a score of a product %a at (m, n).
_ATTENTION = """
#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#s = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
#mask = affine_map<(b, m, n) -> (m, n)>
!q = tensor<{heads}x{rows}x{width}xf32>
!k = tensor<{heads}x{keys}x{width}xf32>
!s = tensor<{heads}x{rows}x{keys}xf32>
!m = tensor<{rows}x{keys}xf32>
func.func @main(%q: !q, %k: !k, %v: !k, %mask: !m) -> !q {{
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !s
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
      indexing_maps = [#id, #mask, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%s, %mask : !s, !m) outs(%e : !s) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %scale : f32
    {score}
    linalg.yield %score : f32
  }} -> !s
  %p = linalg.softmax dimension(2) ins(%t : !s) outs(%e : !s) -> !s
  %f = tensor.empty() : !q
  %y = linalg.fill ins(%zero : f32) outs(%f : !q) -> !q
  %r = linalg.batch_matmul ins(%p, %v : !s, !k) outs(%y : !q) -> !q
  return %r : !q
}}
"""

_MASKED = "%score = arith.addf %0, %b : f32"
_CAUSAL = """%m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %later = arith.cmpi sgt, %n, %m : index
    %score = arith.select %later, %least, %0 : f32"""


def _attend(scores: Array, v: Array) -> Array:
    return np.asarray(np.matmul(softmax(scores, 2), v))


def _scores(q: Array, k: Array) -> Array:
    return np.asarray(np.einsum("bmk,bnk->bmn", q, k) * np.float32(0.125))


def _masked(q: Array, k: Array, v: Array, mask: Array) -> Array:
    return _attend(_scores(q, k) + mask, v)


def _causal(q: Array, k: Array, v: Array, mask: Array) -> Array:
    scores = _scores(q, k)
    later = np.triu(np.ones(scores.shape[1:], bool), 1)
    return _attend(np.where(later, np.float32(-np.inf), scores), v)


def _attention(name: str, score: str, heads: int, rows: int, keys: int, width: int) -> Program:
    key = floats(heads, keys, width)
    return Program(
        name,
        _ATTENTION.format(score=score, heads=heads, rows=rows, keys=keys, width=width),
        ((floats(heads, rows, width), key, key, floats(rows, keys)),),
        _causal if score is _CAUSAL else _masked,
        1e-4,
    )


# Scores and sums of f32, factors of f16: what the second product reads is in a buffer of its own.
_HALF = """
#id = affine_map<(m, n) -> (m, n)>
!x = tensor<45x32xf16>
!k = tensor<32x52xf16>
!v = tensor<52x32xf16>
!s = tensor<45x52xf32>
!p = tensor<45x52xf16>
!r = tensor<45x32xf32>
func.func @main(%q: !x, %k: !k, %v: !v) -> !r {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !s
  %z = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.matmul ins(%q, %k : !x, !k) outs(%z : !s) -> !s
  %p = linalg.softmax dimension(1) ins(%s : !s) outs(%e : !s) -> !s
  %g = tensor.empty() : !p
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : !s) outs(%g : !p) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> !p
  %f = tensor.empty() : !r
  %y = linalg.fill ins(%zero : f32) outs(%f : !r) -> !r
  %r = linalg.matmul ins(%h, %v : !p, !v) outs(%y : !r) -> !r
  return %r : !r
}
"""


def _half(q: Array, k: Array, v: Array) -> Array:
    scores = q.astype("f4") @ k.astype("f4")
    return np.asarray(softmax(scores, 1).astype("f2").astype("f4") @ v.astype("f4"))


# Heads of f16, as many as the launch says, with rows and columns that fill no tile.
_HALF_HEADS = """
#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#s = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
!q = tensor<?x50x64xf16>
!k = tensor<?x70x64xf16>
!s = tensor<?x50x70xf16>
func.func @main(%q: !q, %k: !k, %v: !k) -> !q {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %scale = arith.constant 0.125 : f16
  %heads = tensor.dim %q, %c0 : !q
  %e = tensor.empty(%heads) : !s
  %z = linalg.fill ins(%zero : f16) outs(%e : !s) -> !s
  %s = linalg.generic {
      indexing_maps = [#q, #k, #s],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : !q, !k) outs(%z : !s) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %o, %0 : f16
    linalg.yield %1 : f16
  } -> !s
  %t = linalg.generic {
      indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : !s) outs(%e : !s) {
  ^bb0(%a: f16, %o: f16):
    %0 = arith.mulf %a, %scale : f16
    linalg.yield %0 : f16
  } -> !s
  %p = linalg.softmax dimension(2) ins(%t : !s) outs(%e : !s) -> !s
  %f = tensor.empty(%heads) : !q
  %y = linalg.fill ins(%zero : f16) outs(%f : !q) -> !q
  %r = linalg.batch_matmul ins(%p, %v : !s, !k) outs(%y : !q) -> !q
  return %r : !q
}
"""


def _half_heads(q: Array, k: Array, v: Array) -> Array:
    scores = np.einsum("bmk,bnk->bmn", q.astype("f4"), k.astype("f4")) * np.float32(0.125)
    return np.asarray(np.matmul(softmax(scores, 2), v.astype("f4"))).astype("f2")


# Two layers, the weights of which come as they are used, with biases, relu between, and a sum
# of the input behind.
_LAYERS = """
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
!x = tensor<{rows}x{inner}x{kind}>
!h = tensor<{rows}x{hidden}x{kind}>
!v = tensor<{inner}x{hidden}x{kind}>
!w = tensor<{hidden}x{inner}x{kind}>
func.func @main(%x: !x, %v: !v, %w: !w, %b: tensor<{hidden}x{kind}>) -> !x {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : {kind}
  %m = tensor.dim %x, %c0 : !x
  %eh = tensor.empty({size}) : !h
  %ex = tensor.empty({size}) : !x
  %zh = linalg.fill ins(%zero : {kind}) outs(%eh : !h) -> !h
  %zx = linalg.fill ins(%zero : {kind}) outs(%ex : !x) -> !x
  %0 = linalg.matmul ins(%x, %v : !x, !v) outs(%zh : !h) -> !h
  %1 = linalg.generic {{
      indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%0, %b : !h, tensor<{hidden}x{kind}>) outs(%eh : !h) {{
  ^bb0(%p: {kind}, %q: {kind}, %o: {kind}):
    %r = arith.addf %p, %q : {kind}
    %s = arith.maximumf %r, %zero : {kind}
    linalg.yield %s : {kind}
  }} -> !h
  %2 = linalg.matmul ins(%1, %w : !h, !w) outs(%zx : !x) -> !x
  %3 = linalg.add ins(%2, %x : !x, !x) outs(%ex : !x) -> !x
  return %3 : !x
}}
"""


def _layers(x: Array, v: Array, w: Array, b: Array) -> Array:
    return np.asarray(np.maximum(x @ v + b, 0) @ w + x)


def _layer_program(name: str, rows: int | str, hidden: int, runs: tuple[Inputs, ...]) -> Program:
    _, weights, _, _ = runs[0]
    text = _LAYERS.format(
        rows=rows,
        inner=weights.shape[0],
        hidden=hidden,
        kind=weights.kind,
        size="%m" if rows == "?" else "",
    )
    return Program(name, text, runs, _layers, 1e-4)


def _layer_inputs(rows: int, inner: int, hidden: int, kind: str = "f32") -> Inputs:
    return (
        floats(rows, inner, kind=kind),
        coarse(inner, hidden, kind=kind),
        coarse(hidden, inner, kind=kind),
        floats(hidden, kind=kind),
    )


# Nothing between the two, of other types than what they add up.
_PRODUCTS = """
!a = tensor<40x24xi8>
!b = tensor<24x36xi8>
!p = tensor<40x36xi32>
!c = tensor<36x20xi32>
!r = tensor<40x20xi32>
func.func @main(%a: !a, %b: !b, %c: !c) -> !r {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : !p
  %z = linalg.fill ins(%zero : i32) outs(%e : !p) -> !p
  %p = linalg.matmul ins(%a, %b : !a, !b) outs(%z : !p) -> !p
  %f = tensor.empty() : !r
  %y = linalg.fill ins(%zero : i32) outs(%f : !r) -> !r
  %r = linalg.matmul ins(%p, %c : !p, !c) outs(%y : !r) -> !r
  return %r : !r
}
"""


def _products(a: Array, b: Array, c: Array) -> Array:
    return np.asarray(a.astype("i4") @ b.astype("i4") @ c)


PROGRAMS = (
    _attention("attention_masked", _MASKED, 2, 50, 70, 64),
    _attention("attention_causal", _CAUSAL, 3, 64, 64, 32),
    # The columns of the first result in steps, of which the last is ragged.
    _attention("attention_steps", _MASKED, 1, 32, 336, 64),
    _attention("attention_long", _MASKED, 1, 20, 300, 16),
    Program(
        "attention_half",
        _HALF,
        ((floats(45, 32, kind="f16"), floats(32, 52, kind="f16"), floats(52, 32, kind="f16")),),
        _half,
        1e-3,
    ),
    Program(
        "attention_half_heads",
        _HALF_HEADS,
        tuple(
            (
                floats(heads, 50, 64, kind="f16"),
                floats(heads, 70, 64, kind="f16"),
                floats(heads, 70, 64, kind="f16"),
            )
            for heads in (2, 0)
        ),
        _half_heads,
        0.02,
    ),
    _layer_program("layers", 100, 90, (_layer_inputs(100, 48, 90),)),
    _layer_program(
        "layers_dynamic", "?", 136, tuple(_layer_inputs(rows, 20, 136) for rows in (37, 1, 0))
    ),
    _layer_program("layers_wide", 33, 40, (_layer_inputs(33, 24, 40, "f64"),)),
    Program(
        "products",
        _PRODUCTS,
        ((whole(40, 24, kind="i8"), whole(24, 36, kind="i8"), whole(36, 20)),),
        _products,
    ),
)
