"""Kernels that copy to workgroup memory asynchronously: cp.async, its groups and its waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, eighths, function, module, normal

# 4, 8 and 16 bytes; who reads only what it has copied itself needs no barrier.
OWN = module(
    function(
        "own",
        "%a: memref<2x48xf32>, %b: memref<2x48xf64>, %c: memref<2x192xf32>, %out: memref<2x48xf64>",
        """
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %j = affine.apply affine_map<(t) -> (t * 4 + 3)>(%tx)
    %t0 = nvgpu.device_async_copy %a[%bx, %tx], %u[%tx], 1
        : memref<2x48xf32> to memref<48xf32, #wg>
    %t1 = nvgpu.device_async_copy %b[%bx, %tx], %v[%tx], 1
        : memref<2x48xf64> to memref<48xf64, #wg>
    %t2 = nvgpu.device_async_copy %c[%bx, %i], %w[%i], 4 {bypassL1}
        : memref<2x192xf32> to memref<192xf32, #wg>
    %group = nvgpu.device_async_create_group %t0, %t1, %t2
    nvgpu.device_async_wait %group
    %x = memref.load %u[%tx] : memref<48xf32, #wg>
    %y = memref.load %v[%tx] : memref<48xf64, #wg>
    %z = memref.load %w[%j] : memref<192xf32, #wg>
    %xw = arith.extf %x : f32 to f64
    %zw = arith.extf %z : f32 to f64
    %xy = arith.addf %xw, %y : f64
    %xyz = arith.addf %xy, %zw : f64
    memref.store %xyz, %out[%bx, %tx] : memref<2x48xf64>
""",
        block=(48, 1, 1),
        buffers="%u: memref<48xf32, #wg>, %v: memref<48xf64, #wg>, %w: memref<192xf32, #wg>",
    )
)


def make_own(rng: np.random.Generator) -> list[Any]:
    shapes = (((2, 48), "f4"), ((2, 48), "f8"), ((2, 192), "f4"), ((2, 48), "f8"))
    return [eighths(rng, shape, kind) for shape, kind in shapes]


# One group waits while the next one is under way; both are read by other threads.
GROUPS = module(
    function(
        "groups",
        "%a: memref<3x160xf16>, %b: memref<3x160xf16>",
        """
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %t0 = nvgpu.device_async_copy %a[%bx, %i], %u[%i], 4
        : memref<3x160xf16> to memref<160xf16, #wg>
    %first = nvgpu.device_async_create_group %t0
    %t1 = nvgpu.device_async_copy %b[%bx, %i], %v[%i], 4
        : memref<3x160xf16> to memref<160xf16, #wg>
    %second = nvgpu.device_async_create_group %t1
    nvgpu.device_async_wait %first {numGroups = 1 : i32}
    gpu.barrier
    scf.for %k = %tx to %c160 step %c40 {
      %other = arith.subi %c159, %k : index
      %x = memref.load %u[%other] : memref<160xf16, #wg>
      memref.store %x, %a[%bx, %k] : memref<3x160xf16>
    }
    nvgpu.device_async_wait %second {numGroups = 0 : i32}
    gpu.barrier
    scf.for %k = %tx to %c160 step %c40 {
      %other = arith.subi %c159, %k : index
      %x = memref.load %v[%other] : memref<160xf16, #wg>
      memref.store %x, %b[%bx, %k] : memref<3x160xf16>
    }
""",
        block=(40, 1, 1),
        buffers="%u: memref<160xf16, #wg>, %v: memref<160xf16, #wg>",
    )
)

# The sum of the rows of each block, every column by another thread than the one that copies it.
SINGLE = module(
    function(
        "single",
        "%a: memref<2x?x128xf32>, %sums: memref<2x128xf32>",
        """
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %n = memref.dim %a, %c1 : memref<2x?x128xf32>
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %other = affine.apply affine_map<(t) -> (124 - t * 4)>(%tx)
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> vector<4xf32> {
      %token = nvgpu.device_async_copy %a[%bx, %k, %i], %w[%i], 4
          : memref<2x?x128xf32> to memref<128xf32, #wg>
      %group = nvgpu.device_async_create_group %token
      nvgpu.device_async_wait %group {numGroups = 0 : i32}
      gpu.barrier
      %x = vector.load %w[%other] : memref<128xf32, #wg>, vector<4xf32>
      %new = arith.addf %sum, %x : vector<4xf32>
      gpu.barrier
      scf.yield %new : vector<4xf32>
    }
    vector.store %all, %sums[%bx, %other] : memref<2x128xf32>, vector<4xf32>
""",
        block=(32, 1, 1),
        buffers="%w: memref<128xf32, #wg>",
    )
)

# The same with the next row under way while this one is added.
DOUBLE = module(
    function(
        "double",
        "%a: memref<2x?x128xf32>, %sums: memref<2x128xf32>",
        """
    %zero = arith.constant dense<0.0> : vector<2xf32>
    %n = memref.dim %a, %c1 : memref<2x?x128xf32>
    %i = affine.apply affine_map<(t) -> (t * 2)>(%tx)
    %other = affine.apply affine_map<(t) -> (126 - t * 2)>(%tx)
    %token = nvgpu.device_async_copy %a[%bx, %c0, %i], %w[%c0, %i], 2
        : memref<2x?x128xf32> to memref<2x128xf32, #wg>
    %first = nvgpu.device_async_create_group %token
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> vector<2xf32> {
      %slot = arith.remui %k, %c2 : index
      %next = arith.addi %k, %c1 : index
      %more = arith.cmpi ult, %next, %n : index
      scf.if %more {
        %free = arith.subi %c1, %slot : index
        %t = nvgpu.device_async_copy %a[%bx, %next, %i], %w[%free, %i], 2
            : memref<2x?x128xf32> to memref<2x128xf32, #wg>
      }
      %group = nvgpu.device_async_create_group {}
      nvgpu.device_async_wait %group {numGroups = 1 : i32}
      gpu.barrier
      %x = vector.load %w[%slot, %other] : memref<2x128xf32, #wg>, vector<2xf32>
      %new = arith.addf %sum, %x : vector<2xf32>
      gpu.barrier
      scf.yield %new : vector<2xf32>
    }
    vector.store %all, %sums[%bx, %other] : memref<2x128xf32>, vector<2xf32>
""",
        block=(64, 1, 1),
        buffers="%w: memref<2x128xf32, #wg>",
    )
)

# Three slots and one barrier for each iteration: a slot is filled again one iteration after it was
# read.
RING = module(
    function(
        "ring",
        "%a: memref<2x?x96xf32>, %sums: memref<2x96xf32>",
        """
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %a, %c1 : memref<2x?x96xf32>
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %copies = arith.cmpi ult, %tx, %c24 : index
    %other = affine.apply affine_map<(t) -> (95 - t)>(%tx)
    %has_second = arith.cmpi ult, %c1, %n : index
    %copies_second = arith.andi %copies, %has_second : i1
    scf.if %copies {
      %t = nvgpu.device_async_copy %a[%bx, %c0, %i], %w[%c0, %i], 4 {bypassL1}
          : memref<2x?x96xf32> to memref<3x96xf32, #wg>
    }
    %first = nvgpu.device_async_create_group {}
    scf.if %copies_second {
      %t = nvgpu.device_async_copy %a[%bx, %c1, %i], %w[%c1, %i], 4 {bypassL1}
          : memref<2x?x96xf32> to memref<3x96xf32, #wg>
    }
    %second = nvgpu.device_async_create_group {}
    %all:3 = scf.for %k = %c0 to %n step %c1
        iter_args(%sum = %zero, %this = %first, %next = %second)
        -> (f32, !nvgpu.device.async.token, !nvgpu.device.async.token) {
      nvgpu.device_async_wait %this {numGroups = 1 : i32}
      gpu.barrier
      %ahead = arith.addi %k, %c2 : index
      %in = arith.cmpi ult, %ahead, %n : index
      %do = arith.andi %copies, %in : i1
      scf.if %do {
        %free = arith.remui %ahead, %c3 : index
        %t = nvgpu.device_async_copy %a[%bx, %ahead, %i], %w[%free, %i], 4 {bypassL1}
            : memref<2x?x96xf32> to memref<3x96xf32, #wg>
      }
      %group = nvgpu.device_async_create_group {}
      %slot = arith.remui %k, %c3 : index
      %x = memref.load %w[%slot, %other] : memref<3x96xf32, #wg>
      %new = arith.addf %sum, %x : f32
      scf.yield %new, %next, %group : f32, !nvgpu.device.async.token, !nvgpu.device.async.token
    }
    memref.store %all#0, %sums[%bx, %other] : memref<2x96xf32>
""",
        block=(96, 1, 1),
        buffers="%w: memref<3x96xf32, #wg>",
    )
)

# Rows that end anywhere: what is not copied is zero in workgroup memory, and nothing past the end
# is read, though addresses past the end are formed.
RAGGED = module(
    function(
        "ragged",
        "%a: memref<?xf32>, %b: memref<5x77xf32>, %out: memref<96xf32>, %rows: memref<5x80xf32>",
        """
    %n = memref.dim %a, %c0 : memref<?xf32>
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %left = affine.max affine_map<(i)[n] -> (n - i, 0)>(%i)[%n]
    %count = affine.min affine_map<(l) -> (l, 4)>(%left)
    %is_first = arith.cmpi eq, %bx, %c0 : index
    scf.if %is_first {
      %token = nvgpu.device_async_copy %a[%i], %u[%i], 4, %count
          : memref<?xf32> to memref<96xf32, #wg>
    }
    scf.for %j = %tx to %c80 step %c24 {
      %in = arith.cmpi ult, %j, %c77 : index
      %one = arith.select %in, %c1, %c0 : index
      %token = nvgpu.device_async_copy %b[%bx, %j], %v[%j], 1, %one
          : memref<5x77xf32> to memref<80xf32, #wg>
    }
    %group = nvgpu.device_async_create_group {}
    nvgpu.device_async_wait %group
    gpu.barrier
    scf.if %is_first {
      scf.for %j = %tx to %c96 step %c24 {
        %x = memref.load %u[%j] : memref<96xf32, #wg>
        memref.store %x, %out[%j] : memref<96xf32>
      }
    }
    scf.for %j = %tx to %c80 step %c24 {
      %other = arith.subi %c79, %j : index
      %x = memref.load %v[%other] : memref<80xf32, #wg>
      memref.store %x, %rows[%bx, %j] : memref<5x80xf32>
    }
""",
        block=(24, 1, 1),
        buffers="%u: memref<96xf32, #wg>, %v: memref<80xf32, #wg>",
    )
)


def expect_ragged(arguments: Sequence[Any]) -> dict[int, Array]:
    a, b, out, _ = arguments
    padded = np.pad(a, (0, out.size - a.size))
    return {2: padded, 3: np.pad(b, ((0, 0), (0, 3)))[:, ::-1]}


# The instructions themselves: the first warp copies for all of the block.
POINTERS = module(
    function(
        "pointers",
        "%a: memref<2x256xf32>, %b: memref<2x256xf32>",
        """
    %c = memref.extract_aligned_pointer_as_index %w : memref<256xf32, #wg> -> index
    %d = memref.extract_aligned_pointer_as_index %a : memref<2x256xf32> -> index
    %is_first = arith.cmpi ult, %tx, %c32 : index
    scf.if %is_first {
      %here = affine.apply affine_map<(t)[base] -> (base + t * 16)>(%tx)[%c]
      %there = affine.apply affine_map<(b, t)[base] -> (base + b * 1024 + t * 16)>(%bx, %tx)[%d]
      %i = arith.index_cast %here : index to i64
      %j = arith.index_cast %there : index to i64
      %to = llvm.inttoptr %i : i64 to !llvm.ptr<3>
      %from = llvm.inttoptr %j : i64 to !llvm.ptr<1>
      nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
      nvvm.cp.async.commit.group
      %to_second = llvm.getelementptr %to[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      %from_second = llvm.getelementptr %from[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %size = arith.constant 12 : i32
      nvvm.cp.async.shared.global %to_second, %from_second, 16, cache = ca, %size
          : !llvm.ptr<3>, !llvm.ptr<1>, i32
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
    }
    gpu.barrier
    %low = arith.xori %tx, %c127 : index
    %x = memref.load %w[%low] : memref<256xf32, #wg>
    memref.store %x, %b[%bx, %tx] : memref<2x256xf32>
    scf.if %is_first {
      nvvm.cp.async.wait.group 0
    }
    gpu.barrier
    %high = affine.apply affine_map<(t) -> (255 - t)>(%tx)
    %place = affine.apply affine_map<(t) -> (t + 128)>(%tx)
    %y = memref.load %w[%high] : memref<256xf32, #wg>
    memref.store %y, %b[%bx, %place] : memref<2x256xf32>
""",
        block=(128, 1, 1),
        buffers="%w: memref<256xf32, #wg>",
    )
)


def expect_pointers(arguments: Sequence[Any]) -> dict[int, Array]:
    low, high = np.split(arguments[0], 2, axis=1)
    kept = np.where(np.arange(128) % 4 < 3, high, 0)
    return {1: np.hstack([low[:, ::-1], kept[:, ::-1]])}


def rows_case(name: str, text: str, kernel: str, threads: int, columns: int, rows: int) -> Case:
    """Return a case that adds the rows of two blocks."""
    return Case(
        name,
        text,
        kernel,
        grid=(2, 1, 1),
        block=(threads, 1, 1),
        make=lambda rng: [eighths(rng, (2, rows, columns)), eighths(rng, (2, columns))],
        expect=lambda x: {1: x[0].sum(axis=1)},
    )


CASES = (
    Case(
        "asynchronous copies for oneself",
        OWN,
        "own",
        grid=(2, 1, 1),
        block=(48, 1, 1),
        make=make_own,
        expect=lambda x: {3: x[0] + x[1] + x[2][:, 3::4]},
    ),
    Case(
        "two groups",
        GROUPS,
        "groups",
        grid=(3, 1, 1),
        block=(40, 1, 1),
        make=lambda rng: [normal(rng, (3, 160), "f2"), normal(rng, (3, 160), "f2")],
        expect=lambda x: {0: x[0][:, ::-1], 1: x[1][:, ::-1]},
    ),
    rows_case("single buffer", SINGLE, "single", 32, 128, 5),
    rows_case("double buffer", DOUBLE, "double", 64, 128, 7),
    rows_case("ring of three slots", RING, "ring", 96, 96, 8),
    rows_case("ring of three slots with a single iteration", RING, "ring", 96, 96, 1),
    Case(
        "ragged asynchronous copies",
        RAGGED,
        "ragged",
        grid=(5, 1, 1),
        block=(24, 1, 1),
        make=lambda rng: [
            normal(rng, 77),
            normal(rng, (5, 77)),
            normal(rng, 96),
            normal(rng, (5, 80)),
        ],
        expect=expect_ragged,
    ),
    Case(
        "asynchronous copies by pointers",
        POINTERS,
        "pointers",
        grid=(2, 1, 1),
        block=(128, 1, 1),
        make=lambda rng: [normal(rng, (2, 256)), normal(rng, (2, 256))],
        expect=expect_pointers,
    ),
)
