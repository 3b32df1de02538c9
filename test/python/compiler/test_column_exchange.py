"""Results of 16 bits from tensor cores: lanes exchange halves, and store 8 bytes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pipeline
from support.ring_loops import MODES, ORDERS

DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}

PROGRAM = """
!a = tensor<{m}x{k}x{kind}>
!b = tensor<{k}x{n}x{kind}>
!c = tensor<{m}x{n}x{kind}>
!s = tensor<{m}x{n}xf32>
func.func @main(%a: !a, %b: !b, %bias: tensor<{n}xf32>) -> !c {{
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  {dim}
  %e = tensor.empty({size}) : !s
  %f = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.matmul ins(%a, %b : !a, !b) outs(%f : !s) -> !s
  %d = tensor.empty({size}) : !c
  %r = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%s, %bias : !s, tensor<{n}xf32>) outs(%d : !c) {{
  ^bb0(%x: f32, %y: f32, %o: {kind}):
    %0 = arith.addf %x, %y : f32
    %1 = arith.truncf %0 : f32 to {kind}
    linalg.yield %1 : {kind}
  }} -> !c
  return %r : !c
}}
"""


def make(m: int | str, n: int, k: int, kind: str) -> str:
    dim, size = ("%m = tensor.dim %a, %c0 : !a", "%m") if m == "?" else ("", "")
    return PROGRAM.format(m=m, n=n, k=k, kind=kind, dim=dim, size=size)


def check(module: pipeline.Module, m: int, n: int, k: int, kind: str) -> None:
    """Compute with integers, so that sums are exact, in several orders of threads."""
    numbers = np.random.default_rng(m + n)
    a = numbers.integers(-3, 4, (m, k)).astype(DTYPES[kind])
    b = numbers.integers(-3, 4, (k, n)).astype(DTYPES[kind])
    bias = numbers.integers(-3, 4, n).astype(np.float32)
    want = (a.astype(np.float64) @ b.astype(np.float64) + bias).astype(DTYPES[kind])
    for order, mode in zip(ORDERS, MODES, strict=False):
        got = module.run(a, b, bias, backend="emulator", check="all", order=order, async_mode=mode)
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("n", [64, 72])
@pytest.mark.parametrize("m", [64, 80, "?"])
def test_numbers(m: int | str, n: int, kind: str) -> None:
    """Of whole and ragged tiles; the proof is complete."""
    module = pipeline.compile(make(m, n, 64, kind), chip="sm_80")
    assert not module.diagnostics
    assert "shfl.sync.bfly" in module.ptx
    assert "st.global.v2.b32" in module.ptx
    check(module, 75 if m == "?" else int(m), n, 64, kind)


def test_sectors() -> None:
    """Every sector that a store touches is written as a whole, by one store."""
    module = pipeline.compile(make(128, 128, 64, "f16"), chip="sm_80")
    a, b, bias = np.ones((128, 64), "f2"), np.ones((64, 128), "f2"), np.zeros(128, "f4")
    options = pipeline.Options(statistics=True)
    (report,) = module.emulate(a, b, bias, options=options)
    assert report.statistics
    (stores,) = (
        access
        for access in report.statistics.per_access
        if access.space == "global" and access.kind == "write"
    )
    assert stores.bytes == 8
    assert stores.sectors == stores.dense_sectors == 128 * 128 * 2 // 32
