"""Programs that move elements: transpositions, reshapes, slices, paddings, look-ups, packing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, Program, distinct, floats, indices, number, whole

_TRANSPOSE = """
!x = tensor<{x}x{kind}>
!y = tensor<{y}x{kind}>
func.func @main(%x: !x) -> !y {{
  {sizes}
  %e = tensor.empty({dims}) : !y
  %r = linalg.transpose ins(%x : !x) outs(%e : !y) permutation = {order}
  return %r : !y
}}
"""


def _transpose(shape: str, order: list[int], kind: str = "f32") -> str:
    extents = shape.split("x")
    unknown = [n for n in order if extents[n] == "?"]
    sizes = "\n  ".join(
        f"%c{n} = arith.constant {n} : index\n  %d{n} = tensor.dim %x, %c{n} : !x" for n in unknown
    )
    return _TRANSPOSE.format(
        x=shape,
        y="x".join(extents[n] for n in order),
        kind=kind,
        sizes=sizes,
        dims=", ".join(f"%d{n}" for n in unknown),
        order=order,
    )


_GATHER = """
!t = tensor<50x16xf32>
!y = tensor<?x16xf32>
func.func @main(%t: !t, %i: tensor<?xi64>) -> !y {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : !y
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xi64>) outs(%e : !y) {
  ^bb0(%at: i64, %o: f32):
    %0 = arith.index_cast %at : i64 to index
    %j = linalg.index 1 : index
    %1 = tensor.extract %t[%0, %j] : !t
    linalg.yield %1 : f32
  } -> !y
  return %r : !y
}
"""

# As torch-mlir writes an embedding: it asserts what it looks up.
_EMBEDDING = """
!t = tensor<40x24xf32>
!y = tensor<3x7x24xf32>
func.func @main(%t: !t, %i: tensor<3x7xi64>) -> !y {
  %e = tensor.empty() : !y
  %r = linalg.generic {
      indexing_maps = [affine_map<(a, b, j) -> (a, b)>, affine_map<(a, b, j) -> (a, b, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%i : tensor<3x7xi64>) outs(%e : !y) {
  ^bb0(%at: i64, %o: f32):
    %zero = arith.constant 0 : i64
    %n = arith.constant 40 : i64
    %j = linalg.index 2 : index
    %low = arith.cmpi slt, %at, %n : i64
    cf.assert %low, "index must be smaller than dim size"
    %high = arith.cmpi sge, %at, %zero : i64
    cf.assert %high, "index must be larger or equal to 0"
    %0 = arith.index_cast %at : i64 to index
    %1 = tensor.extract %t[%0, %j] : !t
    linalg.yield %1 : f32
  } -> !y
  return %r : !y
}
"""

_SCATTER = """
!t = tensor<50x16xf32>
!u = tensor<?x16xf32>
func.func @main(%i: tensor<?xi64>, %u: !u, %t: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %i, %c0 : tensor<?xi64>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %t) -> !t {
    %at = tensor.extract %i[%k] : tensor<?xi64>
    %0 = arith.index_cast %at : i64 to index
    %s = tensor.extract_slice %u[%k, 0] [1, 16] [1, 1] : !u to tensor<16xf32>
    %b = tensor.insert_slice %s into %a[%0, 0] [1, 16] [1, 1] : tensor<16xf32> into !t
    scf.yield %b : !t
  }
  return %r : !t
}
"""


def _scatter(i: Array, u: Array, t: Array) -> Array:
    result = t.copy()
    result[i] = u
    return result


_PAD = """
!x = tensor<?x7xf32>
!y = tensor<?x13xf32>
func.func @main(%x: !x, %low: index, %high: index) -> !y {
  %value = arith.constant 1.5 : f32
  %p = tensor.pad %x low[%low, 2] high[%high, 4] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : !x to !y
  return %p : !y
}
"""

_SLICES = """
!x = tensor<20x?xf32>
!s = tensor<6x?xf32>
!y = tensor<6x?xf32>
func.func @main(%x: !x, %y: !x, %at: index, %n: index) -> (!y, !x) {
  %c1 = arith.constant 1 : index
  %a = tensor.extract_slice %x[%at, 0] [6, %n] [2, 1] : !x to !s
  %b = tensor.extract_slice %x[3, 1] [6, %n] [1, 1] : !x to !s
  %e = tensor.empty(%n) : !y
  %r = linalg.sub ins(%a, %b : !s, !s) outs(%e : !y) -> !y
  %i = tensor.insert_slice %r into %y[5, 1] [6, %n] [1, 1] : !y into !x
  return %r, %i : !y, !x
}
"""


def _slices(x: Array, y: Array, at: int, n: int) -> tuple[Array, Array]:
    difference = x[at : at + 11 : 2, :n] - x[3:9, 1 : 1 + n]
    result = y.copy()
    result[5:11, 1 : 1 + n] = difference
    return difference, result


_CONCAT = """
!x = tensor<4x?xf32>
func.func @main(%x: !x, %y: tensor<4x5xf32>, %z: !x) -> !x {
  %c = tensor.concat dim(1) %x, %y, %z : (!x, tensor<4x5xf32>, !x) -> !x
  return %c : !x
}
"""

_EXPAND = """
!x = tensor<6x?xf32>
!y = tensor<2x3x?xf32>
func.func @main(%x: !x) -> !y {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : !x
  %e = tensor.empty(%n) : !x
  %t = linalg.exp ins(%x : !x) outs(%e : !x) -> !x
  %q = tensor.expand_shape %t [[0, 1], [2]] output_shape [2, 3, %n] : !x into !y
  %f = tensor.empty(%n) : !y
  %u = linalg.negf ins(%q : !y) outs(%f : !y) -> !y
  return %u : !y
}
"""

_COLLAPSE = """
!x = tensor<3x5x8xf32>
!y = tensor<15x8xf32>
func.func @main(%x: !x, %b: tensor<8xf32>) -> tensor<15xf32> {
  %zero = arith.constant 0.0 : f32
  %c = tensor.collapse_shape %x [[0, 1], [2]] : !x into !y
  %e = tensor.empty() : tensor<15xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<15xf32>) -> tensor<15xf32>
  %r = linalg.matvec ins(%c, %b : !y, tensor<8xf32>) outs(%z : tensor<15xf32>) -> tensor<15xf32>
  return %r : tensor<15xf32>
}
"""

# torch-mlir keeps dimensions by expansions with ones, and broadcasts along these.
_UNIT = """
#id = affine_map<(i, j) -> (i, j)>
#kept = affine_map<(i, j) -> (i, 0)>
#row = affine_map<(i, j) -> (i)>
!t = tensor<12x40xf32>
func.func @main(%x: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<12xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<12xf32>) -> tensor<12xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : !t) outs(%z : tensor<12xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<12xf32>
  %k = tensor.expand_shape %s [[0, 1]] output_shape [12, 1] : tensor<12xf32> into tensor<12x1xf32>
  %e = tensor.empty() : !t
  %y = linalg.generic {indexing_maps = [#id, #kept, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %k : !t, tensor<12x1xf32>) outs(%e : !t) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> !t
  return %y : !t
}
"""

_PACK = """
!x = tensor<13x20xf32>
!y = tensor<4x3x4x8xf32>
func.func @main(%x: !x) -> !y {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !y
  %r = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 8]
      into %e : !x -> !y
  return %r : !y
}
"""

_UNPACK = """
!x = tensor<4x3x4x8xf32>
!y = tensor<13x20xf32>
func.func @main(%x: !x) -> !y {
  %e = tensor.empty() : !y
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [4, 8] into %e : !x -> !y
  return %r : !y
}
"""


def _pack(x: Array) -> Array:
    return np.pad(x, ((0, 3), (0, 4))).reshape(4, 4, 3, 8).transpose(0, 2, 1, 3)


def _unpack(x: Array) -> Array:
    return x.transpose(0, 2, 1, 3).reshape(16, 24)[:13, :20]


_GENERATE = """
!y = tensor<?x11xf32>
func.func @main(%n: index, %x: tensor<11xf32>) -> !y {
  %g = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %0 = tensor.extract %x[%j] : tensor<11xf32>
    %1 = arith.index_cast %i : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.addf %0, %2 : f32
    tensor.yield %3 : f32
  } : !y
  return %g : !y
}
"""


def _generate(n: int, x: Array) -> Array:
    return x + np.arange(n, dtype="f4")[:, None]


_CONSTANT = """
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
!t = tensor<?x4xf32>
func.func @main(%x: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<[1.5, -2.25, 0.5, 4.0]> : tensor<4xf32>
  %m = tensor.dim %x, %c0 : !t
  %e = tensor.empty(%m) : !t
  %r = linalg.generic {
      indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %c : !t, tensor<4xf32>) outs(%e : !t) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> !t
  return %r : !t
}
"""

# The last elements first, which no tile of the result reads as a tile of the source.
_REVERSE = """
!t = tensor<?xi32>
func.func @main(%x: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : !t
  %last = arith.subi %n, %c1 : index
  %e = tensor.empty(%n) : !t
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : !t) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.subi %last, %i : index
    %0 = tensor.extract %x[%j] : !t
    linalg.yield %0 : i32
  } -> !t
  return %r : !t
}
"""


def _transposed(
    name: str, shape: str, order: list[int], *runs: tuple[int, ...], **kind: Any
) -> Program:
    make = floats if kind.get("kind", "f32") == "f32" else whole
    return Program(
        name,
        _transpose(shape, order, **kind),
        tuple((make(*run, **kind),) for run in runs),
        lambda x: x.transpose(order),
    )


# As many elements are cut off at one end as are added at the other.
_SHIFT = """
!t = tensor<6x37xf32>
func.func @main(%x: !t) -> !t {
  %z = arith.constant 2.5 : f32
  %s = tensor.pad %x low[1, 0] high[-1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : !t to !t
  %e = tensor.empty() : !t
  %r = linalg.sub ins(%x, %s : !t, !t) outs(%e : !t) -> !t
  return %r : !t
}
"""


# Nothing, of a size that is known behind the cast.
_NOTHING = """
func.func @main(%x: tensor<0x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c = tensor.cast %x : tensor<0x4xf32> to tensor<?x4xf32>
  %n = tensor.dim %c, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.exp ins(%c : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""


PROGRAMS = (
    _transposed("transpose", "?x?", [1, 0], (130, 67), (1, 1), (5, 0), (1, 40)),
    _transposed("transpose_ragged_rows", "130x?", [1, 0], (130, 67), (130, 1), (130, 0)),
    _transposed("permute_ragged", "?x70x9", [2, 0, 1], (7, 70, 9), (1, 70, 9)),
    _transposed("transpose_divisible", "64x128", [1, 0], (64, 128)),
    _transposed("transpose_i8", "33x70", [1, 0], (33, 70), kind="i8"),
    _transposed("permute_4d", "2x3x17x5", [0, 2, 3, 1], (2, 3, 17, 5)),
    _transposed("permute_outer", "4x6x32", [1, 0, 2], (4, 6, 32)),
    Program(
        "gather",
        _GATHER,
        ((floats(50, 16), indices(23, below=50)), (floats(50, 16), indices(0, below=50))),
        lambda t, i: t[i],
        0,
    ),
    Program(
        "embedding",
        _EMBEDDING,
        ((floats(40, 24), indices(3, 7, below=40)),),
        lambda t, i: t[i],
        0,
    ),
    Program(
        "scatter_loop",
        _SCATTER,
        (
            (distinct(23, below=50), floats(23, 16), floats(50, 16)),
            (distinct(0, below=50), floats(0, 16), floats(50, 16)),
        ),
        _scatter,
        0,
    ),
    Program(
        "pad",
        _PAD,
        ((floats(5, 7), number(1), number(3)), (floats(0, 7), number(0), number(1))),
        lambda x, low, high: np.pad(x, ((low, high), (2, 4)), constant_values=1.5),
        0,
    ),
    Program(
        "slices",
        _SLICES,
        (
            (floats(20, 9), floats(20, 9), number(4), number(7)),
            (floats(20, 9), floats(20, 9), number(0), number(0)),
        ),
        _slices,
    ),
    Program(
        "concat",
        _CONCAT,
        (
            (floats(4, 7), floats(4, 5), floats(4, 2)),
            (floats(4, 0), floats(4, 5), floats(4, 1)),
        ),
        lambda x, y, z: np.concatenate([x, y, z], 1),
        0,
    ),
    Program(
        "expand_between",
        _EXPAND,
        ((floats(6, 35),), (floats(6, 0),)),
        lambda x: -np.exp(x).reshape(2, 3, -1) if x.size else x.reshape(2, 3, 0),
    ),
    Program(
        "collapse_matvec",
        _COLLAPSE,
        ((floats(3, 5, 8), floats(8)),),
        lambda x, b: x.reshape(15, 8) @ b,
    ),
    Program(
        "expand_with_ones", _UNIT, ((floats(12, 40),),), lambda x: x / np.abs(x).sum(1)[:, None]
    ),
    Program("pack", _PACK, ((floats(13, 20),),), _pack, 0),
    Program("unpack", _UNPACK, ((floats(4, 3, 4, 8),),), _unpack, 0),
    Program(
        "generate",
        _GENERATE,
        ((number(6), floats(11)), (number(0), floats(11))),
        _generate,
    ),
    Program(
        "constant_tensor",
        _CONSTANT,
        ((floats(9, 4),),),
        lambda x: x * np.array([1.5, -2.25, 0.5, 4], "f4"),
    ),
    Program("reverse", _REVERSE, ((whole(71),), (whole(1),)), lambda x: x[::-1]),
    Program(
        "shift_by_pad",
        _SHIFT,
        ((floats(6, 37),),),
        lambda x: x - np.concatenate([np.full((1, 37), 2.5, "f4"), x[:-1]]),
    ),
    Program("cast_of_nothing", _NOTHING, ((floats(0, 4),),), np.exp),
)
