"""Programs on memrefs whose operations work on each other's memory."""

from __future__ import annotations

import numpy as np

from .program import Array, Program, floats, indices, number

_GATHER = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
!t = memref<?x?xf32>
func.func @main(%t: !t, %i: memref<?xi32>, %y: !t) {
  linalg.exp ins(%t : !t) outs(%t : !t)
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : memref<?xi32>) outs(%y : !t) {
  ^bb0(%r: i32, %o: f32):
    %row = arith.index_cast %r : i32 to index
    %c = linalg.index 1 : index
    %v = memref.load %t[%row, %c] : !t
    linalg.yield %v : f32
  }
  return
}
"""


def _gather(t: Array, i: Array, y: Array) -> tuple[Array, Array]:
    table = np.exp(t)
    return table, table[i]


_SOFTMAX = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
!x = memref<{m}x{n}xf32>
!r = memref<{m}xf32>
func.func @main(%x: !x, %m: !r, %s: !r) {{
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  linalg.fill ins(%low : f32) outs(%m : !r)
  linalg.fill ins(%zero : f32) outs(%s : !r)
  linalg.reduce {{ arith.maximumf }} ins(%x : !x) outs(%m : !r) dimensions = [1]
  linalg.generic {{indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%m : !r) outs(%x : !x) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.subf %o, %a : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }}
  linalg.reduce {{ arith.addf }} ins(%x : !x) outs(%s : !r) dimensions = [1]
  linalg.generic {{indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%s : !r) outs(%x : !x) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.divf %o, %a : f32
    linalg.yield %0 : f32
  }}
  return
}}
"""


def _softmax(x: Array, m: Array, s: Array) -> tuple[Array, Array, Array]:
    highest = x.max(1)
    raised = np.exp(x - highest[:, None])
    total = raised.sum(1)
    return raised / total[:, None], highest, total


_OVERLAP = """
#view = strided<[1], offset: ?>
!x = memref<40xf32>
!v = memref<30xf32, #view>
func.func @main(%x: !x, %i: index, %j: index, %y: memref<30xf32>) {
  %a = memref.subview %x[%i] [30] [1] : !x to !v
  %b = memref.subview %x[%j] [30] [1] : !x to !v
  linalg.exp ins(%a : !v) outs(%y : memref<30xf32>)
  linalg.add ins(%y, %y : memref<30xf32>, memref<30xf32>) outs(%b : !v)
  linalg.add ins(%y, %a : memref<30xf32>, !v) outs(%y : memref<30xf32>)
  linalg.negf ins(%x : !x) outs(%x : !x)
  return
}
"""


def _overlap(x: Array, i: int, j: int, y: Array) -> tuple[Array, Array]:
    after, raised = x.copy(), np.exp(x[i : i + 30])
    after[j : j + 30] = raised + raised
    return -after, raised + after[i : i + 30]


_ITERATE = """
!m = memref<8x8xf32>
!v = memref<8xf32>
func.func @main(%m: !m, %v: !v, %n: index, %p: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %t = memref.alloc() : !v
  scf.for %i = %c0 to %n step %c1 {
    linalg.fill ins(%zero : f32) outs(%t : !v)
    linalg.matvec ins(%m, %v : !m, !v) outs(%t : !v)
    %r = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %r, %c0 : index
    scf.if %even {
      linalg.tanh ins(%t : !v) outs(%v : !v)
    } else {
      linalg.copy ins(%t : !v) outs(%v : !v)
    }
  }
  %first = memref.load %v[%c0] : !v
  memref.store %one, %v[%c0] : !v
  linalg.mul ins(%v, %v : !v, !v) outs(%t : !v)
  %s = memref.alloc() : memref<f32>
  linalg.fill ins(%first : f32) outs(%s : memref<f32>)
  linalg.dot ins(%t, %v : !v, !v) outs(%s : memref<f32>)
  %dot = memref.load %s[] : memref<f32>
  memref.dealloc %t : !v
  memref.store %dot, %p[%c0] : memref<1xf32>
  memref.dealloc %s : memref<f32>
  return
}
"""


def _iterate(m: Array, v: Array, n: int, p: Array) -> tuple[Array, Array]:
    for i in range(n):
        v = m @ v
        v = np.tanh(v) if i % 2 == 0 else v
    first = v[0]
    v = v.copy()
    v[0] = 1
    p[0] = first + (v * v * v).sum()
    return v, p


_CALLS = """
!x = memref<?x?xf32>
func.func private @scale(%x: !x, %y: !x) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : !x
  %s = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<?xf32>)
  linalg.reduce { arith.addf } ins(%x : !x) outs(%s : memref<?xf32>) dimensions = [1]
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%s, %x : memref<?xf32>, !x) outs(%y : !x) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %s : memref<?xf32>
  return
}
func.func @main(%x: !x, %y: !x) {
  call @scale(%x, %x) : (!x, !x) -> ()
  linalg.add ins(%x, %y : !x, !x) outs(%y : !x)
  call @scale(%x, %y) : (!x, !x) -> ()
  return
}
"""


def _calls(x: Array, y: Array) -> tuple[Array, Array]:
    once = x * x.sum(1, keepdims=True)
    return once, once * once.sum(1, keepdims=True)


_UPDATES = """
#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
!x = memref<17x17xf32>
func.func @main(%a: !x, %b: !x, %c: !x) {
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%b : !x) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %two : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : !x) outs(%a : !x) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %o : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#t, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : !x, !x) outs(%c : !x) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  }
  return
}
"""


def _updates(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    doubled = 2 * a.T
    changed = a + doubled.T
    return changed, doubled, changed.T + doubled


PROGRAMS = (
    Program(
        "memref_gather",
        _GATHER,
        (
            (floats(20, 12), indices(7, below=20, kind="i32"), floats(7, 12)),
            (floats(1, 1), indices(1, below=1, kind="i32"), floats(1, 1)),
        ),
        _gather,
        1e-4,
        (0, 2),
    ),
    Program(
        "memref_softmax_in_place",
        _SOFTMAX.format(m=20, n=70),
        ((floats(20, 70), floats(20), floats(20)),),
        _softmax,
        1e-4,
        (0, 1, 2),
    ),
    Program(
        "memref_softmax_in_place_dynamic",
        _SOFTMAX.format(m="?", n="?"),
        tuple((floats(m, n), floats(m), floats(m)) for m, n in ((9, 300), (1, 1), (40, 3))),
        _softmax,
        1e-4,
        (0, 1, 2),
    ),
    Program(
        "memref_overlapping_views",
        _OVERLAP,
        tuple((floats(40), number(i), number(j), floats(30)) for i, j in ((0, 5), (5, 0), (3, 3))),
        _overlap,
        1e-4,
        (0, 3),
    ),
    Program(
        "memref_iterate",
        _ITERATE,
        tuple((floats(8, 8), floats(8), number(n), floats(1)) for n in (3, 0)),
        _iterate,
        1e-3,
        (1, 3),
    ),
    Program(
        "memref_calls",
        _CALLS,
        ((floats(20, 30), floats(20, 30)), (floats(3, 1), floats(3, 1))),
        _calls,
        1e-3,
        (0, 1),
    ),
    Program(
        "memref_updates",
        _UPDATES,
        ((floats(17, 17), floats(17, 17), floats(17, 17)),),
        _updates,
        written=(0, 1, 2),
    ),
)
