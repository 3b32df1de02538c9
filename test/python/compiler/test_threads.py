"""What each thread does by itself, in kernels of many threads: right numbers and no races."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from support.launching import Array, Dim3, launch


def random(*shape: int) -> Array:
    """Return numbers of which no two are the same."""
    return np.random.default_rng(3).standard_normal(shape, dtype=np.float32)


def run(text: str, arguments: list[Array | int], block: Dim3) -> None:
    """Compile and run one block."""
    launch(pipeline.compile(text), arguments, grid=(1, 1, 1), block=block)


TILES = """\
#rows = affine_map<(d0) -> (d0 * 4)>
#columns = affine_map<(d0) -> (d0 * 8)>
gpu.module @kernels {
  gpu.func @tiles(%a: memref<32x8xf32>, %b: memref<8x64xf32>, %c: memref<32x64xf32>) kernel
      attributes {known_block_size = array<i32: 8, 8, 1>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %i = affine.apply #rows(%y)
    %j = affine.apply #columns(%x)
    %at = memref.subview %a[%i, 0] [4, 8] [1, 1]
        : memref<32x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    %bt = memref.subview %b[0, %j] [8, 8] [1, 1]
        : memref<8x64xf32> to memref<8x8xf32, strided<[64, 1], offset: ?>>
    %ct = memref.subview %c[%i, %j] [4, 8] [1, 1]
        : memref<32x64xf32> to memref<4x8xf32, strided<[64, 1], offset: ?>>
    linalg.matmul
        ins(%at, %bt : memref<4x8xf32, strided<[8, 1], offset: ?>>,
                       memref<8x8xf32, strided<[64, 1], offset: ?>>)
        outs(%ct : memref<4x8xf32, strided<[64, 1], offset: ?>>)
    gpu.return
  }
}
"""


def test_tile_per_thread() -> None:
    a, b, c = random(32, 8), random(8, 64), random(32, 64)
    expected = c + a @ b
    run(TILES, [a, b, c], (8, 8, 1))
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)


LAST_TILE = """\
#begin = affine_map<(d0) -> (d0 * 32)>
#size = affine_map<(d0) -> (d0 * -32 + 1000, 32)>
gpu.module @kernels {
  gpu.func @last_tile(%a: memref<1000xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 32, 4, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %y = gpu.thread_id y
    %first = arith.cmpi ult, %y, %c1 : index
    scf.if %first {
      %i = affine.apply #begin(%t)
      %n = affine.min #size(%t)
      %tile = memref.subview %a[%i] [%n] [1]
          : memref<1000xf32> to memref<?xf32, strided<[1], offset: ?>>
      linalg.fill ins(%x : f32) outs(%tile : memref<?xf32, strided<[1], offset: ?>>)
    }
    gpu.return
  }
}
"""


def test_last_tile() -> None:
    a = random(1000)
    run(LAST_TILE, [a, int(np.float32(7).view(np.uint32))], (32, 4, 1))
    np.testing.assert_array_equal(a, np.full(1000, 7, np.float32))


ROWS = """\
gpu.module @kernels {
  gpu.func @rows(%a: memref<3x4xf32>, %i: index, %j: index, %out: memref<3x4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true]}
        : memref<3x4xf32>, vector<3x4xf32>
    %row = vector.extract %x[%i] : vector<4xf32> from vector<3x4xf32>
    %element = vector.extract %x[%i, 1] : f32 from vector<3x4xf32>
    %y = vector.insert %row, %x[%j] : vector<4xf32> into vector<3x4xf32>
    %z = vector.insert %element, %y[%j, 2] : f32 into vector<3x4xf32>
    vector.transfer_write %z, %out[%c0, %c0] {in_bounds = [true, true]}
        : vector<3x4xf32>, memref<3x4xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("i", range(3))
@pytest.mark.parametrize("j", range(3))
def test_rows_at_dynamic_positions(i: int, j: int) -> None:
    a, out = random(3, 4), np.zeros((3, 4), np.float32)
    expected = a.copy()
    expected[j] = a[i]
    expected[j, 2] = a[i, 1]
    run(ROWS, [a, i, j, out], (1, 1, 1))
    np.testing.assert_array_equal(out, expected)
