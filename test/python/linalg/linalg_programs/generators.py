"""Programs with tensors that are made of numbers alone, and read tile by tile, or whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, Program, coarse, floats, number, whole

# Each block reads all of the vector, whatever rows it has.
_SUM_OF_ROWS = """
func.func @main(%a: tensor<{rows}x200xf32>, %i: tensor<{rows}xf32>) -> tensor<{rows}xf32> {{
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<200xf32>
  %f = linalg.fill ins(%two : f32) outs(%e : tensor<200xf32>) -> tensor<200xf32>
  %r = linalg.matvec ins(%a, %f : tensor<{rows}x200xf32>, tensor<200xf32>)
      outs(%i : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  return %r : tensor<{rows}xf32>
}}
"""

_WEIGHTED_ROWS = """
#v = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?x200xf32>, %i: tensor<?xf32>) -> tensor<?xf32> {
  %e = tensor.empty() : tensor<200xf32>
  %f = linalg.generic {indexing_maps = [#v], iterator_types = ["parallel"]}
      outs(%e : tensor<200xf32>) {
  ^bb0(%o: f32):
    %k = linalg.index 0 : index
    %n = arith.index_cast %k : index to i32
    %x = arith.sitofp %n : i32 to f32
    linalg.yield %x : f32
  } -> tensor<200xf32>
  %r = linalg.matvec ins(%a, %f : tensor<?x200xf32>, tensor<200xf32>)
      outs(%i : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""

_SUM_OF_SQUARES_AROUND = """
func.func @main(%a: tensor<1x1x34x34xf32>, %i: tensor<1x1x32x32xf32>) -> tensor<1x1x32x32xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1x1x3x3xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  %r = linalg.conv_2d_nchw_fchw
      ins(%a, %f : tensor<1x1x34x34xf32>, tensor<1x1x3x3xf32>)
      outs(%i : tensor<1x1x32x32xf32>) -> tensor<1x1x32x32xf32>
  return %r : tensor<1x1x32x32xf32>
}
"""

# The least and the place of it, in a tensor of a size that only the run knows.
_TWO_RESULTS = """
#x = affine_map<(i, k) -> (k)>
#y = affine_map<(i, k) -> (i)>
func.func @main(%b: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %most = arith.constant 1.0e9 : f32
  %rows = tensor.dim %b, %c0 : tensor<?xf32>
  %x = tensor.generate %n {
  ^bb0(%i: index):
    %c7 = arith.constant 7 : index
    %c3 = arith.constant 3 : index
    %p = arith.muli %i, %c7 : index
    %m = arith.remui %p, %c3 : index
    %k = arith.index_cast %m : index to i32
    %v = arith.sitofp %k : i32 to f32
    tensor.yield %v : f32
  } : tensor<?xf32>
  %e = tensor.empty(%rows) : tensor<?xf32>
  %f = linalg.fill ins(%most : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = tensor.empty(%rows) : tensor<?xi32>
  %h = linalg.fill ins(%zero : i32) outs(%g : tensor<?xi32>) -> tensor<?xi32>
  %r:2 = linalg.generic {indexing_maps = [#x, #y, #y, #y],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %b : tensor<?xf32>, tensor<?xf32>) outs(%f, %h : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%v: f32, %w: f32, %least: f32, %place: i32):
    %k = linalg.index 1 : index
    %now = arith.index_cast %k : index to i32
    %d = arith.subf %v, %w : f32
    %s = math.absf %d : f32
    %less = arith.cmpf olt, %s, %least : f32
    %m = arith.select %less, %s, %least : f32
    %p = arith.select %less, %now, %place : i32
    linalg.yield %m, %p : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi32>
}
"""

# A block would keep rows of a width that only the run knows.
_PLACE_IN_PADDED = """
#x = affine_map<(i, k) -> (i, k)>
#y = affine_map<(i, k) -> (i)>
func.func @main(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %least = arith.constant -1.0e9 : f32
  %zero = arith.constant 0 : i64
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = arith.addi %rows, %c2 : index
  %y = tensor.pad %x low[0, 0] high[2, 0] {
  ^bb0(%i: index, %k: index):
    tensor.yield %one : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = tensor.empty(%n) : tensor<?xi64>
  %h = linalg.fill ins(%zero : i64) outs(%g : tensor<?xi64>) -> tensor<?xi64>
  %r:2 = linalg.generic {indexing_maps = [#x, #y, #y], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<?x?xf32>) outs(%f, %h : tensor<?xf32>, tensor<?xi64>) {
  ^bb0(%v: f32, %most: f32, %place: i64):
    %k = linalg.index 1 : index
    %now = arith.index_cast %k : index to i64
    %more = arith.cmpf ogt, %v, %most : f32
    %m = arith.select %more, %v, %most : f32
    %p = arith.select %more, %now, %place : i64
    linalg.yield %m, %p : f32, i64
  } -> (tensor<?xf32>, tensor<?xi64>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi64>
}
"""

# Sizes that are constants, but no part of the types.
_CONSTANT_SIZES = """
func.func @main(%x: tensor<4xf32>) -> tensor<?x4xf32> {
  %c3 = arith.constant 3 : index
  %e = tensor.empty(%c3) : tensor<?x4xf32>
  %r = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<?x4xf32>) dimensions = [0]
  %y = linalg.exp ins(%r : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
"""

_SIZE_OF_ANOTHER = """
func.func @main(%x: tensor<5x7xf32>) -> tensor<7xf32> {
  %c1 = arith.constant 1 : index
  %v = arith.constant 2.5 : f32
  %n = tensor.dim %x, %c1 : tensor<5x7xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.cast %f : tensor<?xf32> to tensor<7xf32>
  return %r : tensor<7xf32>
}
"""

# Of two results that nothing is read for, a window reads one, and the other is returned.
_TWO_MADE = """
!t = tensor<64x20xf32>
!y = tensor<60x20xf32>
func.func @main(%w: tensor<3xf32>) -> (!y, !t) {
  %e = tensor.empty() : !t
  %m:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                          affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]} outs(%e, %e : !t, !t) {
  ^bb0(%o: f32, %p: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %n = arith.negf %f : f32
    linalg.yield %n, %f : f32, f32
  } -> (!t, !t)
  %z = arith.constant 0.0 : f32
  %d = tensor.empty() : !y
  %s = linalg.fill ins(%z : f32) outs(%d : !y) -> !y
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i + k * 2, j)>,
                                        affine_map<(i, j, k) -> (k)>,
                                        affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%m#1, %w : !t, tensor<3xf32>) outs(%s : !y) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %x = arith.mulf %p, %q : f32
    %t = arith.addf %o, %x : f32
    linalg.yield %t : f32
  } -> !y
  return %r, %m#0 : !y, !t
}
"""

# A number that is made, and looked up by what starts from it.
_LOOKED_UP = """
func.func @main(%a: memref<4xi32>, %s: memref<i32>) {
  %five = arith.constant 5 : i32
  linalg.fill ins(%five : i32) outs(%s : memref<i32>)
  linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]} ins(%s : memref<i32>) outs(%a : memref<4xi32>) {
  ^bb0(%p: i32, %o: i32):
    linalg.yield %p : i32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                  iterator_types = ["reduction"]} ins(%a : memref<4xi32>) outs(%s : memref<i32>) {
  ^bb0(%p: i32, %o: i32):
    %r = arith.addi %p, %o : i32
    linalg.yield %r : i32
  }
  return
}
"""


def _two_made(w: Array) -> Any:
    column = np.arange(64, dtype="f4")
    sums = sum(w[k] * column[2 * k : 2 * k + 60] for k in range(3))
    return tuple(np.broadcast_to(x[:, None], (len(x), 20)) for x in (sums, -column))


def _least(b: Array, n: int) -> Any:
    x = ((np.arange(n) * 7) % 3).astype("f4")
    distances = np.abs(x[None, :] - b[:, None])
    if n == 0:
        return np.full_like(b, 1e9), np.zeros(len(b), "i4")
    return distances.min(1), distances.argmin(1).astype("i4")


def _greatest(x: Array) -> Any:
    padded = np.pad(x, ((0, 2), (0, 0)), constant_values=1)
    return padded.max(1), padded.argmax(1)


def _windows(a: Array, start: Array) -> Any:
    views = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(2, 3))
    return start + views.sum((4, 5))


_WHOLE_AND_PART = """
func.func @main(%x: tensor<16x4xf32>) -> (tensor<16x8xf32>, tensor<16x4xf32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %eye = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.cmpi eq, %i, %j : index
    %v = arith.select %is, %one, %zero : f32
    linalg.yield %v : f32
  } -> tensor<16x16xf32>
  %part = tensor.extract_slice %eye[0, 2] [16, 8] [1, 1] : tensor<16x16xf32> to tensor<16x8xf32>
  %f = tensor.empty() : tensor<16x8xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  %r = linalg.matmul ins(%eye, %part : tensor<16x16xf32>, tensor<16x8xf32>)
      outs(%g : tensor<16x8xf32>) -> tensor<16x8xf32>
  %h = tensor.empty() : tensor<16x4xf32>
  %k = linalg.fill ins(%zero : f32) outs(%h : tensor<16x4xf32>) -> tensor<16x4xf32>
  %s = linalg.matmul ins(%eye, %x : tensor<16x16xf32>, tensor<16x4xf32>)
      outs(%k : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %r, %s : tensor<16x8xf32>, tensor<16x4xf32>
}
"""

# What a result starts from is read in part, too, by a copy or on the host.
_START_READ_IN_PART = """
func.func @main(%x: tensor<20x30xf32>, %y: tensor<30x20xf32>, %i: index)
    -> (tensor<20xf32>, tensor<10xf32>, tensor<20x20xf32>, tensor<1x20xf32>) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<20xf32>
  %f = linalg.fill ins(%two : f32) outs(%e : tensor<20xf32>) -> tensor<20xf32>
  %part = tensor.extract_slice %f[0] [10] [1] : tensor<20xf32> to tensor<10xf32>
  %sums = linalg.reduce { arith.addf } ins(%x : tensor<20x30xf32>) outs(%f : tensor<20xf32>)
      dimensions = [1]
  %g = tensor.empty() : tensor<20x20xf32>
  %h = linalg.fill ins(%two : f32) outs(%g : tensor<20x20xf32>) -> tensor<20x20xf32>
  %row = tensor.extract_slice %h[%i, 0] [1, 20] [1, 1] : tensor<20x20xf32> to tensor<1x20xf32>
  %product = linalg.matmul ins(%x, %y : tensor<20x30xf32>, tensor<30x20xf32>)
      outs(%h : tensor<20x20xf32>) -> tensor<20x20xf32>
  return %sums, %part, %product, %row
      : tensor<20xf32>, tensor<10xf32>, tensor<20x20xf32>, tensor<1x20xf32>
}
"""


def _start_read_in_part(x: Array, y: Array, _: int) -> Any:
    twos = np.full((20, 20), 2.0, "f4")
    return 2 + x.sum(1), twos[0, :10], 2 + x @ y, twos[:1]


PROGRAMS = (
    Program(
        "start_read_in_part",
        _START_READ_IN_PART,
        ((coarse(20, 30), coarse(30, 20), number(3)),),
        _start_read_in_part,
    ),
    Program(
        "made_whole_and_in_part",
        _WHOLE_AND_PART,
        ((floats(16, 4),),),
        lambda x: (np.eye(16, dtype="f4")[:, 2:10], x),
    ),
    *(
        Program(
            f"sum_of_rows_by_ones_{rows}",
            _SUM_OF_ROWS.format(rows=rows),
            ((coarse(rows, 200), coarse(rows)),),
            lambda a, start: start + 2 * a.sum(1),
        )
        for rows in (8, 1, 133)
    ),
    Program(
        "weighted_rows",
        _WEIGHTED_ROWS,
        ((coarse(9, 200), coarse(9)), (coarse(0, 200), coarse(0))),
        lambda a, start: start + a @ np.arange(200, dtype="f4"),
    ),
    Program(
        "sums_around_by_ones",
        _SUM_OF_SQUARES_AROUND,
        ((coarse(1, 1, 34, 34), coarse(1, 1, 32, 32)),),
        _windows,
    ),
    Program(
        "place_of_the_least_made",
        _TWO_RESULTS,
        ((floats(37), number(70)), (floats(1), number(3)), (floats(5), number(0))),
        _least,
    ),
    Program("place_in_padded", _PLACE_IN_PADDED, ((floats(13, 21),), (floats(1, 1),)), _greatest),
    Program("constant_sizes", _CONSTANT_SIZES, ((floats(4),),), lambda x: np.exp([x] * 3), 1e-5),
    Program(
        "size_of_another",
        _SIZE_OF_ANOTHER,
        ((floats(5, 7),),),
        lambda x: np.full(7, 2.5, "f4"),
    ),
    Program("two_made", _TWO_MADE, ((coarse(3),),), _two_made, 1e-4),
    Program(
        "looked_up",
        _LOOKED_UP,
        ((whole(4), whole()),),
        lambda a, s: (np.full(4, 5, "i4"), np.asarray(25, "i4")),
        written=(0, 1),
    ),
)
