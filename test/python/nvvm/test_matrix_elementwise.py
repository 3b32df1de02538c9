"""Element-wise operations on matrices in the registers of a warp: numbers, on the emulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from corpus.emulating import compile_kernel

Array = npt.NDArray[np.float32]


KINDS: dict[str, Callable[[Array, Array], Array]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "maxf": np.maximum,
    "minf": np.minimum,
    "negatef": lambda x, y: -x,
}


def write_kernel(kind: str, element: str) -> str:
    matrix = f'!gpu.mma_matrix<16x16x{element}, "COp">'
    memref = f"memref<16x16x{element}>"
    operands, types = ("%x", matrix) if kind == "negatef" else ("%x, %y", f"{matrix}, {matrix}")
    return f"""
gpu.module @m {{
  gpu.func @k(%a: {memref}, %b: {memref}, %c: {memref}) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %x = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {{leadDimension = 16 : index}}
        : {memref} -> {matrix}
    %y = gpu.subgroup_mma_load_matrix %b[%c0, %c0] {{leadDimension = 16 : index}}
        : {memref} -> {matrix}
    %z = gpu.subgroup_mma_elementwise {kind} {operands} : ({types}) -> {matrix}
    gpu.subgroup_mma_store_matrix %z, %c[%c0, %c0] {{leadDimension = 16 : index}}
        : {matrix}, {memref}
    gpu.return
  }}
}}
"""


def make_matrix(seed: int, element: str) -> Array:
    """Numbers of either sign, with what arithmetic treats apart."""
    kind = np.dtype("f2" if element == "f16" else "f4")
    matrix = np.random.default_rng(seed).normal(size=(16, 16)).astype(kind)
    tiny = 6e-8 if element == "f16" else 1.4e-45  # the least there is
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, 1.0], dtype=kind)
    matrix[seed % 2 :: 2, :8] = special
    return matrix


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers(kind: str, element: str) -> None:
    kernel = compile_kernel(write_kernel(kind, element), "sm_80", "k")
    a, b = make_matrix(1, element), make_matrix(2, element)
    c = np.zeros_like(a)
    kernel.emulate(a, b, c, grid=(1, 1, 1), block=(32, 1, 1))
    with np.errstate(all="ignore"):
        expected = KINDS[kind](a, b)
    np.testing.assert_array_equal(c, expected)
    if kind in ("subf", "negatef"):  # the sign of zero, too
        is_number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(c)[is_number], np.signbit(expected)[is_number])
