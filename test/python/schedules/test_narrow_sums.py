"""Attention that the program adds up in 16 bits, as PyTorch's is exported in f16."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import pipeline

Array = npt.NDArray[Any]

TEXT = """
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @main(%q: !o, %k: !k, %v: !k) -> !o {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : !t
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !s
  %f = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>,
        affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : !o, !k) outs(%f : !s) {
  ^bb0(%x: !t, %y: !t, %z: f32):
    %0 = arith.extf %x : !t to f32
    %1 = arith.extf %y : !t to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  } -> !s
  %re = tensor.empty() : !r
  %m0 = linalg.fill ins(%least : f32) outs(%re : !r) -> !r
  %m = linalg.generic {indexing_maps = [#all, #row],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : !s) outs(%m0 : !r) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.maximumf %x, %y : f32
    linalg.yield %0 : f32
  } -> !r
  %p = linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : !s, !r) outs(%e : !s) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.subf %x, %y : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> !s
  %l0 = linalg.fill ins(%zero : f32) outs(%re : !r) -> !r
  %l = linalg.generic {indexing_maps = [#all, #row],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%p : !s) outs(%l0 : !r) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  } -> !r
  %we = tensor.empty() : !w
  %w = linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %l : !s, !r) outs(%we : !w) {
  ^bb0(%x: f32, %y: f32, %z: !t):
    %0 = arith.divf %x, %y : f32
    %1 = arith.truncf %0 : f32 to !t
    linalg.yield %1 : !t
  } -> !w
  %oe = tensor.empty() : !o
  %of = linalg.fill ins(%none : !t) outs(%oe : !o) -> !o
  %o = linalg.batch_matmul ins(%w, %v : !w, !k) outs(%of : !o) -> !o
  return %o : !o
}
"""


HEADS = """
!t = {kind}
!k = tensor<{heads}x{keys}x64x{kind}>
!w = tensor<{heads}x{rows}x{keys}x{kind}>
!s = tensor<{heads}x{rows}x{keys}xf32>
!r = tensor<{heads}x{rows}xf32>
!o = tensor<{heads}x{rows}x64x{kind}>
"""


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize(
    ("heads", "rows", "keys"),
    [(4, 64, 1024), (4, 2, 1024), (1, 32, 320)],
    ids=["stream", "parts", "short"],
)
def test_sums_of_weights_do_not_overflow(heads: int, rows: int, keys: int, kind: str) -> None:
    """Sums of 300 by weights that are all the same are 307,200 before they are divided."""
    sizes = {"heads": heads, "rows": rows, "keys": keys, "kind": kind}
    module = pipeline.compile(HEADS.format_map(sizes) + TEXT, chip="sm_80")
    assert "mma.sync" in module.ptx
    assert len(module.kernels) == 1 + ("split" in (module.schedule or ""))
    dtype: Any = np.float16 if kind == "f16" else ml_dtypes.bfloat16
    random = np.random.default_rng(4)
    query: Array = random.uniform(-1, 1, (heads, rows, 64)).astype(dtype)
    key: Array = np.zeros((heads, keys, 64), dtype)
    value: Array = random.uniform(200, 400, (heads, keys, 64)).astype(dtype)
    result = np.asarray(module.run(query, key, value, check="races", workers=1))
    assert result.dtype == dtype
    expected = value.astype(np.float64).mean(1, keepdims=True) + np.zeros((1, rows, 1))
    tolerance = 2e-3 if kind == "f16" else 2e-2
    np.testing.assert_allclose(result.astype(np.float64), expected, tolerance)
