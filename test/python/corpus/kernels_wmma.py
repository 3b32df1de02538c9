"""Kernels on tensor cores by the wmma operations, and a whole matmul in stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, eighths, function, module, whole
from corpus.kernels_matrix import matrices, multiply

_A = '!gpu.mma_matrix<16x16xf16, "AOp">'
_B = '!gpu.mma_matrix<16x16xf16, "BOp">'
_C32 = '!gpu.mma_matrix<16x16xf32, "COp">'
_C16 = '!gpu.mma_matrix<16x16xf16, "COp">'


def typed(body: str) -> str:
    """Return `body` with the types of fragments."""
    types = {"%A": _A, "%B": _B, "%C32": _C32, "%C16": _C16, "%SA": "", "%SB": "", "%SC": ""}
    types["%SA"], types["%SB"] = _A.replace("f16", "si8"), _B.replace("f16", "si8")
    types["%SC"] = _C32.replace("f32", "i32")
    for name, kind in types.items():
        body = body.replace(f"<{name}>", kind)
    return body


# Two warps compute neighbouring tiles of max(C + A B, 0) / 2, operands from global memory.
GLOBAL = module(
    function(
        "wmma",
        "%a: memref<32x48xf16>, %b: memref<48x64xf16>, %c: memref<32x64xf32>",
        typed("""
    %warp = arith.divui %tx, %c32 : index
    %i = affine.apply affine_map<(b) -> (b * 16)>(%by)
    %j = affine.apply affine_map<(b, w) -> (b * 32 + w * 16)>(%bx, %warp)
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %first = gpu.subgroup_mma_load_matrix %c[%i, %j] {leadDimension = 64 : index}
        : memref<32x64xf32> -> <%C32>
    cf.br ^next(%c0, %first : index, <%C32>)
  ^next(%k: index, %sum: <%C32>):
    %more = arith.cmpi ult, %k, %c48 : index
    cf.cond_br %more, ^iteration, ^done
  ^iteration:
    %fa = gpu.subgroup_mma_load_matrix %a[%i, %k] {leadDimension = 48 : index}
        : memref<32x48xf16> -> <%A>
    %fb = gpu.subgroup_mma_load_matrix %b[%k, %j] {leadDimension = 64 : index}
        : memref<48x64xf16> -> <%B>
    %new = gpu.subgroup_mma_compute %fa, %fb, %sum : <%A>, <%B> -> <%C32>
    %after = arith.addi %k, %c16 : index
    cf.br ^next(%after, %new : index, <%C32>)
  ^done:
    %zeros = gpu.subgroup_mma_constant_matrix %zero : <%C32>
    %halves = gpu.subgroup_mma_constant_matrix %half : <%C32>
    %positive = gpu.subgroup_mma_elementwise maxf %sum, %zeros : (<%C32>, <%C32>) -> <%C32>
    %last = gpu.subgroup_mma_elementwise mulf %positive, %halves : (<%C32>, <%C32>) -> <%C32>
    gpu.subgroup_mma_store_matrix %last, %c[%i, %j] {leadDimension = 64 : index}
        : <%C32>, memref<32x64xf32>
"""),
        block=(64, 1, 1),
    )
)

# A transposed and B through workgroup memory, and the result too, in f16. Rows have to begin at
# multiples of 32 bytes.
SHARED = module(
    function(
        "wmma",
        "%a: memref<32x16xf16>, %b: memref<32x32xf16>, %c: memref<16x32xf16>",
        typed("""
    %warp = arith.divui %tx, %c32 : index
    %j = affine.apply affine_map<(w) -> (w * 16)>(%warp)
    %zero = arith.constant 0.0 : f16
    %zeros = gpu.subgroup_mma_constant_matrix %zero : <%C16>
    %row = arith.divui %tx, %c4 : index
    %column = affine.apply affine_map<(t) -> (t mod 4 * 4)>(%tx)
    %second = affine.apply affine_map<(c) -> (c + 16)>(%column)
    cf.br ^next(%c0, %zeros : index, <%C16>)
  ^next(%k: index, %sum: <%C16>):
    %more = arith.cmpi ult, %k, %c32 : index
    cf.cond_br %more, ^iteration, ^done
  ^iteration:
    %i = arith.addi %k, %row : index
    %va = vector.load %a[%i, %column] : memref<32x16xf16>, vector<4xf16>
    %vb = vector.load %b[%i, %column] : memref<32x32xf16>, vector<4xf16>
    %wb = vector.load %b[%i, %second] : memref<32x32xf16>, vector<4xf16>
    vector.store %va, %as[%row, %column] : memref<16x32xf16, #wg>, vector<4xf16>
    vector.store %vb, %bs[%row, %column] : memref<16x48xf16, #wg>, vector<4xf16>
    vector.store %wb, %bs[%row, %second] : memref<16x48xf16, #wg>, vector<4xf16>
    gpu.barrier
    %fa = gpu.subgroup_mma_load_matrix %as[%c0, %c0] {leadDimension = 32 : index, transpose}
        : memref<16x32xf16, #wg> -> <%A>
    %fb = gpu.subgroup_mma_load_matrix %bs[%c0, %j] {leadDimension = 48 : index}
        : memref<16x48xf16, #wg> -> <%B>
    %new = gpu.subgroup_mma_compute %fa, %fb, %sum {a_transpose} : <%A>, <%B> -> <%C16>
    gpu.barrier
    %after = arith.addi %k, %c16 : index
    cf.br ^next(%after, %new : index, <%C16>)
  ^done:
    gpu.subgroup_mma_store_matrix %sum, %bs[%c0, %j] {leadDimension = 48 : index}
        : <%C16>, memref<16x48xf16, #wg>
    gpu.barrier
    %x = vector.load %bs[%row, %column] : memref<16x48xf16, #wg>, vector<4xf16>
    %y = vector.load %bs[%row, %second] : memref<16x48xf16, #wg>, vector<4xf16>
    vector.store %x, %c[%row, %column] : memref<16x32xf16>, vector<4xf16>
    vector.store %y, %c[%row, %second] : memref<16x32xf16>, vector<4xf16>
"""),
        block=(64, 1, 1),
        buffers="%as: memref<16x32xf16, #wg> {llvm.align = 32 : i64},"
        " %bs: memref<16x48xf16, #wg> {llvm.align = 32 : i64}",
    )
)

INT8 = module(
    function(
        "wmma",
        "%a: memref<16x32xi8>, %b: memref<32x16xi8>, %c: memref<16x16xi32>",
        typed("""
    %first = gpu.subgroup_mma_load_matrix %c[%c0, %c0] {leadDimension = 16 : index}
        : memref<16x16xi32> -> <%SC>
    %a0 = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {leadDimension = 32 : index}
        : memref<16x32xi8> -> <%SA>
    %b0 = gpu.subgroup_mma_load_matrix %b[%c0, %c0] {leadDimension = 16 : index}
        : memref<32x16xi8> -> <%SB>
    %half = gpu.subgroup_mma_compute %a0, %b0, %first : <%SA>, <%SB> -> <%SC>
    %a1 = gpu.subgroup_mma_load_matrix %a[%c0, %c16] {leadDimension = 32 : index}
        : memref<16x32xi8> -> <%SA>
    %b1 = gpu.subgroup_mma_load_matrix %b[%c16, %c0] {leadDimension = 16 : index}
        : memref<32x16xi8> -> <%SB>
    %sum = gpu.subgroup_mma_compute %a1, %b1, %half : <%SA>, <%SB> -> <%SC>
    gpu.subgroup_mma_store_matrix %sum, %c[%c0, %c0] {leadDimension = 16 : index}
        : <%SC>, memref<16x16xi32>
"""),
        block=(32, 1, 1),
    )
)

# Blocks compute tiles of 32x32, each of four warps a tile of 16x16 of it. The first two warps copy
# the next 16 columns of A, the others the next 16 rows of B, into a ring of three slots.
STAGED = module(
    """\
  func.func private @issue(%a: memref<64x64xf16>, %b: memref<64x64xf16>,
      %as: memref<3x32x24xf16, #wg>, %bs: memref<3x16x40xf16, #wg>, %iteration: index) {
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %tx = gpu.thread_id x
    %slot = arith.remui %iteration, %c3 : index
    %is_live = arith.cmpi ult, %iteration, %c4 : index
    %is_first = arith.cmpi ult, %tx, %c64 : index
    scf.if %is_live {
      scf.if %is_first {
        %i = affine.apply affine_map<(t) -> (t floordiv 2)>(%tx)
        %j = affine.apply affine_map<(t) -> (t mod 2 * 8)>(%tx)
        %row = affine.apply affine_map<(b, i) -> (b * 32 + i)>(%by, %i)
        %column = affine.apply affine_map<(k, j) -> (k * 16 + j)>(%iteration, %j)
        %t = nvgpu.device_async_copy %a[%row, %column], %as[%slot, %i, %j], 8 {bypassL1}
            : memref<64x64xf16> to memref<3x32x24xf16, #wg>
      } else {
        %i = affine.apply affine_map<(t) -> (t floordiv 4 - 16)>(%tx)
        %j = affine.apply affine_map<(t) -> (t mod 4 * 8)>(%tx)
        %row = affine.apply affine_map<(k, i) -> (k * 16 + i)>(%iteration, %i)
        %column = affine.apply affine_map<(b, j) -> (b * 32 + j)>(%bx, %j)
        %t = nvgpu.device_async_copy %b[%row, %column], %bs[%slot, %i, %j], 8 {bypassL1}
            : memref<64x64xf16> to memref<3x16x40xf16, #wg>
      }
    }
    return
  }""",
    function(
        "staged",
        "%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>",
        """
    %lane = gpu.lane_id
    %warp = arith.divui %tx, %c32 : index
    %i = affine.apply affine_map<(w, l) -> (w floordiv 2 * 16 + l mod 16)>(%warp, %lane)
    %k = affine.apply affine_map<(l) -> (l floordiv 16 * 8)>(%lane)
    %l = arith.remui %lane, %c16 : index
    %j = affine.apply affine_map<(w, l) -> (w mod 2 * 16 + l floordiv 16 * 8)>(%warp, %lane)
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    func.call @issue(%a, %b, %as, %bs, %c0) : (memref<64x64xf16>, memref<64x64xf16>,
        memref<3x32x24xf16, #wg>, memref<3x16x40xf16, #wg>, index) -> ()
    %first = nvgpu.device_async_create_group {}
    func.call @issue(%a, %b, %as, %bs, %c1) : (memref<64x64xf16>, memref<64x64xf16>,
        memref<3x32x24xf16, #wg>, memref<3x16x40xf16, #wg>, index) -> ()
    %second = nvgpu.device_async_create_group {}
    %last:2 = scf.for %iteration = %c0 to %c4 step %c1 iter_args(%x = %zero, %y = %zero)
        -> (vector<2x2xf32>, vector<2x2xf32>) {
      nvgpu.device_async_wait %first {numGroups = 1 : i32}
      gpu.barrier
      %ahead = arith.addi %iteration, %c2 : index
      func.call @issue(%a, %b, %as, %bs, %ahead) : (memref<64x64xf16>, memref<64x64xf16>,
          memref<3x32x24xf16, #wg>, memref<3x16x40xf16, #wg>, index) -> ()
      %group = nvgpu.device_async_create_group {}
      %slot = arith.remui %iteration, %c3 : index
      %fa = nvgpu.ldmatrix %as[%slot, %i, %k] {numTiles = 4 : i32, transpose = false}
          : memref<3x32x24xf16, #wg> -> vector<4x2xf16>
      %fb = nvgpu.ldmatrix %bs[%slot, %l, %j] {numTiles = 4 : i32, transpose = true}
          : memref<3x16x40xf16, #wg> -> vector<4x2xf16>
      %left = vector.extract_strided_slice %fb {offsets = [0], sizes = [2], strides = [1]}
          : vector<4x2xf16> to vector<2x2xf16>
      %right = vector.extract_strided_slice %fb {offsets = [2], sizes = [2], strides = [1]}
          : vector<4x2xf16> to vector<2x2xf16>
      %u = nvgpu.mma.sync (%fa, %left, %x) {mmaShape = [16, 8, 16]}
          : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %v = nvgpu.mma.sync (%fa, %right, %y) {mmaShape = [16, 8, 16]}
          : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      scf.yield %u, %v : vector<2x2xf32>, vector<2x2xf32>
    }
    %r0 = affine.apply affine_map<(b, w, l) -> (b * 32 + w floordiv 2 * 16 + l floordiv 4)>
        (%by, %warp, %lane)
    %r1 = arith.addi %r0, %c8 : index
    %j0 = affine.apply affine_map<(b, w, l) -> (b * 32 + w mod 2 * 16 + l mod 4 * 2)>
        (%bx, %warp, %lane)
    %j1 = arith.addi %j0, %c8 : index
    %x0 = vector.extract %last#0[0] : vector<2xf32> from vector<2x2xf32>
    %x1 = vector.extract %last#0[1] : vector<2xf32> from vector<2x2xf32>
    %y0 = vector.extract %last#1[0] : vector<2xf32> from vector<2x2xf32>
    %y1 = vector.extract %last#1[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %x0, %c[%r0, %j0] : memref<64x64xf32>, vector<2xf32>
    vector.store %x1, %c[%r1, %j0] : memref<64x64xf32>, vector<2xf32>
    vector.store %y0, %c[%r0, %j1] : memref<64x64xf32>, vector<2xf32>
    vector.store %y1, %c[%r1, %j1] : memref<64x64xf32>, vector<2xf32>
""",
        block=(128, 1, 1),
        buffers="%as: memref<3x32x24xf16, #wg>, %bs: memref<3x16x40xf16, #wg>",
    ),
)


def product(x: Sequence[Any]) -> Array:
    """Return A B in double precision."""
    return np.asarray(x[0].astype(np.float64) @ x[1].astype(np.float64))


CASES = (
    Case(
        "wmma",
        GLOBAL,
        "wmma",
        grid=(2, 2, 1),
        block=(64, 1, 1),
        make=lambda rng: matrices(rng, 32, 64, 48),
        expect=lambda x: {2: np.maximum(multiply(x), 0) / 2},
    ),
    Case(
        "wmma in workgroup memory",
        SHARED,
        "wmma",
        grid=(1, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [eighths(rng, shape, "f2") for shape in ((32, 16), (32, 32), (16, 32))],
        expect=lambda x: {2: product((x[0].T, x[1]))},
        tolerance=1e-2,
    ),
    Case(
        "wmma s8",
        INT8,
        "wmma",
        grid=(1, 1, 1),
        block=(32, 1, 1),
        make=lambda rng: [
            (whole(rng, (16, 32)) * rng.choice([-1, 1], (16, 32))).astype("i1"),
            (whole(rng, (32, 16)) * rng.choice([-1, 1], (32, 16))).astype("i1"),
            whole(rng, (16, 16)),
        ],
        expect=lambda x: {2: x[2] + x[0].astype("i4") @ x[1].astype("i4")},
    ),
    Case(
        "staged matmul on tensor cores",
        STAGED,
        "staged",
        grid=(2, 2, 1),
        block=(128, 1, 1),
        make=lambda rng: matrices(rng, 64, 64, 64),
        expect=lambda x: {2: product(x)},
    ),
)
