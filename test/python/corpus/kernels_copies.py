"""Kernels whose copies and fills the compiler spreads over the block, with its own barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, eighths, function, module, normal
from support import programs
from support.examples import K_TILED

# Each block reverses the columns of its rows in place.
REVERSE = """\
#wg = #gpu.address_space<workgroup>
#rows = strided<[28, 1], offset: ?>
func.func @main(%a: memref<40x28xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c28 = arith.constant 28 : index
  %c20 = arith.constant 20 : index
  %c4 = arith.constant 4 : index
  %c27 = arith.constant 27 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c28, %ny = %c4, %nz = %c1) {
    %w = memref.alloc() : memref<20x28xf32, #wg>
    %first = arith.muli %bx, %c20 : index
    %rows = memref.subview %a[%first, 0] [20, 28] [1, 1]
        : memref<40x28xf32> to memref<20x28xf32, #rows>
    memref.copy %rows, %w : memref<20x28xf32, #rows> to memref<20x28xf32, #wg>
    scf.for %i = %ty to %c20 step %c4 {
      %j = arith.subi %c27, %tx : index
      %v = memref.load %w[%i, %j] : memref<20x28xf32, #wg>
      memref.store %v, %rows[%i, %tx] : memref<20x28xf32, #rows>
    }
    memref.dealloc %w : memref<20x28xf32, #wg>
    gpu.terminator
  }
  return
}
"""

# Ragged tiles in a padded buffer: what the copy leaves is what the fill wrote.
RAGGED = module(
    function(
        "ragged",
        "%a: memref<?x?xf32>, %b: memref<?x?xf32>, %pad: f32",
        """
    %m = memref.dim %a, %c0 : memref<?x?xf32>
    %n = memref.dim %a, %c1 : memref<?x?xf32>
    %w = memref.alloc() : memref<16x24xf32, #wg>
    %i = affine.apply affine_map<(b) -> (b * 16)>(%by)
    %height = affine.min affine_map<(b)[m] -> (16, m - b * 16)>(%by)[%m]
    scf.for %j = %c0 to %n step %c24 {
      %width = affine.min affine_map<(j)[n] -> (24, n - j)>(%j)[%n]
      linalg.fill ins(%pad : f32) outs(%w : memref<16x24xf32, #wg>)
      %from = memref.subview %a[%i, %j] [%height, %width] [1, 1]
          : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
      %into = memref.subview %w[0, 0] [%height, %width] [1, 1]
          : memref<16x24xf32, #wg> to memref<?x?xf32, strided<[24, 1]>, #wg>
      memref.copy %from, %into : memref<?x?xf32, strided<[?, 1], offset: ?>>
          to memref<?x?xf32, strided<[24, 1]>, #wg>
      %to = memref.subview %b[%i, %j] [16, 24] [1, 1]
          : memref<?x?xf32> to memref<16x24xf32, strided<[?, 1], offset: ?>>
      memref.copy %w, %to : memref<16x24xf32, #wg>
          to memref<16x24xf32, strided<[?, 1], offset: ?>>
    }
""",
    )
)


def expect_ragged(arguments: Sequence[Any]) -> dict[int, Array]:
    a, b, pad = arguments
    padded = [(0, full - size) for full, size in zip(b.shape, a.shape, strict=True)]
    return {1: np.pad(a, padded, constant_values=pad)}


# A transposing copy that converts from f16.
CONVERT = module(
    function(
        "convert",
        "%a: memref<20x36xf16>, %b: memref<36x20xf32>",
        """
    %w = memref.alloc() : memref<20x36xf16, #wg>
    %v = memref.alloc() : memref<36x20xf32, #wg>
    linalg.copy ins(%a : memref<20x36xf16>) outs(%w : memref<20x36xf16, #wg>)
    %t = memref.transpose %w (i, j) -> (j, i)
        : memref<20x36xf16, #wg> to memref<36x20xf16, strided<[1, 36]>, #wg>
    linalg.copy ins(%t : memref<36x20xf16, strided<[1, 36]>, #wg>)
        outs(%v : memref<36x20xf32, #wg>)
    memref.copy %v, %b : memref<36x20xf32, #wg> to memref<36x20xf32>
""",
        block=(96, 1, 1),
    )
)

# What the schedule of test/python/support/programs.py makes of a matmul: one thread for each block.
PROMOTED = programs.SCHEDULED

CASES = (
    Case(
        "copy and reverse",
        REVERSE,
        "main_kernel",
        grid=(2, 1, 1),
        block=(28, 4, 1),
        make=lambda rng: [normal(rng, (40, 28))],
        expect=lambda x: {0: x[0][:, ::-1]},
    ),
    Case(
        "ragged copies",
        RAGGED,
        "ragged",
        grid=(1, 2, 1),
        block=(24, 3, 1),
        make=lambda rng: [normal(rng, (27, 40)), normal(rng, (32, 48)), 0.75],
        expect=expect_ragged,
    ),
    Case(
        "converting copy",
        CONVERT,
        "convert",
        grid=(1, 1, 1),
        block=(96, 1, 1),
        make=lambda rng: [normal(rng, (20, 36), "f2"), normal(rng, (36, 20))],
        expect=lambda x: {1: x[0].T.astype(np.float32)},
    ),
    Case(
        "promoted matmul",
        PROMOTED,
        "main_kernel",
        grid=(4, 4, 1),
        block=(1, 1, 1),
        make=lambda rng: [eighths(rng, (64, 64)) for _ in range(3)],
        expect=lambda x: {2: x[2] + x[0] @ x[1]},
    ),
    # The same for blocks of 256 threads and tiles of 64x64, here with 32 columns at the end.
    Case(
        "K-tiled matmul",
        K_TILED.replace("1024x1024", "96x96"),
        "main_kernel",
        grid=(2, 2, 1),
        block=(16, 16, 1),
        make=lambda rng: [eighths(rng, (96, 96)) for _ in range(3)],
        expect=lambda x: {2: x[2] + x[0] @ x[1]},
    ),
)
