"""Kernels that combine the values of many threads: reductions, scans, histograms, atomics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, Dim3, eighths, function, module, whole

TREE = module(
    function(
        "tree",
        "%a: memref<?xf32>, %sums: memref<?xf32>",
        """
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %a, %c0 : memref<?xf32>
    %begin = affine.apply affine_map<(b, t) -> (b * 256 + t)>(%bx, %tx)
    %end = affine.min affine_map<(b)[n] -> (b * 256 + 256, n)>(%bx)[%n]
    %own = scf.for %i = %begin to %end step %c128 iter_args(%old = %zero) -> f32 {
      %v = memref.load %a[%i] : memref<?xf32>
      %new = arith.addf %old, %v : f32
      scf.yield %new : f32
    }
    memref.store %own, %w[%tx] : memref<128xf32, #wg>
    scf.while (%half = %c64) : (index) -> index {
      gpu.barrier
      %more = arith.cmpi ugt, %half, %c0 : index
      scf.condition(%more) %half : index
    } do {
    ^bb0(%half: index):
      %few = arith.cmpi ult, %tx, %half : index
      scf.if %few {
        %other = arith.addi %tx, %half : index
        %x = memref.load %w[%tx] : memref<128xf32, #wg>
        %y = memref.load %w[%other] : memref<128xf32, #wg>
        %xy = arith.addf %x, %y : f32
        memref.store %xy, %w[%tx] : memref<128xf32, #wg>
      }
      %next = arith.shrui %half, %c1 : index
      scf.yield %next : index
    }
    %is_last = arith.cmpi eq, %tx, %c127 : index
    scf.if %is_last {
      %v = memref.load %w[%c0] : memref<128xf32, #wg>
      memref.store %v, %sums[%bx] : memref<?xf32>
    }
""",
        block=(128, 1, 1),
        buffers="%w: memref<128xf32, #wg>",
    )
)


def expect_tree(arguments: Sequence[Any]) -> dict[int, Array]:
    padded = np.pad(arguments[0].astype(np.float64), (0, 24))
    return {1: padded.reshape(4, 256).sum(axis=1)}


# Every thread stores the result of its block, which comes from any number of warps, the last of
# them full or not.
_ALL_REDUCE = """
    %t = gpu.thread_id x
    %u = gpu.thread_id y
    %v = gpu.thread_id z
    %dx = gpu.block_dim x
    %dy = gpu.block_dim y
    %vy = arith.muli %v, %dy : index
    %uv = arith.addi %u, %vy : index
    %uvx = arith.muli %uv, %dx : index
    %i = arith.addi %t, %uvx : index
    %x = memref.load %a[%bx, %i] : memref<?x?xTYPE>
    %sum = gpu.all_reduce OPERATION %x uniform {} : (TYPE) -> TYPE
    memref.store %sum, %out[%bx, %i] : memref<?x?xTYPE>
"""


def all_reduce(
    name: str,
    kind: str,
    operation: str,
    block: Dim3,
    make: Callable[[np.random.Generator, tuple[int, int]], Array],
    combine: Callable[[Array], Array],
) -> Case:
    """Return a case of one reduction over each of three blocks."""
    body = _ALL_REDUCE.replace("TYPE", kind).replace("OPERATION", operation)
    arguments = f"%a: memref<?x?x{kind}>, %out: memref<?x?x{kind}>"
    shape = (3, int(np.prod(block)))
    return Case(
        f"all_reduce of {name}",
        module(function("all_reduce", arguments, body, block=block)),
        "all_reduce",
        grid=(3, 1, 1),
        block=block,
        make=lambda rng: [make(rng, shape), make(rng, shape)],
        expect=lambda x: {1: np.repeat(combine(x[0])[:, None], shape[1], 1)},
    )


def sum_rows(values: Array) -> Array:
    return np.asarray(values.sum(axis=1, dtype=np.float64))


def xor_rows(values: Array) -> Array:
    return np.asarray(np.bitwise_xor.reduce(values, axis=1))


def signs(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.choice([-1.0, 1.0], shape)


def signed(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(whole(rng, shape, top=10**6) * rng.choice([-1, 1], shape), np.int32)


# Sum, product of signs and maximum of each row, and the rows' sum of maxima.
SEVERAL = module(
    function(
        "several",
        "%a: memref<?x100xf32>, %sums: memref<?xf32>, %tops: memref<?xf32>, %total: memref<1xf32>",
        """
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %a, %c0 : memref<?x100xf32>
    %is_first = arith.cmpi eq, %tx, %c0 : index
    %all = scf.for %i = %c0 to %n step %c1 iter_args(%old = %zero) -> f32 {
      %x = memref.load %a[%i, %tx] : memref<?x100xf32>
      %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
      %top = gpu.all_reduce maximumf %x uniform {} : (f32) -> f32
      scf.if %is_first {
        memref.store %sum, %sums[%i] : memref<?xf32>
        memref.store %top, %tops[%i] : memref<?xf32>
      }
      %new = arith.addf %old, %top : f32
      scf.yield %new : f32
    }
    %is_last = arith.cmpi eq, %tx, %c99 : index
    scf.if %is_last {
      memref.store %all, %total[%c0] : memref<1xf32>
    }
""",
        block=(100, 1, 1),
    )
)


def expect_several(arguments: Sequence[Any]) -> dict[int, Array]:
    tops = arguments[0].max(axis=1)
    return {1: sum_rows(arguments[0]), 2: tops, 3: tops.sum(keepdims=True)}


SCAN = module(
    function(
        "scan",
        "%a: memref<3x96xi32>",
        """
    %w = memref.alloc() : memref<2x96xi32, #wg>
    %first = memref.load %a[%bx, %tx] : memref<3x96xi32>
    %last:3 = scf.while (%d = %c1, %slot = %c0, %v = %first)
        : (index, index, i32) -> (index, index, i32) {
      memref.store %v, %w[%slot, %tx] : memref<2x96xi32, #wg>
      gpu.barrier
      %has = arith.cmpi uge, %tx, %d : index
      %new = scf.if %has -> i32 {
        %other = arith.subi %tx, %d : index
        %x = memref.load %w[%slot, %other] : memref<2x96xi32, #wg>
        %sum = arith.addi %x, %v : i32
        scf.yield %sum : i32
      } else {
        scf.yield %v : i32
      }
      %twice = arith.shli %d, %c1 : index
      %next = arith.subi %c1, %slot : index
      %more = arith.cmpi ult, %twice, %c96 : index
      scf.condition(%more) %twice, %next, %new : index, index, i32
    } do {
    ^bb0(%d: index, %slot: index, %v: i32):
      scf.yield %d, %slot, %v : index, index, i32
    }
    memref.store %last#2, %a[%bx, %tx] : memref<3x96xi32>
""",
        block=(96, 1, 1),
    )
)

# Counts in workgroup memory, then adds the counts of the block to those of the grid.
HISTOGRAM = module(
    function(
        "histogram",
        "%a: memref<?xi32>, %bins: memref<40xi32>",
        """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n = memref.dim %a, %c0 : memref<?xi32>
    %has_bin = arith.cmpi ult, %tx, %c40 : index
    scf.if %has_bin {
      memref.store %zero, %w[%tx] : memref<40xi32, #wg>
    }
    gpu.barrier
    %begin = affine.apply affine_map<(b, t) -> (b * 96 + t)>(%bx, %tx)
    %step = arith.muli %gx, %c96 : index
    scf.for %i = %begin to %n step %step {
      %v = memref.load %a[%i] : memref<?xi32>
      %number = arith.index_cast %v : i32 to index
      %bin = arith.remui %number, %c40 : index
      %old = memref.atomic_rmw addi %one, %w[%bin] : (i32, memref<40xi32, #wg>) -> i32
    }
    gpu.barrier
    scf.if %has_bin {
      %count = memref.load %w[%tx] : memref<40xi32, #wg>
      %old = memref.atomic_rmw addi %count, %bins[%tx] : (i32, memref<40xi32>) -> i32
    }
""",
        block=(96, 1, 1),
        buffers="%w: memref<40xi32, #wg>",
    )
)


def expect_histogram(arguments: Sequence[Any]) -> dict[int, Array]:
    counts = np.bincount(arguments[0] % 40, minlength=40)
    return {1: (arguments[1] + counts).astype(np.int32)}


# The results that the operations return depend on the order of the threads and are not used.
ATOMICS = module(
    function(
        "atomics",
        "%a: memref<?xi32>, %x: memref<?xf32>, %y: memref<?xf64>, %i32: memref<4xi32>,"
        " %i64: memref<1xi64>, %f32: memref<1xf32>, %f64: memref<1xf64>",
        """
    %n = memref.dim %a, %c0 : memref<?xi32>
    %i = affine.apply affine_map<(b, t)[size] -> (b * size + t)>(%bx, %tx)[%nx]
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %v = memref.load %a[%i] : memref<?xi32>
      %r0 = memref.atomic_rmw addi %v, %i32[%c0] : (i32, memref<4xi32>) -> i32
      %r1 = memref.atomic_rmw maxs %v, %i32[%c1] : (i32, memref<4xi32>) -> i32
      %r2 = memref.atomic_rmw minu %v, %i32[%c2] : (i32, memref<4xi32>) -> i32
      %r3 = memref.atomic_rmw ori %v, %i32[%c3] : (i32, memref<4xi32>) -> i32
      %wide = arith.extsi %v : i32 to i64
      %r4 = memref.atomic_rmw addi %wide, %i64[%c0] : (i64, memref<1xi64>) -> i64
      %u = memref.load %x[%i] : memref<?xf32>
      %r5 = memref.atomic_rmw addf %u, %f32[%c0] : (f32, memref<1xf32>) -> f32
      %w = memref.load %y[%i] : memref<?xf64>
      %r6 = memref.atomic_rmw addf %w, %f64[%c0] : (f64, memref<1xf64>) -> f64
    }
""",
    )
)


def make_atomics(rng: np.random.Generator) -> list[Any]:
    numbers = [signed(rng, (150,)), eighths(rng, 150), eighths(rng, 150, "f8")]
    return [*numbers, whole(rng, 4), whole(rng, 1, "i8"), eighths(rng, 1), eighths(rng, 1, "f8")]


def expect_atomics(arguments: Sequence[Any]) -> dict[int, Array]:
    a, x, y, i32, i64, f32, f64 = arguments
    unsigned = np.append(a, i32[2]).astype(np.uint32)
    results = [i32[0] + a.sum(), max(i32[1], a.max()), unsigned.min(), i32[3]]
    results[3] |= np.bitwise_or.reduce(a)
    return {
        3: np.array(results, np.int64).astype(np.int32),
        4: i64 + a.sum(dtype=np.int64),
        5: f32 + x.sum(),
        6: f64 + y.sum(),
    }


# The first of these becomes a load and a loop of compare and swap already in the NVVM dialect, the
# second one in PTX. The load is a plain one, but what it finds does not matter.
SWAPS = module(
    function(
        "swaps",
        "%a: memref<150xi32>, %x: memref<150xf32>, %i32: memref<1xi32>, %f32: memref<1xf32>",
        """
    %i = affine.apply affine_map<(b, t) -> (b * 50 + t)>(%bx, %tx)
    %v = memref.load %a[%i] : memref<150xi32>
    %r0 = memref.generic_atomic_rmw %i32[%c0] : memref<1xi32> {
    ^bb0(%old: i32):
      %new = arith.xori %old, %v : i32
      memref.atomic_yield %new : i32
    }
    %u = memref.load %x[%i] : memref<150xf32>
    %r1 = memref.atomic_rmw maximumf %u, %f32[%c0] : (f32, memref<1xf32>) -> f32
""",
        block=(50, 1, 1),
    )
)


def expect_swaps(arguments: Sequence[Any]) -> dict[int, Array]:
    a, x, i32, f32 = arguments
    return {2: i32 ^ np.bitwise_xor.reduce(a), 3: np.maximum(f32, x.max())}


# Each thread appends its number if it is odd: a counter in workgroup memory hands out places.
COMPACT = module(
    function(
        "compact",
        "%a: memref<2x70xi32>, %sums: memref<2xi32>, %counts: memref<2xi32>",
        """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %is_first = arith.cmpi eq, %tx, %c0 : index
    scf.if %is_first {
      memref.store %zero, %count[%c0] : memref<1xi32, #wg>
    }
    gpu.barrier
    %v = memref.load %a[%bx, %tx] : memref<2x70xi32>
    %bit = arith.andi %v, %one : i32
    %is_odd = arith.cmpi eq, %bit, %one : i32
    scf.if %is_odd {
      %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32, #wg>) -> i32
      %place = arith.index_cast %old : i32 to index
      memref.store %v, %w[%place] : memref<70xi32, #wg>
    }
    gpu.barrier
    scf.if %is_first {
      %size = memref.load %count[%c0] : memref<1xi32, #wg>
      %end = arith.index_cast %size : i32 to index
      %sum = scf.for %i = %c0 to %end step %c1 iter_args(%s = %zero) -> i32 {
        %x = memref.load %w[%i] : memref<70xi32, #wg>
        %new = arith.addi %s, %x : i32
        scf.yield %new : i32
      }
      memref.store %sum, %sums[%bx] : memref<2xi32>
      memref.store %size, %counts[%bx] : memref<2xi32>
    }
""",
        block=(70, 1, 1),
        buffers="%count: memref<1xi32, #wg>, %w: memref<70xi32, #wg>",
    )
)


def expect_compact(arguments: Sequence[Any]) -> dict[int, Array]:
    odd = arguments[0] % 2
    sums = (arguments[0] * odd).sum(axis=1)
    return {1: sums.astype(np.int32), 2: odd.sum(axis=1).astype(np.int32)}


CASES = (
    Case(
        "tree reduction",
        TREE,
        "tree",
        grid=(4, 1, 1),
        block=(128, 1, 1),
        make=lambda rng: [eighths(rng, 1000), eighths(rng, 4)],
        expect=expect_tree,
    ),
    *(
        all_reduce(f"f32 by {size}", "f32", "add", (size, 1, 1), eighths, sum_rows)
        for size in (32, 64, 70, 96, 100, 160, 224, 256)
    ),
    all_reduce("f64 by 50", "f64", "mul", (50, 1, 1), signs, lambda x: x.prod(axis=1)),
    all_reduce("f32 by 12x5x2", "f32", "add", (12, 5, 2), eighths, sum_rows),
    all_reduce("i32 by 70", "i32", "add", (70, 1, 1), signed, lambda x: x.sum(axis=1)),
    all_reduce("f64 by 96", "f64", "mul", (96, 1, 1), signs, lambda x: x.prod(axis=1)),
    all_reduce("i32 by 160", "i32", "xor", (160, 1, 1), signed, xor_rows),
    all_reduce("i32 by 100", "i32", "maxsi", (100, 1, 1), signed, lambda x: x.max(axis=1)),
    all_reduce("i32 by 40", "i32", "minsi", (40, 1, 1), signed, lambda x: x.min(axis=1)),
    Case(
        "several all_reduce in a loop",
        SEVERAL,
        "several",
        grid=(1, 1, 1),
        block=(100, 1, 1),
        make=lambda rng: [eighths(rng, shape) for shape in ((5, 100), 5, 5, 1)],
        expect=expect_several,
    ),
    Case(
        "scan",
        SCAN,
        "scan",
        grid=(3, 1, 1),
        block=(96, 1, 1),
        make=lambda rng: [signed(rng, (3, 96))],
        expect=lambda x: {0: x[0].cumsum(axis=1, dtype=np.int32)},
    ),
    Case(
        "histogram",
        HISTOGRAM,
        "histogram",
        grid=(3, 1, 1),
        block=(96, 1, 1),
        make=lambda rng: [whole(rng, 1000), whole(rng, 40)],
        expect=expect_histogram,
    ),
    Case(
        "atomics",
        ATOMICS,
        "atomics",
        grid=(3, 1, 1),
        block=(64, 1, 1),
        make=make_atomics,
        expect=expect_atomics,
    ),
    Case(
        "compare and swap",
        SWAPS,
        "swaps",
        grid=(3, 1, 1),
        block=(50, 1, 1),
        make=lambda rng: [signed(rng, (150,)), eighths(rng, 150), whole(rng, 1), eighths(rng, 1)],
        expect=expect_swaps,
    ),
    Case(
        "compaction",
        COMPACT,
        "compact",
        grid=(2, 1, 1),
        block=(70, 1, 1),
        make=lambda rng: [whole(rng, (2, 70)), whole(rng, 2), whole(rng, 2)],
        expect=expect_compact,
    ),
)
