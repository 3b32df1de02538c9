"""Kernels on tensor cores: fragments by ldmatrix or by hand, mma.sync, stmatrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import (
    Array,
    Case,
    eighths,
    from_bfloat,
    function,
    module,
    to_bfloat,
    whole,
)


def multiply(x: Sequence[Any]) -> Array:
    """Return C + A B in double precision."""
    return np.asarray(x[2] + x[0].astype(np.float64) @ x[1].astype(np.float64))


def matrices(
    rng: np.random.Generator, m: int, n: int, k: int, ab: str = "f2", c: str = "f4"
) -> list[Any]:
    """Return A, B and C."""
    return [eighths(rng, (m, k), ab), eighths(rng, (k, n), ab), eighths(rng, (m, n), c)]


# Where the lane's part of a 16x8 tile of C lies: rows %r0 and %r1, columns %j and the next.
_TILE = """
    %lane = gpu.lane_id
    %r0 = affine.apply affine_map<(b, l) -> (b * 16 + l floordiv 4)>(%by, %lane)
    %r1 = affine.apply affine_map<(b, l) -> (b * 16 + l floordiv 4 + 8)>(%by, %lane)
    %j = affine.apply affine_map<(b, l) -> (b * 8 + l mod 4 * 2)>(%bx, %lane)
"""
_LOAD = """
    %old0 = vector.load %c[%r0, %j] : CTYPE, vector<2xKIND>
    %old1 = vector.load %c[%r1, %j] : CTYPE, vector<2xKIND>
    %zero = arith.constant dense<0.0> : vector<2x2xKIND>
    %half = vector.insert %old0, %zero [0] : vector<2xKIND> into vector<2x2xKIND>
    %first = vector.insert %old1, %half [1] : vector<2xKIND> into vector<2x2xKIND>
"""
_STORE = """
    %new0 = vector.extract %last[0] : vector<2xKIND> from vector<2x2xKIND>
    %new1 = vector.extract %last[1] : vector<2xKIND> from vector<2x2xKIND>
    vector.store %new0, %c[%r0, %j] : CTYPE, vector<2xKIND>
    vector.store %new1, %c[%r1, %j] : CTYPE, vector<2xKIND>
"""


def frame(body: str, shape: str, kind: str) -> str:
    """Return `body` between the load and the store of a fragment of C."""
    text = _TILE + _LOAD + body + _STORE
    return text.replace("CTYPE", f"memref<{shape}x{kind}>").replace("KIND", kind)


def f16(kind: str) -> str:
    """Return a kernel with operands by ldmatrix, sums in `kind`."""
    body = """
    %row = arith.remui %lane, %c16 : index
    %column = affine.apply affine_map<(l) -> (l floordiv 16 * 8)>(%lane)
    // Another row than the one that this lane's ldmatrix begins with.
    %turned = affine.apply affine_map<(r) -> (15 - r)>(%row)
    %ga = affine.apply affine_map<(b, r) -> (b * 16 + r)>(%by, %turned)
    %jb = affine.apply affine_map<(b) -> (b * 8)>(%bx)
    %last = scf.for %k = %c0 to %c48 step %c16 iter_args(%sum = %first) -> vector<2x2xKIND> {
      %ka = arith.addi %k, %column : index
      %va = vector.load %a[%ga, %ka] : memref<32x48xf16>, vector<8xf16>
      vector.store %va, %as[%turned, %column] : memref<16x24xf16, #wg>, vector<8xf16>
      %is_low = arith.cmpi ult, %lane, %c16 : index
      scf.if %is_low {
        %kb = arith.addi %k, %turned : index
        %vb = vector.load %b[%kb, %jb] : memref<48x24xf16>, vector<8xf16>
        vector.store %vb, %bs[%turned, %c0] : memref<16x8xf16, #wg>, vector<8xf16>
      }
      gpu.barrier
      %fa = nvgpu.ldmatrix %as[%row, %column] {numTiles = 4 : i32, transpose = false}
          : memref<16x24xf16, #wg> -> vector<4x2xf16>
      %fb = nvgpu.ldmatrix %bs[%row, %c0] {numTiles = 2 : i32, transpose = true}
          : memref<16x8xf16, #wg> -> vector<2x2xf16>
      %new = nvgpu.mma.sync (%fa, %fb, %sum) {mmaShape = [16, 8, 16]}
          : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xKIND>) -> vector<2x2xKIND>
      gpu.barrier
      scf.yield %new : vector<2x2xKIND>
    }
"""
    return module(
        function(
            "mma",
            f"%a: memref<32x48xf16>, %b: memref<48x24xf16>, %c: memref<32x24x{kind}>",
            frame(body, "32x24", kind),
            block=(32, 1, 1),
            buffers="%as: memref<16x24xf16, #wg>, %bs: memref<16x8xf16, #wg>",
        )
    )


# A by ldmatrix of numbers of 32 bits, B by hand.
TF32 = module(
    function(
        "tf32",
        "%a: memref<32x24xf32>, %b: memref<24x16xf32>, %c: memref<32x16xf32>",
        frame(
            """
    %bs = arith.constant dense<0.0> : vector<2x1xf32>
    %row = arith.remui %lane, %c16 : index
    %column = affine.apply affine_map<(l) -> (l floordiv 16 * 4)>(%lane)
    %turned = affine.apply affine_map<(r) -> (15 - r)>(%row)
    %ga = affine.apply affine_map<(b, r) -> (b * 16 + r)>(%by, %turned)
    %jb = affine.apply affine_map<(b, l) -> (b * 8 + l floordiv 4)>(%bx, %lane)
    %last = scf.for %k = %c0 to %c24 step %c8 iter_args(%sum = %first) -> vector<2x2xf32> {
      %ka = arith.addi %k, %column : index
      %va = vector.load %a[%ga, %ka] : memref<32x24xf32>, vector<4xf32>
      vector.store %va, %as[%turned, %column] : memref<16x12xf32, #wg>, vector<4xf32>
      gpu.barrier
      %fa = nvgpu.ldmatrix %as[%row, %column] {numTiles = 4 : i32, transpose = false}
          : memref<16x12xf32, #wg> -> vector<4x1xf32>
      %k0 = affine.apply affine_map<(k, l) -> (k + l mod 4)>(%k, %lane)
      %k1 = affine.apply affine_map<(k, l) -> (k + l mod 4 + 4)>(%k, %lane)
      %b0 = memref.load %b[%k0, %jb] : memref<24x16xf32>
      %b1 = memref.load %b[%k1, %jb] : memref<24x16xf32>
      %part = vector.insert %b0, %bs [0, 0] : f32 into vector<2x1xf32>
      %fb = vector.insert %b1, %part [1, 0] : f32 into vector<2x1xf32>
      %new = nvgpu.mma.sync (%fa, %fb, %sum) {mmaShape = [16, 8, 8], tf32Enabled}
          : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.barrier
      scf.yield %new : vector<2x2xf32>
    }
""",
            "32x16",
            "f32",
        ),
        block=(32, 1, 1),
        buffers="%as: memref<16x12xf32, #wg>",
    )
)

# Both warps of a block multiply the same rows of A by different columns of B, which is stored
# column by column.
INT8 = module(
    function(
        "int8",
        "%a: memref<16x64xi8>, %b: memref<16x64xi8>, %c: memref<16x16xi32>",
        """
    %lane = gpu.lane_id
    %warp = arith.divui %tx, %c32 : index
    %row = arith.remui %lane, %c16 : index
    %column = affine.apply affine_map<(l) -> (l floordiv 16 * 16)>(%lane)
    %r0 = affine.apply affine_map<(l) -> (l floordiv 4)>(%lane)
    %r1 = affine.apply affine_map<(l) -> (l floordiv 4 + 8)>(%lane)
    %j = affine.apply affine_map<(w, l) -> (w * 8 + l mod 4 * 2)>(%warp, %lane)
    %jb = affine.apply affine_map<(w, l) -> (w * 8 + l floordiv 4)>(%warp, %lane)
    // The first warp copies the low half of each row, the second one the other half.
    %ka = affine.apply affine_map<(w, x) -> (w * 32 + x)>(%warp, %column)
    %va = vector.load %a[%row, %ka] : memref<16x64xi8>, vector<16xi8>
    vector.store %va, %as[%row, %ka] : memref<16x64xi8, #wg>, vector<16xi8>
    gpu.barrier
    %bs = arith.constant dense<0> : vector<2x4xi8>
    %first = arith.constant dense<0> : vector<2x2xi32>
    %last = scf.for %k = %c0 to %c64 step %c32 iter_args(%sum = %first) -> vector<2x2xi32> {
      %kl = arith.addi %k, %column : index
      %fa = nvgpu.ldmatrix %as[%row, %kl] {numTiles = 4 : i32, transpose = false}
          : memref<16x64xi8, #wg> -> vector<4x4xi8>
      %k0 = affine.apply affine_map<(k, l) -> (k + l mod 4 * 4)>(%k, %lane)
      %k1 = affine.apply affine_map<(k, l) -> (k + l mod 4 * 4 + 16)>(%k, %lane)
      %b0 = vector.load %b[%jb, %k0] : memref<16x64xi8>, vector<4xi8>
      %b1 = vector.load %b[%jb, %k1] : memref<16x64xi8>, vector<4xi8>
      %part = vector.insert %b0, %bs [0] : vector<4xi8> into vector<2x4xi8>
      %fb = vector.insert %b1, %part [1] : vector<4xi8> into vector<2x4xi8>
      %new = nvgpu.mma.sync (%fa, %fb, %sum) {mmaShape = [16, 8, 32]}
          : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
      scf.yield %new : vector<2x2xi32>
    }
    %new0 = vector.extract %last[0] : vector<2xi32> from vector<2x2xi32>
    %new1 = vector.extract %last[1] : vector<2xi32> from vector<2x2xi32>
    vector.store %new0, %c[%r0, %j] : memref<16x16xi32>, vector<2xi32>
    vector.store %new1, %c[%r1, %j] : memref<16x16xi32>, vector<2xi32>
""",
        block=(64, 1, 1),
        buffers="%as: memref<16x64xi8, #wg>",
    )
)

F64 = module(
    function(
        "f64",
        "%a: memref<16x12xf64>, %b: memref<12x24xf64>, %c: memref<16x24xf64>",
        """
    %lane = gpu.lane_id
    %i = affine.apply affine_map<(b, l) -> (b * 8 + l floordiv 4)>(%by, %lane)
    %jb = affine.apply affine_map<(b, l) -> (b * 8 + l floordiv 4)>(%bx, %lane)
    %j = affine.apply affine_map<(b, l) -> (b * 8 + l mod 4 * 2)>(%bx, %lane)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %empty = arith.constant dense<0.0> : vector<1x1xf64>
    %old = vector.load %c[%i, %j] : memref<16x24xf64>, vector<2xf64>
    %first = vector.insert %old, %zero [0] : vector<2xf64> into vector<1x2xf64>
    %last = scf.for %k = %c0 to %c12 step %c4 iter_args(%sum = %first) -> vector<1x2xf64> {
      %kl = affine.apply affine_map<(k, l) -> (k + l mod 4)>(%k, %lane)
      %va = memref.load %a[%i, %kl] : memref<16x12xf64>
      %vb = memref.load %b[%kl, %jb] : memref<12x24xf64>
      %fa = vector.insert %va, %empty [0, 0] : f64 into vector<1x1xf64>
      %fb = vector.insert %vb, %empty [0, 0] : f64 into vector<1x1xf64>
      %new = nvgpu.mma.sync (%fa, %fb, %sum) {mmaShape = [8, 8, 4]}
          : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
      scf.yield %new : vector<1x2xf64>
    }
    %new = vector.extract %last[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %new, %c[%i, %j] : memref<16x24xf64>, vector<2xf64>
""",
        block=(32, 1, 1),
    )
)


def _pair(name: str, buffer: str, row: str, column: str, kind: str) -> str:
    """Return the load of two numbers into a register of 32 bits."""
    return f"""
    %{name}_pair = vector.load %{buffer}[%{row}, %{column}] : {kind}, vector<2xbf16>
    %{name}_bits = vector.bitcast %{name}_pair : vector<2xbf16> to vector<1xi32>
    %{name} = vector.extract %{name}_bits[0] : i32 from vector<1xi32>"""


# B is stored column by column, C + A B to the lower, A B to the upper half of the result.
BF16 = module(
    function(
        "bf16",
        "%a: memref<16x16xbf16>, %b: memref<8x16xbf16>, %c: memref<16x8xf32>",
        """
    %lane = gpu.lane_id
    %r0 = affine.apply affine_map<(l) -> (l floordiv 4)>(%lane)
    %r1 = affine.apply affine_map<(l) -> (l floordiv 4 + 8)>(%lane)
    %j0 = affine.apply affine_map<(l) -> (l mod 4 * 2)>(%lane)
    %j1 = affine.apply affine_map<(l) -> (l mod 4 * 2 + 1)>(%lane)
    %k1 = affine.apply affine_map<(l) -> (l mod 4 * 2 + 8)>(%lane)
    %zero = arith.constant 0.0 : f32
    %s2 = memref.load %c[%r1, %j0] : memref<16x8xf32>
    %s3 = memref.load %c[%r1, %j1] : memref<16x8xf32>"""
        + _pair("a0", "a", "r0", "j0", "memref<16x16xbf16>")
        + _pair("a1", "a", "r1", "j0", "memref<16x16xbf16>")
        + _pair("a2", "a", "r0", "k1", "memref<16x16xbf16>")
        + _pair("a3", "a", "r1", "k1", "memref<16x16xbf16>")
        + _pair("b0", "b", "r0", "j0", "memref<8x16xbf16>")
        + _pair("b1", "b", "r0", "k1", "memref<8x16xbf16>")
        + """
    %d = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%zero, %zero, %s2, %s3]
        {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
         multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>,
         shape = #nvvm.shape<m = 16, n = 8, k = 16>}
        : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
    memref.store %d0, %c[%r0, %j0] : memref<16x8xf32>
    memref.store %d1, %c[%r0, %j1] : memref<16x8xf32>
    memref.store %d2, %c[%r1, %j0] : memref<16x8xf32>
    memref.store %d3, %c[%r1, %j1] : memref<16x8xf32>
""",
        block=(32, 1, 1),
    )
)


def expect_bf16(arguments: Sequence[Any]) -> dict[int, Array]:
    a, b = (from_bfloat(x).astype(np.float64) for x in arguments[:2])
    product = a @ b.T
    product[8:] += arguments[2][8:]
    return {2: product}


# The product goes to workgroup memory by stmatrix, once as it is and once transposed.
STMATRIX = module(
    function(
        "store",
        "%a: memref<16x8xf16>, %b: memref<8x8xf16>, %c: memref<16x8xf16>, %d: memref<16x8xf16>",
        """
    %lane = gpu.lane_id
    %r0 = affine.apply affine_map<(l) -> (l floordiv 4)>(%lane)
    %r1 = affine.apply affine_map<(l) -> (l floordiv 4 + 8)>(%lane)
    %k = affine.apply affine_map<(l) -> (l mod 4 * 2)>(%lane)
    %as = arith.constant dense<0.0> : vector<2x2xf16>
    %bs = arith.constant dense<0.0> : vector<1x2xf16>
    %a0 = vector.load %a[%r0, %k] : memref<16x8xf16>, vector<2xf16>
    %a1 = vector.load %a[%r1, %k] : memref<16x8xf16>, vector<2xf16>
    // Row n of %b is column n of the operand.
    %b0 = vector.load %b[%r0, %k] : memref<8x8xf16>, vector<2xf16>
    %part = vector.insert %a0, %as [0] : vector<2xf16> into vector<2x2xf16>
    %fa = vector.insert %a1, %part [1] : vector<2xf16> into vector<2x2xf16>
    %fb = vector.insert %b0, %bs [0] : vector<2xf16> into vector<1x2xf16>
    %fc = nvgpu.mma.sync (%fa, %fb, %as) {mmaShape = [16, 8, 8]}
        : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
    %bits = vector.bitcast %fc : vector<2x2xf16> to vector<2x1xi32>
    %v0 = vector.extract %bits[0, 0] : i32 from vector<2x1xi32>
    %v1 = vector.extract %bits[1, 0] : i32 from vector<2x1xi32>
    %base = memref.extract_aligned_pointer_as_index %w : memref<16x8xf16, #wg> -> index
    %place = affine.apply affine_map<(l)[base] -> (base + l mod 16 * 16)>(%lane)[%base]
    %address = arith.index_cast %place : index to i64
    %pointer = llvm.inttoptr %address : i64 to !llvm.ptr<3>
    nvvm.stmatrix %pointer, %v0, %v1 {layout = #nvvm.mma_layout<row>,
        shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>,
        eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32
    gpu.barrier
    %half = arith.divui %tx, %c2 : index
    %column = affine.apply affine_map<(t) -> (t mod 2 * 4)>(%tx)
    %x = vector.load %w[%half, %column] : memref<16x8xf16, #wg>, vector<4xf16>
    vector.store %x, %c[%half, %column] : memref<16x8xf16>, vector<4xf16>
    gpu.barrier
    nvvm.stmatrix %pointer, %v0, %v1 {layout = #nvvm.mma_layout<col>,
        shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>,
        eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32
    gpu.barrier
    %y = vector.load %w[%half, %column] : memref<16x8xf16, #wg>, vector<4xf16>
    vector.store %y, %d[%half, %column] : memref<16x8xf16>, vector<4xf16>
""",
        block=(32, 1, 1),
        buffers="%w: memref<16x8xf16, #wg>",
    )
)


def expect_stored(arguments: Sequence[Any]) -> dict[int, Array]:
    product = arguments[0].astype(np.float64) @ arguments[1].astype(np.float64).T
    return {2: product, 3: np.vstack([product[:8].T, product[8:].T])}


CASES = (
    Case(
        "mma f16 to f32",
        f16("f32"),
        "mma",
        grid=(3, 2, 1),
        block=(32, 1, 1),
        make=lambda rng: matrices(rng, 32, 24, 48),
        expect=lambda x: {2: multiply(x)},
    ),
    Case(
        "mma f16 to f16",
        f16("f16"),
        "mma",
        grid=(3, 2, 1),
        block=(32, 1, 1),
        make=lambda rng: matrices(rng, 32, 24, 48, c="f2"),
        expect=lambda x: {2: multiply(x)},
        tolerance=1e-2,
    ),
    Case(
        "mma tf32",
        TF32,
        "tf32",
        grid=(2, 2, 1),
        block=(32, 1, 1),
        make=lambda rng: matrices(rng, 32, 16, 24, "f4"),
        expect=lambda x: {2: multiply(x)},
    ),
    Case(
        "mma s8",
        INT8,
        "int8",
        grid=(1, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [
            *((whole(rng, (16, 64)) * rng.choice([-1, 1], (16, 64))).astype("i1") for _ in "ab"),
            whole(rng, (16, 16)),
        ],
        expect=lambda x: {2: x[0].astype("i4") @ x[1].astype("i4").T},
    ),
    Case(
        "mma f64",
        F64,
        "f64",
        grid=(3, 2, 1),
        block=(32, 1, 1),
        make=lambda rng: matrices(rng, 16, 24, 12, "f8", "f8"),
        expect=lambda x: {2: multiply(x)},
    ),
    Case(
        "mma bf16",
        BF16,
        "bf16",
        grid=(1, 1, 1),
        block=(32, 1, 1),
        make=lambda rng: [
            to_bfloat(eighths(rng, (16, 16))),
            to_bfloat(eighths(rng, (8, 16))),
            eighths(rng, (16, 8)),
        ],
        expect=expect_bf16,
    ),
    Case(
        "stmatrix",
        STMATRIX,
        "store",
        grid=(1, 1, 1),
        block=(32, 1, 1),
        make=lambda rng: [
            eighths(rng, shape, "f2") for shape in ((16, 8), (8, 8), (16, 8), (16, 8))
        ],
        expect=expect_stored,
        tolerance=1e-2,
        chip="sm_90",
    ),
)
