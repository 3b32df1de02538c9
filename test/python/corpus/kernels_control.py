"""Kernels of loops and branches that differ from thread to thread, and of private memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corpus.kernels_case import Array, Case, function, module, normal, positive, whole

COLLATZ = module(
    function(
        "collatz",
        "%a: memref<?xi32>, %steps: memref<?xi32>",
        """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %n = memref.dim %a, %c0 : memref<?xi32>
    %i = affine.apply affine_map<(b, t)[size] -> (b * size + t)>(%bx, %tx)[%nx]
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %first = memref.load %a[%i] : memref<?xi32>
      %count:2 = scf.while (%v = %first, %k = %zero) : (i32, i32) -> (i32, i32) {
        %more = arith.cmpi ugt, %v, %one : i32
        scf.condition(%more) %v, %k : i32, i32
      } do {
      ^bb0(%v: i32, %k: i32):
        %bit = arith.andi %v, %one : i32
        %is_odd = arith.cmpi eq, %bit, %one : i32
        %next = scf.if %is_odd -> i32 {
          %tripled = arith.muli %v, %three : i32
          %up = arith.addi %tripled, %one : i32
          scf.yield %up : i32
        } else {
          %down = arith.shrui %v, %one : i32
          scf.yield %down : i32
        }
        %new = arith.addi %k, %one : i32
        scf.yield %next, %new : i32, i32
      }
      memref.store %count#1, %steps[%i] : memref<?xi32>
    }
""",
    )
)


def collatz(number: int) -> int:
    """Return the number of steps that `number` takes to 1."""
    count = 0
    while number > 1:
        number = 3 * number + 1 if number % 2 else number // 2
        count += 1
    return count


GCD = module(
    function(
        "gcd",
        "%a: memref<2x50xi64>, %b: memref<2x50xi64>",
        """
    %zero = arith.constant 0 : i64
    %x = memref.load %a[%bx, %tx] : memref<2x50xi64>
    %y = memref.load %b[%bx, %tx] : memref<2x50xi64>
    %gcd:2 = scf.while (%u = %x, %v = %y) : (i64, i64) -> (i64, i64) {
      %more = arith.cmpi ne, %v, %zero : i64
      scf.condition(%more) %u, %v : i64, i64
    } do {
    ^bb0(%u: i64, %v: i64):
      %rest = arith.remui %u, %v : i64
      scf.yield %v, %rest : i64, i64
    }
    memref.store %gcd#0, %a[%bx, %tx] : memref<2x50xi64>
""",
        block=(50, 1, 1),
    )
)

# Threads past the end leave at once, others after their first negative number.
LEAVE = module(
    function(
        "leave",
        "%a: memref<?x5xf32>, %sums: memref<?xf32>",
        """
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %sums, %c0 : memref<?xf32>
    %i = affine.apply affine_map<(b, t) -> (b * 64 + t)>(%bx, %tx)
    %out = arith.cmpi uge, %i, %n : index
    cf.cond_br %out, ^leave, ^next(%c0, %zero : index, f32)
  ^leave:
    gpu.return
  ^next(%j: index, %sum: f32):
    %more = arith.cmpi ult, %j, %c5 : index
    cf.cond_br %more, ^add, ^done(%sum : f32)
  ^add:
    %v = memref.load %a[%i, %j] : memref<?x5xf32>
    %is_negative = arith.cmpf olt, %v, %zero : f32
    %new = arith.addf %sum, %v : f32
    %k = arith.addi %j, %c1 : index
    cf.cond_br %is_negative, ^done(%sum : f32), ^next(%k, %new : index, f32)
  ^done(%all: f32):
    memref.store %all, %sums[%i] : memref<?xf32>
""",
        block=(64, 1, 1),
    )
)


def expect_leave(arguments: Sequence[Any]) -> dict[int, Array]:
    a = arguments[0].astype(np.float64)
    kept = np.cumprod(a > 0, axis=1)
    return {1: (a * kept).sum(axis=1)}


# Insertion sort in private memory, by indices that only the run knows.
SORT = module(
    function(
        "sort",
        "%a: memref<?x9xf32>",
        """
    %n = memref.dim %a, %c0 : memref<?x9xf32>
    %p = memref.alloca() : memref<9xf32>
    %i = affine.apply affine_map<(b, t) -> (b * 40 + t)>(%bx, %tx)
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      scf.for %j = %c0 to %c9 step %c1 {
        %v = memref.load %a[%i, %j] : memref<?x9xf32>
        %place = scf.while (%k = %j) : (index) -> index {
          %positive = arith.cmpi ugt, %k, %c0 : index
          %more = scf.if %positive -> i1 {
            %before = arith.subi %k, %c1 : index
            %u = memref.load %p[%before] : memref<9xf32>
            %greater = arith.cmpf ogt, %u, %v : f32
            scf.if %greater {
              memref.store %u, %p[%k] : memref<9xf32>
            }
            scf.yield %greater : i1
          } else {
            scf.yield %positive : i1
          }
          scf.condition(%more) %k : index
        } do {
        ^bb0(%k: index):
          %before = arith.subi %k, %c1 : index
          scf.yield %before : index
        }
        memref.store %v, %p[%place] : memref<9xf32>
      }
      scf.for %j = %c0 to %c9 step %c1 {
        %v = memref.load %p[%j] : memref<9xf32>
        memref.store %v, %a[%i, %j] : memref<?x9xf32>
      }
    }
""",
        block=(40, 1, 1),
    )
)

# The largest number of equal digits (of four bits) of each number.
DIGITS = module(
    function(
        "digits",
        "%a: memref<?xi64>, %tops: memref<?xi8>",
        """
    %zero = arith.constant 0 : i8
    %one = arith.constant 1 : i8
    %fifteen = arith.constant 15 : i64
    %four = arith.constant 4 : i64
    %n = memref.dim %a, %c0 : memref<?xi64>
    %i = affine.apply affine_map<(b, t) -> (b * 33 + t)>(%bx, %tx)
    scf.for %d = %c0 to %c16 step %c1 {
      memref.store %zero, %p[%d] : memref<16xi8, #private>
    }
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %first = memref.load %a[%i] : memref<?xi64>
      %rest = scf.for %k = %c0 to %c16 step %c1 iter_args(%v = %first) -> i64 {
        %digit = arith.andi %v, %fifteen : i64
        %d = arith.index_cast %digit : i64 to index
        %old = memref.load %p[%d] : memref<16xi8, #private>
        %new = arith.addi %old, %one : i8
        memref.store %new, %p[%d] : memref<16xi8, #private>
        %shifted = arith.shrui %v, %four : i64
        scf.yield %shifted : i64
      }
      %top = scf.for %d = %c0 to %c16 step %c1 iter_args(%old = %zero) -> i8 {
        %count = memref.load %p[%d] : memref<16xi8, #private>
        %new = arith.maxsi %old, %count : i8
        scf.yield %new : i8
      }
      memref.store %top, %tops[%i] : memref<?xi8>
    }
""",
        private="%p: memref<16xi8, #private>",
    )
)


def expect_digits(arguments: Sequence[Any]) -> dict[int, Array]:
    digits = arguments[0][:, None] >> np.arange(0, 64, 4) & 15
    counts = (digits[:, :, None] == np.arange(16)).sum(axis=1)
    return {1: counts.max(axis=1).astype(np.int8)}


# Functions take values, global and workgroup memory; one of them has a barrier.
CALLS = module(
    """\
  func.func private @square(%x: f32) -> f32 {
    %xx = arith.mulf %x, %x : f32
    return %xx : f32
  }
  func.func private @load(%a: memref<?x30xf32>, %i: index, %j: index) -> f32 {
    %x = memref.load %a[%i, %j] : memref<?x30xf32>
    %xx = func.call @square(%x) : (f32) -> f32
    return %xx : f32
  }
  func.func private @exchange(%w: memref<30xf32, #wg>, %x: f32, %i: index) -> f32 {
    %c29 = arith.constant 29 : index
    memref.store %x, %w[%i] : memref<30xf32, #wg>
    gpu.barrier
    %other = arith.subi %c29, %i : index
    %y = memref.load %w[%other] : memref<30xf32, #wg>
    return %y : f32
  }""",
    function(
        "calls",
        "%a: memref<?x30xf32>, %b: memref<?x30xf32>",
        """
    %x = func.call @load(%a, %bx, %tx) : (memref<?x30xf32>, index, index) -> f32
    %y = func.call @exchange(%w, %x, %tx) : (memref<30xf32, #wg>, f32, index) -> f32
    memref.store %y, %b[%bx, %tx] : memref<?x30xf32>
""",
        block=(30, 1, 1),
        buffers="%w: memref<30xf32, #wg>",
    ),
)

# The second kernel of this program is the first one's inverse.
SCALES = module(
    function(
        "scale",
        "%a: memref<6x5x4xf32>, %factor: f32",
        """
    %x = memref.load %a[%tz, %ty, %tx] : memref<6x5x4xf32>
    %y = arith.mulf %x, %factor : f32
    memref.store %y, %a[%tz, %ty, %tx] : memref<6x5x4xf32>
""",
        block=(4, 5, 6),
    ),
    function(
        "unscale",
        "%factor: f32, %a: memref<6x5x4xf32>",
        """
    %i = affine.apply affine_map<(b, t) -> (b * 2 + t)>(%bz, %tz)
    %x = memref.load %a[%i, %by, %tx] : memref<6x5x4xf32>
    %y = arith.divf %x, %factor : f32
    memref.store %y, %a[%i, %by, %tx] : memref<6x5x4xf32>
""",
        block=(4, 1, 2),
    ),
)

ASSERTED = module(
    function(
        "asserted",
        "%a: memref<70xi32>",
        """
    %zero = arith.constant 0 : i32
    %x = memref.load %a[%tx] : memref<70xi32>
    %is_positive = arith.cmpi sgt, %x, %zero : i32
    cf.assert %is_positive, "numbers are positive"
    %y = arith.subi %zero, %x : i32
    memref.store %y, %a[%tx] : memref<70xi32>
""",
        block=(70, 1, 1),
    )
)

CASES = (
    Case(
        "while loops",
        COLLATZ,
        "collatz",
        grid=(3, 1, 1),
        block=(50, 1, 1),
        make=lambda rng: [whole(rng, 133, top=10**4), whole(rng, 133)],
        expect=lambda x: {1: np.array([collatz(int(v)) for v in x[0]], np.int32)},
    ),
    Case(
        "greatest common divisors",
        GCD,
        "gcd",
        grid=(2, 1, 1),
        block=(50, 1, 1),
        make=lambda rng: [whole(rng, (2, 50), "i8", 10**12) * 6 for _ in range(2)],
        expect=lambda x: {0: np.gcd(x[0], x[1])},
    ),
    Case(
        "early exits",
        LEAVE,
        "leave",
        grid=(2, 1, 1),
        block=(64, 1, 1),
        make=lambda rng: [normal(rng, (100, 5)), normal(rng, 100)],
        expect=expect_leave,
        tolerance=1e-6,
    ),
    Case(
        "sort in private memory",
        SORT,
        "sort",
        grid=(3, 1, 1),
        block=(40, 1, 1),
        make=lambda rng: [normal(rng, (97, 9))],
        expect=lambda x: {0: np.sort(x[0], axis=1)},
    ),
    Case(
        "digits in private memory",
        DIGITS,
        "digits",
        grid=(4, 1, 1),
        block=(33, 1, 1),
        make=lambda rng: [whole(rng, 120, "i8", 2**60), whole(rng, 120, "i1")],
        expect=expect_digits,
    ),
    Case(
        "calls",
        CALLS,
        "calls",
        grid=(3, 1, 1),
        block=(30, 1, 1),
        make=lambda rng: [normal(rng, (3, 30)), normal(rng, (3, 30))],
        expect=lambda x: {1: np.square(x[0])[:, ::-1]},
    ),
    Case(
        "first of two kernels",
        SCALES,
        "scale",
        grid=(1, 1, 1),
        block=(4, 5, 6),
        make=lambda rng: [normal(rng, (6, 5, 4)), 1.5],
        expect=lambda x: {0: x[0] * np.float32(x[1])},
    ),
    Case(
        "second of two kernels",
        SCALES,
        "unscale",
        grid=(1, 5, 3),
        block=(4, 1, 2),
        make=lambda rng: [1.5, positive(rng, (6, 5, 4))],
        expect=lambda x: {1: x[1] / np.float32(x[0])},
        tolerance=1e-6,
    ),
    Case(
        "assertions",
        ASSERTED,
        "asserted",
        grid=(1, 1, 1),
        block=(70, 1, 1),
        make=lambda rng: [whole(rng, 70)],
        expect=lambda x: {0: -x[0]},
    ),
)
