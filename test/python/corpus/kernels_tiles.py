"""Kernels that share tiles of matrices and vectors through workgroup memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, eighths, function, module, normal

MATMUL = module(
    function(
        "matmul",
        "%a: memref<48x80xf32>, %b: memref<80x64xf32>, %c: memref<48x64xf32>",
        """
    %zero = arith.constant 0.0 : f32
    %i = affine.apply affine_map<(b, t) -> (b * 16 + t)>(%by, %ty)
    %j = affine.apply affine_map<(b, t) -> (b * 16 + t)>(%bx, %tx)
    %all = scf.for %k = %c0 to %c80 step %c16 iter_args(%sum = %zero) -> f32 {
      %ka = arith.addi %k, %tx : index
      %va = memref.load %a[%i, %ka] : memref<48x80xf32>
      memref.store %va, %as[%ty, %tx] : memref<16x16xf32, #wg>
      %kb = arith.addi %k, %ty : index
      %vb = memref.load %b[%kb, %j] : memref<80x64xf32>
      memref.store %vb, %bs[%ty, %tx] : memref<16x16xf32, #wg>
      gpu.barrier
      %part = scf.for %l = %c0 to %c16 step %c1 iter_args(%old = %sum) -> f32 {
        %x = memref.load %as[%ty, %l] : memref<16x16xf32, #wg>
        %y = memref.load %bs[%l, %tx] : memref<16x16xf32, #wg>
        %xy = arith.mulf %x, %y : f32
        %new = arith.addf %old, %xy : f32
        scf.yield %new : f32
      }
      gpu.barrier
      scf.yield %part : f32
    }
    memref.store %all, %c[%i, %j] : memref<48x64xf32>
""",
        block=(16, 16, 1),
        buffers="%as: memref<16x16xf32, #wg>, %bs: memref<16x16xf32, #wg>",
    )
)

# Elements outside of the matrices are zero in workgroup memory.
MATMUL_DYNAMIC = module(
    function(
        "matmul",
        "%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>",
        """
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf32>
    %depth = memref.dim %a, %c1 : memref<?x?xf32>
    %n = memref.dim %b, %c1 : memref<?x?xf32>
    %as = memref.alloc() : memref<16x16xf32, #wg>
    %bs = memref.alloc() : memref<16x16xf32, #wg>
    %i = affine.apply affine_map<(b, t) -> (b * 16 + t)>(%by, %ty)
    %j = affine.apply affine_map<(b, t) -> (b * 16 + t)>(%bx, %tx)
    %i_in = arith.cmpi ult, %i, %m : index
    %j_in = arith.cmpi ult, %j, %n : index
    %all = scf.for %k = %c0 to %depth step %c16 iter_args(%sum = %zero) -> f32 {
      %ka = arith.addi %k, %tx : index
      %ka_in = arith.cmpi ult, %ka, %depth : index
      %a_in = arith.andi %i_in, %ka_in : i1
      %va = scf.if %a_in -> f32 {
        %v = memref.load %a[%i, %ka] : memref<?x?xf32>
        scf.yield %v : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %va, %as[%ty, %tx] : memref<16x16xf32, #wg>
      %kb = arith.addi %k, %ty : index
      %kb_in = arith.cmpi ult, %kb, %depth : index
      %b_in = arith.andi %kb_in, %j_in : i1
      %vb = scf.if %b_in -> f32 {
        %v = memref.load %b[%kb, %j] : memref<?x?xf32>
        scf.yield %v : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %vb, %bs[%ty, %tx] : memref<16x16xf32, #wg>
      gpu.barrier
      %part = scf.for %l = %c0 to %c16 step %c1 iter_args(%old = %sum) -> f32 {
        %x = memref.load %as[%ty, %l] : memref<16x16xf32, #wg>
        %y = memref.load %bs[%l, %tx] : memref<16x16xf32, #wg>
        %new = math.fma %x, %y, %old : f32
        scf.yield %new : f32
      }
      gpu.barrier
      scf.yield %part : f32
    }
    %c_in = arith.andi %i_in, %j_in : i1
    scf.if %c_in {
      memref.store %all, %c[%i, %j] : memref<?x?xf32>
    }
""",
    )
)


def multiply(a: Array, b: Array) -> Array:
    """Return the product of two matrices."""
    return np.asarray(a.astype(np.float64) @ b.astype(np.float64))


def make_matmul(rng: np.random.Generator, m: int, n: int, k: int) -> list[Any]:
    """Return matrices whose product is exact in any order."""
    return [eighths(rng, (m, k)), eighths(rng, (k, n)), eighths(rng, (m, n))]


TRANSPOSE = module(
    function(
        "transpose",
        "%a: memref<70x45xf32>, %b: memref<45x70xf32>",
        """
    %ca = affine.apply affine_map<(b, t) -> (b * 32 + t)>(%bx, %tx)
    %ca_in = arith.cmpi ult, %ca, %c45 : index
    scf.for %r = %ty to %c32 step %c8 {
      %i = affine.apply affine_map<(b, r) -> (b * 32 + r)>(%by, %r)
      %i_in = arith.cmpi ult, %i, %c70 : index
      %in = arith.andi %i_in, %ca_in : i1
      scf.if %in {
        %v = memref.load %a[%i, %ca] : memref<70x45xf32>
        memref.store %v, %tile[%r, %tx] : memref<32x33xf32, #wg>
      }
    }
    gpu.barrier
    %cb = affine.apply affine_map<(b, t) -> (b * 32 + t)>(%by, %tx)
    %cb_in = arith.cmpi ult, %cb, %c70 : index
    scf.for %r = %ty to %c32 step %c8 {
      %i = affine.apply affine_map<(b, r) -> (b * 32 + r)>(%bx, %r)
      %i_in = arith.cmpi ult, %i, %c45 : index
      %in = arith.andi %i_in, %cb_in : i1
      scf.if %in {
        %v = memref.load %tile[%tx, %r] : memref<32x33xf32, #wg>
        memref.store %v, %b[%i, %cb] : memref<45x70xf32>
      }
    }
""",
        block=(32, 8, 1),
        buffers="%tile: memref<32x33xf32, #wg>",
    )
)

# One block transposes a row of tiles, so that its buffer is used again.
TRANSPOSE_ROW = module(
    function(
        "transpose_row",
        "%a: memref<32x48xi16>, %b: memref<48x32xi16>",
        """
    %i = affine.apply affine_map<(b, t) -> (b * 16 + t)>(%by, %ty)
    %ib = affine.apply affine_map<(b, t) -> (b * 16 + t)>(%by, %tx)
    %w = memref.get_global @tile : memref<16x17xi16, #wg>
    scf.for %k = %c0 to %c48 step %c16 {
      %j = arith.addi %k, %tx : index
      %v = memref.load %a[%i, %j] : memref<32x48xi16>
      memref.store %v, %w[%ty, %tx] : memref<16x17xi16, #wg>
      gpu.barrier
      %jb = arith.addi %k, %ty : index
      %vb = memref.load %w[%tx, %ty] : memref<16x17xi16, #wg>
      memref.store %vb, %b[%jb, %ib] : memref<48x32xi16>
      gpu.barrier
    }
""",
        block=(16, 16, 1),
    ),
    '  memref.global "private" @tile : memref<16x17xi16, #wg> = uninitialized',
)

STENCIL = module(
    function(
        "stencil",
        "%a: memref<?xf32>, %b: memref<?xf32>",
        """
    %zero = arith.constant 0.0 : f32
    %quarter = arith.constant 0.25 : f32
    %n = memref.dim %a, %c0 : memref<?xf32>
    %i = affine.apply affine_map<(b, t) -> (b * 128 + t)>(%bx, %tx)
    // Element p of the buffer holds number first + p, zero outside of the array.
    scf.for %p = %tx to %c132 step %c128 {
      %at = affine.apply affine_map<(b, p) -> (b * 128 + p - 2)>(%bx, %p)
      %in = arith.cmpi ult, %at, %n : index
      %v = scf.if %in -> f32 {
        %v = memref.load %a[%at] : memref<?xf32>
        scf.yield %v : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %v, %w[%p] : memref<132xf32, #wg>
    }
    gpu.barrier
    %sum = scf.for %d = %c0 to %c5 step %c1 iter_args(%old = %zero) -> f32 {
      %p = arith.addi %tx, %d : index
      %v = memref.load %w[%p] : memref<132xf32, #wg>
      %new = arith.addf %old, %v : f32
      scf.yield %new : f32
    }
    %mean = arith.mulf %sum, %quarter : f32
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      memref.store %mean, %b[%i] : memref<?xf32>
    }
""",
        block=(128, 1, 1),
        buffers="%w: memref<132xf32, #wg>",
    )
)


def expect_stencil(arguments: Sequence[Any]) -> dict[int, Array]:
    padded = np.pad(arguments[0], 2)
    size = arguments[0].size
    windows = np.stack([padded[i : i + size] for i in range(5)])
    return {1: windows.sum(axis=0) / 4}


# A heat equation in workgroup memory: two buffers, one barrier for each step.
STEPS = module(
    function(
        "steps",
        "%a: memref<3x96xf32>, %count: index",
        """
    %half = arith.constant 0.5 : f32
    %quarter = arith.constant 0.25 : f32
    %w = memref.alloc() : memref<2x96xf32, #wg>
    %left = affine.apply affine_map<(t) -> ((t + 95) mod 96)>(%tx)
    %right = affine.apply affine_map<(t) -> ((t + 1) mod 96)>(%tx)
    %first = memref.load %a[%bx, %tx] : memref<3x96xf32>
    %last = scf.for %i = %c0 to %count step %c1 iter_args(%v = %first) -> f32 {
      %slot = arith.remui %i, %c2 : index
      memref.store %v, %w[%slot, %tx] : memref<2x96xf32, #wg>
      gpu.barrier
      %l = memref.load %w[%slot, %left] : memref<2x96xf32, #wg>
      %r = memref.load %w[%slot, %right] : memref<2x96xf32, #wg>
      %sum = arith.addf %l, %r : f32
      %x = arith.mulf %sum, %quarter : f32
      %y = arith.mulf %v, %half : f32
      %new = arith.addf %x, %y : f32
      scf.yield %new : f32
    }
    memref.store %last, %a[%bx, %tx] : memref<3x96xf32>
""",
        block=(96, 1, 1),
    )
)


def expect_steps(arguments: Sequence[Any]) -> dict[int, Array]:
    values = arguments[0].astype(np.float64)
    for _ in range(arguments[1]):
        neighbours = np.roll(values, 1, axis=1) + np.roll(values, -1, axis=1)
        values = neighbours / 4 + values / 2
    return {0: values}


CASES = (
    Case(
        "matmul",
        MATMUL,
        "matmul",
        grid=(4, 3, 1),
        block=(16, 16, 1),
        make=lambda rng: make_matmul(rng, 48, 64, 80),
        expect=lambda x: {2: multiply(x[0], x[1])},
    ),
    Case(
        "matmul of dynamic extents",
        MATMUL_DYNAMIC,
        "matmul",
        grid=(4, 3, 1),
        block=(16, 16, 1),
        make=lambda rng: make_matmul(rng, 37, 51, 29),
        expect=lambda x: {2: multiply(x[0], x[1])},
    ),
    Case(
        "transpose",
        TRANSPOSE,
        "transpose",
        grid=(2, 3, 1),
        block=(32, 8, 1),
        make=lambda rng: [normal(rng, (70, 45)), normal(rng, (45, 70))],
        expect=lambda x: {1: x[0].T},
    ),
    Case(
        "transpose of a row of tiles",
        TRANSPOSE_ROW,
        "transpose_row",
        grid=(1, 2, 1),
        block=(16, 16, 1),
        make=lambda rng: [
            rng.integers(1, 2**15, (32, 48)).astype(np.int16),
            rng.integers(1, 2**15, (48, 32)).astype(np.int16),
        ],
        expect=lambda x: {1: x[0].T},
    ),
    Case(
        "stencil",
        STENCIL,
        "stencil",
        grid=(8, 1, 1),
        block=(128, 1, 1),
        make=lambda rng: [eighths(rng, 1000), eighths(rng, 1000)],
        expect=expect_stencil,
    ),
    Case(
        "steps in two buffers",
        STEPS,
        "steps",
        grid=(3, 1, 1),
        block=(96, 1, 1),
        make=lambda rng: [normal(rng, (3, 96)), 7],
        expect=expect_steps,
        tolerance=1e-5,
    ),
)
