"""Kernels that reach memory in unusual ways: dynamic, strided, by vectors, by bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, function, module, normal, positive, whole

# Two views of dynamic memory: rows are summed in f64, columns shifted in f32.
DYNAMIC = module(
    function(
        "dynamic",
        "%a: memref<?x?xf32>, %b: memref<?x?xf32>",
        """
    %n = memref.dim %a, %c1 : memref<?x?xf32>
    %all = gpu.dynamic_shared_memory : memref<?xi8, #wg>
    %end = arith.muli %n, %c4 : index
    %bytes = affine.apply affine_map<()[n] -> ((n * 4) ceildiv 16 * 16)>()[%n]
    %row = memref.view %all[%c0][%n] : memref<?xi8, #wg> to memref<?xf32, #wg>
    %sum = memref.view %all[%bytes][] : memref<?xi8, #wg> to memref<1xf64, #wg>
    %x = memref.load %a[%bx, %tx] : memref<?x?xf32>
    memref.store %x, %row[%tx] : memref<?xf32, #wg>
    gpu.barrier
    %is_first = arith.cmpi eq, %tx, %c0 : index
    scf.if %is_first {
      %zero = arith.constant 0.0 : f64
      %total = scf.for %i = %c0 to %n step %c1 iter_args(%old = %zero) -> f64 {
        %v = memref.load %row[%i] : memref<?xf32, #wg>
        %wide = arith.extf %v : f32 to f64
        %new = arith.addf %old, %wide : f64
        scf.yield %new : f64
      }
      memref.store %total, %sum[%c0] : memref<1xf64, #wg>
    }
    gpu.barrier
    %total = memref.load %sum[%c0] : memref<1xf64, #wg>
    %divisor = arith.truncf %total : f64 to f32
    %last = arith.subi %n, %c1 : index
    %other = arith.subi %last, %tx : index
    %y = memref.load %row[%other] : memref<?xf32, #wg>
    %z = arith.divf %y, %divisor : f32
    memref.store %z, %b[%bx, %tx] : memref<?x?xf32>
""",
    )
)


def expect_dynamic(arguments: Sequence[Any]) -> dict[int, Array]:
    a = arguments[0].astype(np.float64)
    return {1: a[:, ::-1] / a.sum(axis=1, keepdims=True)}


STRIDED = module(
    function(
        "strided",
        "%a: memref<?x?xf32, strided<[?, 1], offset: ?>>,"
        " %b: memref<?x?xf32, strided<[?, ?], offset: ?>>",
        """
    %m = memref.dim %a, %c0 : memref<?x?xf32, strided<[?, 1], offset: ?>>
    %n = memref.dim %a, %c1 : memref<?x?xf32, strided<[?, 1], offset: ?>>
    %i = affine.apply affine_map<(b, t) -> (b * 4 + t)>(%by, %ty)
    %j = affine.apply affine_map<(b, t) -> (b * 16 + t)>(%bx, %tx)
    %i_in = arith.cmpi ult, %i, %m : index
    %j_in = arith.cmpi ult, %j, %n : index
    %in = arith.andi %i_in, %j_in : i1
    scf.if %in {
      %x = memref.load %a[%i, %j] : memref<?x?xf32, strided<[?, 1], offset: ?>>
      %y = memref.load %b[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %z = arith.subf %x, %y : f32
      memref.store %z, %b[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    }
""",
        block=(16, 4, 1),
    )
)


def make_strided(rng: np.random.Generator) -> list[Any]:
    return [normal(rng, (13, 32))[2:, 4:30], normal(rng, (30, 24)).T[::2][:11, 1:27]]


# Columns are numbers of three digits, the bases of two of which only the launch knows.
EXPANDED = module(
    function(
        "expanded",
        "%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %p: index, %q: index,"
        " %b: memref<?x2x?x?xf32>",
        """
    %m = memref.dim %a, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %digits = memref.expand_shape %a [[0], [1, 2, 3]] output_shape [%m, %p, %q, 2]
        : memref<?x?xf32, strided<[?, ?], offset: ?>>
        into memref<?x?x?x2xf32, strided<[?, ?, ?, ?], offset: ?>>
    %x = memref.load %digits[%bx, %ty, %tx, %tz]
        : memref<?x?x?x2xf32, strided<[?, ?, ?, ?], offset: ?>>
    memref.store %x, %b[%bx, %tz, %tx, %ty] : memref<?x2x?x?xf32>
""",
        block=(5, 3, 2),
    )
)


VECTORS = module(
    function(
        "vectors",
        "%a: memref<6x40xf32>, %h: memref<6x80xf16>, %b: memref<6x40xf32>, %g: memref<6x80xf16>",
        """
    %half = arith.constant 0.5 : f16
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %j = affine.apply affine_map<(t) -> (t * 8)>(%tx)
    %k = affine.apply affine_map<(t) -> (t * 4 + 2)>(%tx)
    %x = vector.load %a[%bx, %i] : memref<6x40xf32>, vector<4xf32>
    vector.store %x, %w[%i] : memref<40xf32, #wg>, vector<4xf32>
    gpu.barrier
    %opposite = affine.apply affine_map<(t) -> (36 - t * 4)>(%tx)
    %y = vector.load %w[%opposite] : memref<40xf32, #wg>, vector<4xf32>
    %turned = vector.shuffle %y, %y [3, 2, 1, 0] : vector<4xf32>, vector<4xf32>
    %sum = arith.addf %x, %turned : vector<4xf32>
    %low = vector.extract_strided_slice %sum {offsets = [0], sizes = [2], strides = [1]}
        : vector<4xf32> to vector<2xf32>
    %high = vector.extract_strided_slice %sum {offsets = [2], sizes = [2], strides = [1]}
        : vector<4xf32> to vector<2xf32>
    vector.store %low, %b[%bx, %i] : memref<6x40xf32>, vector<2xf32>
    vector.store %high, %b[%bx, %k] : memref<6x40xf32>, vector<2xf32>
    %p = vector.transfer_read %h[%bx, %j], %half {in_bounds = [true]}
        : memref<6x80xf16>, vector<8xf16>
    %q = arith.mulf %p, %p : vector<8xf16>
    vector.transfer_write %q, %g[%bx, %j] {in_bounds = [true]}
        : vector<8xf16>, memref<6x80xf16>
""",
        block=(10, 1, 1),
        buffers="%w: memref<40xf32, #wg>",
    )
)


def expect_vectors(arguments: Sequence[Any]) -> dict[int, Array]:
    a, h, _, _ = arguments
    return {2: a + a[:, ::-1], 3: h * h}


# The last vector of each row reaches past its end: masked, and padded by ones.
MASKED = module(
    function(
        "masked",
        "%a: memref<5x13xf32>, %b: memref<5x13xf32>, %products: memref<5x4xf32>",
        """
    %one = arith.constant 1.0 : f32
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %x = vector.transfer_read %a[%bx, %i], %one : memref<5x13xf32>, vector<4xf32>
    %product = vector.reduction <mul>, %x : vector<4xf32> into f32
    memref.store %product, %products[%bx, %tx] : memref<5x4xf32>
    %twice = arith.addf %x, %x : vector<4xf32>
    vector.transfer_write %twice, %b[%bx, %i] : vector<4xf32>, memref<5x13xf32>
""",
        block=(4, 1, 1),
    )
)


def expect_masked(arguments: Sequence[Any]) -> dict[int, Array]:
    padded = np.pad(arguments[0], ((0, 0), (0, 3)), constant_values=1.0)
    return {1: arguments[0] * 2, 2: padded.reshape(5, 4, 4).prod(axis=2)}


FLAGS = module(
    function(
        "flags",
        "%a: memref<?xi32>, %flags: memref<?xi1>",
        """
    %zero = arith.constant 0 : i32
    %n = memref.dim %a, %c0 : memref<?xi32>
    %i = affine.apply affine_map<(b, t) -> (b * 64 + t)>(%bx, %tx)
    %in = arith.cmpi ult, %i, %n : index
    %x = scf.if %in -> i32 {
      %x = memref.load %a[%i] : memref<?xi32>
      scf.yield %x : i32
    } else {
      scf.yield %zero : i32
    }
    %next = arith.addi %tx, %c1 : index
    %is_large = arith.cmpi sgt, %x, %zero : i32
    memref.store %is_large, %w[%next] : memref<65xi1, #wg>
    %is_first = arith.cmpi eq, %tx, %c0 : index
    scf.if %is_first {
      memref.store %in, %w[%c0] : memref<65xi1, #wg>
    }
    gpu.barrier
    // Whether this number's sign is another one than its predecessor's.
    %before = memref.load %w[%tx] : memref<65xi1, #wg>
    %changes = arith.xori %is_large, %before : i1
    scf.if %in {
      %old = memref.load %flags[%i] : memref<?xi1>
      %new = arith.andi %old, %changes : i1
      memref.store %new, %flags[%i] : memref<?xi1>
    }
""",
        block=(64, 1, 1),
        buffers="%w: memref<65xi1, #wg>",
    )
)


def expect_flags(arguments: Sequence[Any]) -> dict[int, Array]:
    is_large = arguments[0] > 0
    before = np.append(True, is_large[:-1])
    before[::64] = True
    return {1: is_large ^ before}


# 3-D blocks rotate cubes; elements are vectors of two.
CUBES = module(
    function(
        "cubes",
        "%a: memref<4x6x5x3xvector<2xf32>>, %b: memref<4x3x6x5xvector<2xf32>>",
        """
    %w = memref.alloc() : memref<6x5x3xvector<2xf32>, #wg>
    %i = affine.apply affine_map<(b, c) -> (b * 2 + c)>(%by, %bx)
    %x = memref.load %a[%i, %tz, %ty, %tx] : memref<4x6x5x3xvector<2xf32>>
    memref.store %x, %w[%tz, %ty, %tx] : memref<6x5x3xvector<2xf32>, #wg>
    gpu.barrier
    %t = affine.apply affine_map<(x, y, z) -> (x + y * 3 + z * 15)>(%tx, %ty, %tz)
    %p:3 = affine.delinearize_index %t into (3, 6, 5) : index, index, index
    %y = memref.load %w[%p#1, %p#2, %p#0] : memref<6x5x3xvector<2xf32>, #wg>
    memref.store %y, %b[%i, %p#0, %p#1, %p#2] : memref<4x3x6x5xvector<2xf32>>
""",
        block=(3, 5, 6),
    )
)

CASES = (
    Case(
        "dynamic workgroup memory",
        DYNAMIC,
        "dynamic",
        grid=(3, 1, 1),
        block=(45, 1, 1),
        make=lambda rng: [positive(rng, (3, 45)), positive(rng, (3, 45))],
        expect=expect_dynamic,
        tolerance=1e-6,
        dynamic_bytes=200,
    ),
    Case(
        "strided arguments",
        STRIDED,
        "strided",
        grid=(2, 3, 1),
        block=(16, 4, 1),
        make=make_strided,
        expect=lambda x: {1: x[0] - x[1]},
    ),
    Case(
        "expanded extents",
        EXPANDED,
        "expanded",
        grid=(4, 1, 1),
        block=(5, 3, 2),
        make=lambda rng: [normal(rng, (9, 62))[1::2, 1:61:2], 3, 5, normal(rng, (4, 2, 5, 3))],
        expect=lambda x: {3: x[0].reshape(4, 3, 5, 2).transpose(0, 3, 2, 1)},
    ),
    Case(
        "vectors",
        VECTORS,
        "vectors",
        grid=(6, 1, 1),
        block=(10, 1, 1),
        make=lambda rng: [
            normal(rng, (6, 40)),
            normal(rng, (6, 80), "f2"),
            normal(rng, (6, 40)),
            normal(rng, (6, 80), "f2"),
        ],
        expect=expect_vectors,
    ),
    Case(
        "masked vectors",
        MASKED,
        "masked",
        grid=(5, 1, 1),
        block=(4, 1, 1),
        make=lambda rng: [normal(rng, (5, 13)), normal(rng, (5, 13)), normal(rng, (5, 4))],
        expect=expect_masked,
        tolerance=1e-6,
    ),
    Case(
        "flags",
        FLAGS,
        "flags",
        grid=(3, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [
            (whole(rng, 150) * rng.choice([-1, 1], 150)).astype(np.int32),
            np.ones(150, np.bool_),
        ],
        expect=expect_flags,
    ),
    Case(
        "3-D blocks",
        CUBES,
        "cubes",
        grid=(2, 2, 1),
        block=(3, 5, 6),
        make=lambda rng: [normal(rng, (4, 6, 5, 3, 2)), normal(rng, (4, 3, 6, 5, 2))],
        expect=lambda x: {1: x[0].transpose(0, 3, 1, 2, 4)},
    ),
)
