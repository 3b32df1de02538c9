"""Kernels in which less than a block synchronises: warps, parts of warps, named barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, function, module, normal, whole

# Each warp has a row of the buffer and turns its values three times, by one place more each time.
WARPS = module(
    function(
        "warps",
        "%a: memref<2x96xf32>",
        """
    %all = arith.constant -1 : i32
    %lane = gpu.lane_id
    %warp = arith.divui %tx, %c32 : index
    %first = memref.load %a[%bx, %tx] : memref<2x96xf32>
    %last = scf.for %i = %c1 to %c4 step %c1 iter_args(%x = %first) -> f32 {
      memref.store %x, %w[%warp, %lane] : memref<3x32xf32, #wg>
      nvvm.bar.warp.sync %all : i32
      %other = affine.apply affine_map<(l, i) -> ((l + i) mod 32)>(%lane, %i)
      %y = memref.load %w[%warp, %other] : memref<3x32xf32, #wg>
      nvvm.bar.warp.sync %all : i32
      scf.yield %y : f32
    }
    memref.store %last, %a[%bx, %tx] : memref<2x96xf32>
""",
        block=(96, 1, 1),
        buffers="%w: memref<3x32xf32, #wg>",
    )
)


def expect_warps(arguments: Sequence[Any]) -> dict[int, Array]:
    warps = arguments[0].reshape(2, 3, 32)
    return {0: np.roll(warps, -6, axis=2).reshape(2, 96)}


# The two halves of each warp go different ways; each synchronises its sixteen lanes.
HALVES = module(
    function(
        "halves",
        "%a: memref<64xi32>",
        """
    %low_lanes = arith.constant 0x0000FFFF : i32
    %high_lanes = arith.constant 0xFFFF0000 : i32
    %lane = gpu.lane_id
    %x = memref.load %a[%tx] : memref<64xi32>
    memref.store %x, %w[%tx] : memref<64xi32, #wg>
    %is_low = arith.cmpi ult, %lane, %c16 : index
    scf.if %is_low {
      nvvm.bar.warp.sync %low_lanes : i32
      %other = affine.apply affine_map<(t) -> (t floordiv 16 * 32 + 15 - t)>(%tx)
      %y = memref.load %w[%other] : memref<64xi32, #wg>
      memref.store %y, %a[%tx] : memref<64xi32>
    } else {
      nvvm.bar.warp.sync %high_lanes : i32
      // The sum of the neighbours in a ring of sixteen.
      %before = affine.apply affine_map<(t) -> (t floordiv 16 * 16 + (t + 15) mod 16)>(%tx)
      %after = affine.apply affine_map<(t) -> (t floordiv 16 * 16 + (t + 1) mod 16)>(%tx)
      %y = memref.load %w[%before] : memref<64xi32, #wg>
      %z = memref.load %w[%after] : memref<64xi32, #wg>
      %sum = arith.addi %y, %z : i32
      memref.store %sum, %a[%tx] : memref<64xi32>
    }
""",
        block=(64, 1, 1),
        buffers="%w: memref<64xi32, #wg>",
    )
)


def expect_halves(arguments: Sequence[Any]) -> dict[int, Array]:
    halves = arguments[0].reshape(2, 2, 16)
    low, high = halves[:, 0], halves[:, 1]
    ring = np.roll(high, 1, axis=1) + np.roll(high, -1, axis=1)
    return {0: np.stack([low[:, ::-1], ring], axis=1).reshape(64)}


# Warps scan by shuffles; their totals go through workgroup memory.
SCAN = module(
    function(
        "block_scan",
        "%a: memref<2x160xi32>",
        """
    %zero = arith.constant 0 : i32
    %i32 = arith.constant 32 : i32
    %lane = gpu.lane_id
    %warp = gpu.subgroup_id : index
    %x = memref.load %a[%bx, %tx] : memref<2x160xi32>
    %all:2 = scf.while (%d = %c1, %v = %x) : (index, i32) -> (index, i32) {
      %more = arith.cmpi ult, %d, %c32 : index
      scf.condition(%more) %d, %v : index, i32
    } do {
    ^bb0(%d: index, %v: i32):
      %offset = arith.index_cast %d : index to i32
      %u, %p = gpu.shuffle up %v, %offset, %i32 : i32
      %add = arith.select %p, %u, %zero : i32
      %new = arith.addi %v, %add : i32
      %twice = arith.shli %d, %c1 : index
      scf.yield %twice, %new : index, i32
    }
    %is_last = arith.cmpi eq, %lane, %c31 : index
    scf.if %is_last {
      memref.store %all#1, %totals[%warp] : memref<5xi32, #wg>
    }
    gpu.barrier
    %sum = scf.for %i = %c0 to %warp step %c1 iter_args(%old = %all#1) -> i32 {
      %total = memref.load %totals[%i] : memref<5xi32, #wg>
      %new = arith.addi %old, %total : i32
      scf.yield %new : i32
    }
    memref.store %sum, %a[%bx, %tx] : memref<2x160xi32>
""",
        block=(160, 1, 1),
        buffers="%totals: memref<5xi32, #wg>",
    )
)

# Two halves of the block turn their rows, each at its own pace, by barriers of their own.
NAMED = module(
    function(
        "named",
        "%a: memref<2x128xf32>",
        """
    %one = arith.constant 1 : i32
    %threads = arith.constant 64 : i32
    %half = arith.divui %tx, %c64 : index
    %place = arith.remui %tx, %c64 : index
    %number = arith.index_cast %half : index to i32
    %barrier = arith.addi %number, %one : i32
    %iterations = affine.apply affine_map<(h) -> (h * 2 + 3)>(%half)
    %first = memref.load %a[%bx, %tx] : memref<2x128xf32>
    %last = scf.for %i = %c0 to %iterations step %c1 iter_args(%x = %first) -> f32 {
      memref.store %x, %w[%half, %place] : memref<2x64xf32, #wg>
      nvvm.barrier id = %barrier number_of_threads = %threads
      %other = affine.apply affine_map<(p) -> ((p + 9) mod 64)>(%place)
      %y = memref.load %w[%half, %other] : memref<2x64xf32, #wg>
      nvvm.barrier id = %barrier number_of_threads = %threads
      scf.yield %y : f32
    }
    memref.store %last, %a[%bx, %tx] : memref<2x128xf32>
""",
        block=(128, 1, 1),
        buffers="%w: memref<2x64xf32, #wg>",
    )
)


def expect_named(arguments: Sequence[Any]) -> dict[int, Array]:
    a = arguments[0]
    return {0: np.hstack([np.roll(a[:, :64], -27, axis=1), np.roll(a[:, 64:], -45, axis=1)])}


# One warp fills a buffer and another one adds it up. Barrier 1 says "full", barrier 2 "empty";
# who need not wait only arrives.
PRODUCER = module(
    function(
        "producer",
        "%a: memref<?x32xf32>, %sums: memref<32xf32>",
        """
    %full = arith.constant 1 : i32
    %empty = arith.constant 2 : i32
    %threads = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    %lane = gpu.lane_id
    %n = memref.dim %a, %c0 : memref<?x32xf32>
    %last = arith.subi %n, %c1 : index
    %is_producer = arith.cmpi ult, %tx, %c32 : index
    scf.if %is_producer {
      scf.for %i = %c0 to %n step %c1 {
        %x = memref.load %a[%i, %lane] : memref<?x32xf32>
        nvvm.barrier id = %empty number_of_threads = %threads
        memref.store %x, %w[%lane] : memref<32xf32, #wg>
        nvvm.barrier.arrive id = %full number_of_threads = %threads
      }
    } else {
      %other = arith.subi %c31, %lane : index
      nvvm.barrier.arrive id = %empty number_of_threads = %threads
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%old = %zero) -> f32 {
        nvvm.barrier id = %full number_of_threads = %threads
        %x = memref.load %w[%other] : memref<32xf32, #wg>
        %new = arith.addf %old, %x : f32
        %more = arith.cmpi ult, %i, %last : index
        scf.if %more {
          nvvm.barrier.arrive id = %empty number_of_threads = %threads
        }
        scf.yield %new : f32
      }
      memref.store %sum, %sums[%lane] : memref<32xf32>
    }
""",
        block=(64, 1, 1),
        buffers="%w: memref<32xf32, #wg>",
    )
)

# Barriers that count: of each block's numbers, those of which the right neighbour is larger.
COUNTED = module(
    function(
        "counted",
        "%a: memref<2x96xi32>, %out: memref<3x2x96xi32>",
        """
    %zero = arith.constant 0 : i32
    %x = memref.load %a[%bx, %tx] : memref<2x96xi32>
    memref.store %x, %w[%tx] : memref<96xi32, #wg>
    %is_positive = arith.cmpi sgt, %x, %zero : i32
    %p = arith.extui %is_positive : i1 to i32
    %every = nvvm.barrier #nvvm.reduction<and> %p -> i32
    %next = affine.apply affine_map<(t) -> ((t + 1) mod 96)>(%tx)
    %y = memref.load %w[%next] : memref<96xi32, #wg>
    %is_less = arith.cmpi slt, %x, %y : i32
    %q = arith.extui %is_less : i1 to i32
    %some = nvvm.barrier #nvvm.reduction<or> %q -> i32
    %count = nvvm.barrier #nvvm.reduction<popc> %q -> i32
    memref.store %every, %out[%c0, %bx, %tx] : memref<3x2x96xi32>
    memref.store %some, %out[%c1, %bx, %tx] : memref<3x2x96xi32>
    memref.store %count, %out[%c2, %bx, %tx] : memref<3x2x96xi32>
""",
        block=(96, 1, 1),
        buffers="%w: memref<96xi32, #wg>",
    )
)


def expect_counted(arguments: Sequence[Any]) -> dict[int, Array]:
    a, _ = arguments
    less = a < np.roll(a, -1, axis=1)
    rows = np.stack([(a > 0).all(axis=1), less.any(axis=1), less.sum(axis=1)])
    return {1: np.repeat(rows[:, :, None], 96, axis=2).astype(np.int32)}


# A warp goes on until each of its lanes has halved its number down to an odd one.
TOGETHER = module(
    function(
        "together",
        "%a: memref<64xi32>, %iterations: memref<64xi32>",
        """
    %all = arith.constant -1 : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %first = memref.load %a[%tx] : memref<64xi32>
    %last:2 = scf.while (%x = %first, %count = %zero) : (i32, i32) -> (i32, i32) {
      %bit = arith.andi %x, %one : i32
      %is_even = arith.cmpi eq, %bit, %zero : i32
      %half = arith.shrui %x, %one : i32
      %y = arith.select %is_even, %half, %x : i32
      %new = arith.addi %count, %one : i32
      %more = nvvm.vote.sync any %all, %is_even -> i1
      scf.condition(%more) %y, %new : i32, i32
    } do {
    ^bb0(%x: i32, %count: i32):
      scf.yield %x, %count : i32, i32
    }
    memref.store %last#0, %a[%tx] : memref<64xi32>
    memref.store %last#1, %iterations[%tx] : memref<64xi32>
""",
        block=(64, 1, 1),
    )
)


def expect_together(arguments: Sequence[Any]) -> dict[int, Array]:
    lowest = arguments[0] & -arguments[0]
    halvings = np.log2(lowest).astype(np.int32).reshape(2, 32)
    iterations = np.repeat(halvings.max(axis=1) + 1, 32).astype(np.int32)
    return {0: arguments[0] // lowest, 1: iterations}


# One lane of each warp counts it; whichever lane is elected, the others learn of it by a vote.
ELECTED = module(
    function(
        "elected",
        "%count: memref<1xi32>, %leaders: memref<3x96xi32>",
        """
    %all = arith.constant -1 : i32
    %one = arith.constant 1 : i32
    %elected = nvvm.elect.sync -> i1
    scf.if %elected {
      %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32>) -> i32
    }
    %ballot = nvvm.vote.sync ballot %all, %elected -> i32
    %leaders_of_warp = math.ctpop %ballot : i32
    memref.store %leaders_of_warp, %leaders[%bx, %tx] : memref<3x96xi32>
""",
        block=(96, 1, 1),
    )
)

CASES = (
    Case(
        "exchange within warps",
        WARPS,
        "warps",
        grid=(2, 1, 1),
        block=(96, 1, 1),
        make=lambda rng: [normal(rng, (2, 96))],
        expect=expect_warps,
    ),
    Case(
        "exchange within half warps",
        HALVES,
        "halves",
        grid=(1, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [whole(rng, 64)],
        expect=expect_halves,
    ),
    Case(
        "scan by shuffles",
        SCAN,
        "block_scan",
        grid=(2, 1, 1),
        block=(160, 1, 1),
        make=lambda rng: [whole(rng, (2, 160))],
        expect=lambda x: {0: x[0].cumsum(axis=1, dtype=np.int32)},
    ),
    Case(
        "named barriers",
        NAMED,
        "named",
        grid=(2, 1, 1),
        block=(128, 1, 1),
        make=lambda rng: [normal(rng, (2, 128))],
        expect=expect_named,
    ),
    Case(
        "producer and consumer",
        PRODUCER,
        "producer",
        grid=(1, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [normal(rng, (7, 32)), normal(rng, 32)],
        expect=lambda x: {1: x[0].sum(axis=0)[::-1]},
        tolerance=1e-6,
    ),
    Case(
        "counting barriers",
        COUNTED,
        "counted",
        grid=(2, 1, 1),
        block=(96, 1, 1),
        make=lambda rng: [
            np.vstack([whole(rng, (1, 96)), -whole(rng, (1, 96))]),
            whole(rng, (3, 2, 96)),
        ],
        expect=expect_counted,
    ),
    Case(
        "loops until a vote",
        TOGETHER,
        "together",
        grid=(1, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [whole(rng, 64, top=4096), whole(rng, 64)],
        expect=expect_together,
    ),
    Case(
        "elections",
        ELECTED,
        "elected",
        grid=(3, 1, 1),
        block=(96, 1, 1),
        make=lambda rng: [whole(rng, 1), whole(rng, (3, 96))],
        expect=lambda x: {0: x[0] + 9, 1: np.ones((3, 96), np.int32)},
        chip="sm_90",
    ),
)
