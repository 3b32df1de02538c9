"""Tensors of i4 that a function takes, two elements a byte, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline

GROUPS = """
#row = affine_map<(g, k, n) -> (g, n)>
#all = affine_map<(g, k, n) -> (g, k, n)>
func.func @main(%a: tensor<{m}x{k}xf16>, %w: tensor<{k}x{n}xi4>, %s: tensor<{g}x{n}xf16>,
                %z: tensor<{g}x{n}xi4>) -> tensor<{m}x{n}xf32> {{
  %x = tensor.expand_shape %w [[0, 1], [2]] output_shape [{g}, {e}, {n}]
      : tensor<{k}x{n}xi4> into tensor<{g}x{e}x{n}xi4>
  %e = tensor.empty() : tensor<{g}x{e}x{n}xf16>
  %d = linalg.generic {{indexing_maps = [#all, #row, #row, #all],
                        iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%x, %s, %z : tensor<{g}x{e}x{n}xi4>, tensor<{g}x{n}xf16>, tensor<{g}x{n}xi4>)
      outs(%e : tensor<{g}x{e}x{n}xf16>) {{
  ^bb0(%q: i4, %scale: f16, %zero: i4, %o: f16):
    %0 = arith.extui %q : i4 to i32
    %1 = arith.extui %zero : i4 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.sitofp %2 : i32 to f16
    %4 = arith.mulf %3, %scale : f16
    linalg.yield %4 : f16
  }} -> tensor<{g}x{e}x{n}xf16>
  %c = tensor.collapse_shape %d [[0, 1], [2]] : tensor<{g}x{e}x{n}xf16> into tensor<{k}x{n}xf16>
  %nothing = arith.constant 0.0 : f32
  %i = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%nothing : f32) outs(%i : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %r = linalg.matmul ins(%a, %c : tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16>)
      outs(%f : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
"""

PRODUCT = """
func.func @main(%a: tensor<{m}x{k}x{type}>, %w: tensor<{weights}xi4>) -> tensor<{m}x{n}x{sum}> {{
  %nothing = arith.constant {zero} : {sum}
  %i = tensor.empty() : tensor<{m}x{n}x{sum}>
  %f = linalg.fill ins(%nothing : {sum}) outs(%i : tensor<{m}x{n}x{sum}>) -> tensor<{m}x{n}x{sum}>
  {transpose}
  %r = linalg.matmul ins(%a, %{factor} : tensor<{m}x{k}x{type}>, tensor<{k}x{n}xi4>)
      outs(%f : tensor<{m}x{n}x{sum}>) -> tensor<{m}x{n}x{sum}>
  return %r : tensor<{m}x{n}x{sum}>
}}
"""

TRANSPOSE = """%e = tensor.empty() : tensor<{k}x{n}xi4>
  %t = linalg.transpose ins(%w : tensor<{n}x{k}xi4>) outs(%e : tensor<{k}x{n}xi4>)
      permutation = [1, 0]"""

WIDEN = """
func.func @main(%w: tensor<{type}xi4>) -> tensor<{type}xi32> {{
  %r = arith.{how} %w : tensor<{type}xi4> to tensor<{type}xi32>
  return %r : tensor<{type}xi32>
}}
"""


def pack(values: Any, generator: np.random.Generator) -> Any:
    """Pack numbers of four bits two a byte; what an odd row ends with besides is random."""
    bits = values.astype(np.uint8) & 15
    if bits.shape[-1] % 2:
        other = generator.integers(0, 16, (*bits.shape[:-1], 1)).astype(np.uint8)
        bits = np.concatenate([bits, other], -1)
    return bits[..., ::2] | bits[..., 1::2] << 4


def run(module: pipeline.Module, *arrays: Any) -> Any:
    """Run a program with all checks; its kernels are assembled without spills."""
    for kernel in module.kernels.values():
        assert kernel.resources.spill_store_bytes == 0
    return module.run(*arrays, backend="emulator", check="all")


@pytest.mark.parametrize(
    ("m", "n", "k", "extent"), [(64, 128, 128, 32), (33, 37, 96, 32), (1, 256, 256, 64)]
)
def test_weights_with_scales_of_groups(m: int, n: int, k: int, extent: int) -> None:
    generator = np.random.default_rng(n)
    groups = k // extent
    module = pipeline.compile(GROUPS.format(m=m, n=n, k=k, g=groups, e=extent))
    left = generator.standard_normal((m, k)).astype(np.float16)
    weights = generator.integers(0, 16, (k, n))
    scales = generator.uniform(0.5, 1.5, (groups, n)).astype(np.float16)
    zeros = generator.integers(0, 16, (groups, n))
    result = run(module, left, pack(weights, generator), scales, pack(zeros, generator))
    right = (weights - np.repeat(zeros, extent, 0)).astype(np.float16) * np.repeat(
        scales, extent, 0
    )
    expected = left.astype(np.float32) @ right.astype(np.float32)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize(
    ("m", "n", "k", "kind"),
    [(64, 128, 128, "f16"), (64, 96, 128, "i8"), (31, 45, 67, "i8"), (1, 45, 670, "f16")],
)
def test_products(m: int, n: int, k: int, kind: str, *, is_transposed: bool) -> None:
    generator = np.random.default_rng(k)
    is_float = kind == "f16"
    text = PRODUCT.format(
        m=m,
        n=n,
        k=k,
        type=kind,
        sum="f32" if is_float else "i32",
        zero="0.0" if is_float else "0",
        weights=f"{n}x{k}" if is_transposed else f"{k}x{n}",
        factor="t" if is_transposed else "w",
        transpose=TRANSPOSE.format(n=n, k=k) if is_transposed else "",
    )
    module = pipeline.compile(text)
    # The weights reach the tensor cores as bytes, which become their type in registers.
    if m == 64:
        assert "mma.sync" in module.texts["ptx"]
    left = generator.integers(-128, 128, (m, k)).astype(np.float16 if is_float else np.int8)
    weights = generator.integers(-8, 8, (n, k) if is_transposed else (k, n))
    result = run(module, left, pack(weights, generator))
    right = weights.T if is_transposed else weights
    np.testing.assert_array_equal(result, left.astype(np.int64) @ right)


@pytest.mark.parametrize("how", ["extsi", "extui"])
@pytest.mark.parametrize("shape", [(7,), (1,), (5, 9), (3, 4, 6)])
def test_elements(shape: tuple[int, ...], how: str) -> None:
    generator = np.random.default_rng(shape[0])
    low = -8 if how == "extsi" else 0
    values = generator.integers(low, low + 16, shape)
    extents = "x".join(map(str, shape))
    module = pipeline.compile(WIDEN.format(type=extents, how=how))
    result = run(module, pack(values, generator))
    np.testing.assert_array_equal(result, values)


def test_unknown_extents() -> None:
    generator = np.random.default_rng(3)
    values = generator.integers(-8, 8, (5, 14))
    module = pipeline.compile(WIDEN.format(type="?x?", how="extsi"))
    result = run(module, pack(values, generator))
    np.testing.assert_array_equal(result, values)


def test_an_argument_that_is_written() -> None:
    text = """
    func.func @main(%w: tensor<8x8xi4> {bufferization.writable = true}) -> tensor<8x8xi4> {
      %one = arith.constant 1 : i4
      %r = linalg.fill ins(%one : i4) outs(%w : tensor<8x8xi4>) -> tensor<8x8xi4>
      return %r : tensor<8x8xi4>
    }
    """
    with pytest.raises(pipeline.CompileError, match="comes two elements a byte, and is written"):
        pipeline.compile(text)
