"""What the first thread asks for: its program as it is, and no silence about a naive body."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline

EMULATED: dict[str, Any] = {"backend": "emulator", "check": "all", "workers": 1}

# Three host allocations, three fills, and the matmul; the result is returned to be seen.
FILLS = """
func.func @main() -> memref<{n}x{n}xf32> {{
  %A = memref.alloc() : memref<{n}x{n}xf32>
  %B = memref.alloc() : memref<{n}x{n}xf32>
  %C = memref.alloc() : memref<{n}x{n}xf32>
  %cf0 = arith.constant 0.0 : f32
  %cf1 = arith.constant 1.0 : f32
  linalg.fill ins(%cf1 : f32) outs(%A : memref<{n}x{n}xf32>)
  linalg.fill ins(%cf1 : f32) outs(%B : memref<{n}x{n}xf32>)
  linalg.fill ins(%cf0 : f32) outs(%C : memref<{n}x{n}xf32>)
  linalg.matmul ins(%A, %B : memref<{n}x{n}xf32>, memref<{n}x{n}xf32>)
      outs(%C : memref<{n}x{n}xf32>)
  return %C : memref<{n}x{n}xf32>
}}
"""

# A tile that one thread is to compute, in a block of more.
NAIVE = """
!rows = memref<4x64xf32, strided<[64, 1], offset: ?>>
!columns = memref<64x4xf32, strided<[64, 1], offset: ?>>
!tile = memref<4x4xf32, strided<[64, 1], offset: ?>>
func.func @main(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {{
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %threads = arith.constant {threads} : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c16, %gy = %c16, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %threads, %sz = %c1) {{
    %i = affine.apply affine_map<(d) -> (d * 4)>(%bx)
    %j = affine.apply affine_map<(d) -> (d * 4)>(%by)
    %a = memref.subview %A[%i, 0] [4, 64] [1, 1] : memref<64x64xf32> to !rows
    %b = memref.subview %B[0, %j] [64, 4] [1, 1] : memref<64x64xf32> to !columns
    %c = memref.subview %C[%i, %j] [4, 4] [1, 1] : memref<64x64xf32> to !tile
    {body}
    gpu.terminator
  }}
  return
}}
"""
BODIES = {
    "structured": "linalg.matmul ins(%a, %b : !rows, !columns) outs(%c : !tile)",
    "loops": """affine.for %p = 0 to 4 { affine.for %q = 0 to 4 { affine.for %k = 0 to 64 {
      %x = memref.load %a[%p, %k] : !rows
      %y = memref.load %b[%k, %q] : !columns
      %z = memref.load %c[%p, %q] : !tile
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      memref.store %s, %c[%p, %q] : !tile
    } } }""",
}


@pytest.mark.parametrize("size", [64, 100])
def test_fills(size: int) -> None:
    """The program of the thread runs as its author wrote it, without a schedule."""
    pytest.importorskip("pipeline.schedules")
    module = pipeline.compile(FILLS.format(n=size))
    result = module.run(**EMULATED)
    np.testing.assert_array_equal(np.asarray(result), np.full((size, size), size, np.float32))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("sync", ["insert", "keep", "minimize"])
def test_naive_body(body: str, sync: Any) -> None:
    """Sixteen threads that all add to the same elements race, which is an error with the place."""
    with pytest.raises(pipeline.CompileError) as refused:
        pipeline.compile(NAIVE.format(threads=4, body=body), sync=sync)
    assert "global memory %arg2" in str(refused.value)
    assert "thread (1, 0, 0) writes what thread (0, 0, 0)" in str(refused.value)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_one_thread(body: str) -> None:
    """One thread is enough for it."""
    module = pipeline.compile(NAIVE.format(threads=1, body=body))
    generator = np.random.default_rng(3)
    a, b = (generator.integers(1, 9, (64, 64)).astype(np.float32) for _ in range(2))
    c = np.ones((64, 64), np.float32)
    expected = c + a @ b
    module.run(a, b, c, **EMULATED)
    np.testing.assert_array_equal(c, expected)
