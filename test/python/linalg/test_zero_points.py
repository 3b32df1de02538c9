"""Quantized products and convolutions are on tensor cores, and equal bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pipeline

Array = npt.NDArray[Any]

CHIPS = ("sm_75", "sm_80", "sm_90a")
ZEROS = ((7, -100), (0, 3), (-128, 0), (2147483647, -2147483648))
"""Of both factors: the last wrap."""


def spell(shape: Sequence[int], element: str, *, is_dynamic: bool = False) -> str:
    extents = "".join(f"{'?' if is_dynamic else extent}x" for extent in shape)
    return f"tensor<{extents}{element}>"


def write(op: str, a: str, b: str, c: str) -> str:
    return f"""
func.func @main(%a: {a}, %b: {b}, %za: i32, %zb: i32, %c: {c}) -> {c} {{
  %r = {op} ins(%a, %b, %za, %zb : {a}, {b}, i32, i32) outs(%c : {c}) -> {c}
  return %r : {c}
}}
"""


def make(*shapes: Sequence[int]) -> tuple[Array, Array, Array]:
    """Return random factors of 8 bits, and what the sums start from."""
    random = np.random.default_rng(sum(map(sum, shapes)))
    a, b = (random.integers(-128, 128, shape, np.int8) for shape in shapes[:2])
    return a, b, random.integers(-(2**31), 2**31, shapes[2], np.int32)


def wrap(total: Array) -> Array:
    return (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def check(text: str, chip: str, arguments: Sequence[Any], expected: Array) -> None:
    """Compile, run with all checks, compare; a product of matrices stands in the code."""
    module = pipeline.compile(text, chip=chip)
    assert not module.diagnostics
    assert "mma.sync" in module.ptx or "wgmma.mma_async" in module.ptx
    result = module.run(*arguments, backend="emulator", check="all")
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("zeros", ZEROS)
def test_matmul(chip: str, zeros: tuple[int, int]) -> None:
    m, n, k = 64, 48, 96
    a, b, c = make((m, k), (k, n), (m, n))
    types = [spell(x.shape, f"i{8 * x.itemsize}") for x in (a, b, c)]
    za, zb = zeros
    terms = (a.astype(object) - za) @ (b.astype(object) - zb) + c
    expected = wrap((terms % 2**32).astype(np.int64))
    check(write("linalg.quantized_matmul", *types), chip, (a, b, za, zb, c), expected)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("m", "n", "k"), [(100, 50, 77), (16, 16, 1), (33, 64, 256)])
def test_dynamic_sizes(chip: str, m: int, n: int, k: int) -> None:
    a, b, c = make((m, k), (k, n), (m, n))
    types = [spell(x.shape, f"i{8 * x.itemsize}", is_dynamic=True) for x in (a, b, c)]
    expected = wrap((a.astype(np.int64) - 5) @ (b.astype(np.int64) + 9) + c)
    check(write("linalg.quantized_matmul", *types), chip, (a, b, 5, -9, c), expected)


@pytest.mark.parametrize("chip", CHIPS)
def test_batches(chip: str) -> None:
    m, n, k = 100, 48, 77
    a, b, c = make((2, m, k), (2, k, n), (2, m, n))
    types = [spell(x.shape, f"i{8 * x.itemsize}") for x in (a, b, c)]
    expected = wrap((a.astype(np.int64) - 5) @ (b.astype(np.int64) + 9) + c)
    check(write("linalg.quantized_batch_matmul", *types), chip, (a, b, 5, -9, c), expected)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2)])
def test_convolution(chip: str, stride: int, dilation: int) -> None:
    extent, channels, filters, window = 14, 32, 48, 3
    size = (extent - dilation * (window - 1) - 1) // stride + 1
    shapes = [(2, extent, extent, channels), (window, window, channels, filters)]
    a, b, c = make(*shapes, (2, size, size, filters))
    expected = c.astype(np.int64)
    for row in range(window):
        for column in range(window):
            rows, columns = (
                slice(dilation * at, dilation * at + stride * (size - 1) + 1, stride)
                for at in (row, column)
            )
            part = a[:, rows, columns].astype(np.int64) - 11
            expected += part @ (b[row, column].astype(np.int64) + 4)
    attributes = f"strides = dense<{stride}> : tensor<2xi64>"
    attributes += f", dilations = dense<{dilation}> : tensor<2xi64>"
    types = [spell(x.shape, f"i{8 * x.itemsize}") for x in (a, b, c)]
    text = write(f"linalg.conv_2d_nhwc_hwcf_q {{{attributes}}}", *types)
    check(text, chip, (a, b, 11, -4, c), wrap(expected))


def test_no_terms() -> None:
    """A sum of none is what it starts from."""
    a, b, c = make((32, 0), (0, 32), (32, 32))
    types = [spell(x.shape, f"i{8 * x.itemsize}", is_dynamic=True) for x in (a, b, c)]
    module = pipeline.compile(write("linalg.quantized_matmul", *types), chip="sm_80")
    result = module.run(a, b, 3, 4, c, backend="emulator", check="all")
    np.testing.assert_array_equal(result, c)
