"""Factors that the program extends before it multiplies them are read as they are."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import pipeline

Array = npt.NDArray[Any]

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "i8": np.int8,
    "u8": np.uint8,
}

PRODUCT = """
func.func @main(%a: tensor<{m}x{k}x{lhs}>, %b: tensor<{n}x{k}x{rhs}>) -> tensor<{m}x{n}x{wide}> {{
  %zero = arith.constant {zero} : {wide}
  %x = {extend} %a : tensor<{m}x{k}x{lhs}> to tensor<{m}x{k}x{wide}>
  {second}
  %te = tensor.empty() : tensor<{k}x{n}x{wide}>
  %t = linalg.transpose ins(%y : tensor<{n}x{k}x{wide}>) outs(%te : tensor<{k}x{n}x{wide}>)
    permutation = [1, 0]
  %e = tensor.empty() : tensor<{m}x{n}x{wide}>
  %f = linalg.fill ins(%zero : {wide}) outs(%e : tensor<{m}x{n}x{wide}>) -> tensor<{m}x{n}x{wide}>
  %r = linalg.matmul ins(%x, %t : tensor<{m}x{k}x{wide}>, tensor<{k}x{n}x{wide}>)
    outs(%f : tensor<{m}x{n}x{wide}>) -> tensor<{m}x{n}x{wide}>
  return %r : tensor<{m}x{n}x{wide}>
}}
"""


def draw(kind: str, *shape: int) -> Array:
    random = np.random.default_rng(sum(shape))
    dtype = DTYPES[kind]
    if kind in {"i8", "u8"}:
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype, endpoint=True)
    result: Array = random.uniform(-1, 1, shape).astype(dtype)
    return result


def widen(array: Array) -> Array:
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


def run(module: pipeline.Module, *arrays: Array) -> Array:
    return np.asarray(module.run(*arrays, check="races", workers=1))


def product_text(lhs: str, rhs: str, m: int, n: int, k: int) -> str:
    is_integer = lhs in {"i8", "u8"}
    wide = "i32" if is_integer else "f32"

    def extend(kind: str) -> str:
        return {"i8": "arith.extsi", "u8": "arith.extui"}.get(kind, "arith.extf")

    types = {kind: kind.replace("u", "i") for kind in (lhs, rhs)}
    shape = f"tensor<{n}x{k}x"
    second = f"%y = {extend(rhs)} %b : {shape}{types[rhs]}> to {shape}{wide}>"
    text = PRODUCT
    if rhs == wide:
        text, second = text.replace("%y", "%b"), ""
    return text.format(
        lhs=types[lhs],
        rhs=types[rhs],
        wide=wide,
        zero="0" if is_integer else "0.0",
        extend=extend(lhs),
        second=second,
        m=m,
        n=n,
        k=k,
    )


@pytest.mark.parametrize("sizes", [(64, 64, 64), (67, 45, 70), (1, 64, 128)], ids=str)
@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [("f16", "f16"), ("bf16", "bf16"), ("f16", "f32"), ("i8", "i8"), ("u8", "i8")],
)
def test_products(lhs: str, rhs: str, sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    module = pipeline.compile(product_text(lhs, rhs, m, n, k), chip="sm_80")
    assert len(module.kernels) == 1
    assert ("mma.sync" in module.ptx) == (m > 1 and rhs != "f32")
    a, b = draw(lhs, m, k), draw(rhs, n, k)
    expected = widen(a) @ widen(b).T
    # Sums of integers are exact, those of floats are of up to 128 terms below 1.
    np.testing.assert_allclose(widen(run(module, a, b)), expected, 0, 0 if rhs == "i8" else 5e-5)


ATTENTION = """
!q = tensor<2x{m}x64x{q}>
!k = tensor<2x{n}x64x{k}>
!v = tensor<2x{n}x64xf16>
!qw = tensor<2x{m}x64xf32>
!kw = tensor<2x{n}x64xf32>
!s = tensor<2x{m}x{n}xf32>
func.func @main(%q: !q, %k: !k, %v: !v) -> !qw {{
  %zero = arith.constant 0.0 : f32
  {casts}
  %vw = arith.extf %v : !v to !kw
  %e = tensor.empty() : !s
  %f = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>,
      affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>]
    ins({first} : !qw, !kw) outs(%f : !s) -> !s
  %p = linalg.softmax dimension(2) ins(%s : !s) outs(%e : !s) -> !s
  %oe = tensor.empty() : !qw
  %of = linalg.fill ins(%zero : f32) outs(%oe : !qw) -> !qw
  %o = linalg.batch_matmul ins(%p, %vw : !s, !kw) outs(%of : !qw) -> !qw
  return %o : !qw
}}
"""
CASTS = "%qw = arith.extf %q : !q to !qw\n  %kw = arith.extf %k : !k to !kw"


@pytest.mark.parametrize("kind", ["f16", "f32"])
@pytest.mark.parametrize(("rows", "keys"), [(64, 128), (37, 100), (4, 1024), (3, 100)])
def test_attention(kind: str, rows: int, keys: int) -> None:
    """Weights of f32 times values of f16, also of few queries: one launch, or parts and a sum."""
    casts, first = (CASTS, "%qw, %kw") if kind == "f16" else ("", "%q, %k")
    text = ATTENTION.format(m=rows, n=keys, q=kind, k=kind, casts=casts, first=first)
    module = pipeline.compile(text, chip="sm_80")
    assert len(module.kernels) == 1 + ("split" in (module.schedule or ""))
    query, key, value = draw(kind, 2, rows, 64), draw(kind, 2, keys, 64), draw("f16", 2, keys, 64)
    scores = widen(query) @ widen(key).transpose(0, 2, 1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ widen(value)
    np.testing.assert_allclose(run(module, query, key, value), expected, 1e-4, 1e-5)


CONVOLUTION = """
!x = tensor<1x10x10x32xf16>
!w = tensor<3x3x32x32xf16>
!xw = tensor<1x10x10x32xf32>
!ww = tensor<3x3x32x32xf32>
!o = tensor<1x8x8x32xf32>
func.func @main(%x: !x, %w: !w) -> !o {
  %zero = arith.constant 0.0 : f32
  %xw = arith.extf %x : !x to !xw
  %ww = arith.extf %w : !w to !ww
  %e = tensor.empty() : !o
  %f = linalg.fill ins(%zero : f32) outs(%e : !o) -> !o
  %o = linalg.conv_2d_nhwc_hwcf ins(%xw, %ww : !xw, !ww) outs(%f : !o) -> !o
  return %o : !o
}
"""


def test_convolution() -> None:
    module = pipeline.compile(CONVOLUTION, chip="sm_80")
    assert len(module.kernels) == 1
    assert "mma.sync" in module.ptx
    image, filters = draw("f16", 1, 10, 10, 32), draw("f16", 3, 3, 32, 32)
    windows = np.lib.stride_tricks.sliding_window_view(widen(image), (3, 3), (1, 2))
    expected = np.einsum("bhwcij,ijcf->bhwf", windows, widen(filters))
    np.testing.assert_allclose(run(module, image, filters), expected, 1e-4, 1e-4)
