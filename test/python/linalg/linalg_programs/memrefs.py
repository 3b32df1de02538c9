"""Programs on memrefs, which write to their arguments."""

from __future__ import annotations

import numpy as np

from .program import Array, Program, floats, number, positive, whole

_CHAIN = """
#id = affine_map<(i, j) -> (i, j)>
!a = memref<{m}x{k}xf32>
!b = memref<{k}x{n}xf32>
!c = memref<{m}x{n}xf32>
func.func @main(%a: !a, %b: !b, %c: !c, %d: !c) {{
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : !c)
  linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c)
  {between}
  linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%c : !c) outs(%d : !c) {{
  ^bb0(%x: f32, %o: f32):
    %0 = arith.maximumf %x, %zero : f32
    linalg.yield %0 : f32
  }}
  return
}}
"""

# The host changes the product before it is read again.
_STORE = """%c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v = arith.constant 7.5 : f32
  memref.store %v, %c[%c1, %c2] : !c"""


def _chain(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    product = a @ b
    return product, np.maximum(product, np.float32(0))


def _stored(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    product = a @ b
    product[1, 2] = 7.5
    return product, np.maximum(product, np.float32(0))


_COPY = """
!t = memref<?x?xf32>
func.func @main(%x: !t, %y: !t, %z: !t) {
  linalg.add ins(%x, %y : !t, !t) outs(%z : !t)
  memref.copy %z, %y : !t to !t
  linalg.mul ins(%x, %y : !t, !t) outs(%z : !t)
  return
}
"""


def _copy(x: Array, y: Array, z: Array) -> tuple[Array, Array]:
    return x + y, x * (x + y)


_COPY_ALONE = """
!t = memref<?x?xf32>
func.func @main(%x: !t, %y: !t) {
  memref.copy %x, %y : !t to !t
  return
}
"""

_COPY_TO_VIEW = """
#view = strided<[12, 1], offset: ?>
!s = memref<4x5xf32, #view>
func.func @main(%x: memref<10x12xf32>, %y: memref<4x5xf32>, %i: index) {
  %a = memref.subview %x[%i, 2] [4, 5] [1, 1] : memref<10x12xf32> to !s
  memref.copy %y, %a : memref<4x5xf32> to !s
  return
}
"""


def _copy_to_view(x: Array, y: Array, i: int) -> Array:
    result = x.copy()
    result[i : i + 4, 2:7] = y
    return result


_COPY_ONE_WAY = """
!t = memref<?xi8>
func.func @main(%x: !t, %y: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %forth = arith.cmpi ne, %n, %c0 : index
  scf.if %forth {
    memref.copy %x, %y : !t to !t
  } else {
    memref.copy %y, %x : !t to !t
  }
  return
}
"""


def _copy_one_way(x: Array, y: Array, n: int) -> tuple[Array, Array]:
    return (x, x) if n != 0 else (y, y)


_COPIES_IN_LOOP = """
!t = memref<8x16xf32>
func.func @main(%x: !t, %y: !t, %z: !t, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %x, %y : !t to !t
    linalg.exp ins(%y : !t) outs(%z : !t)
    memref.copy %z, %x : !t to !t
  }
  return
}
"""


def _copies_in_loop(x: Array, y: Array, z: Array, n: int) -> tuple[Array, Array, Array]:
    for _ in range(n):
        y, z = x, np.exp(x)
        x = z
    return x, y, z


_SUBVIEWS = """
#view = strided<[12, 1], offset: ?>
!t = memref<10x12xf32>
!s = memref<4x5xf32, #view>
func.func @main(%x: !t, %y: !t, %i: index, %j: index) {
  %o = arith.muli %i, %i : index
  %a = memref.subview %x[%i, %j] [4, 5] [1, 1] : !t to !s
  %b = memref.subview %y[%o, 3] [4, 5] [1, 1] : !t to !s
  linalg.add ins(%a, %b : !s, !s) outs(%b : !s)
  return
}
"""


def _subviews(x: Array, y: Array, i: int, j: int) -> Array:
    result = y.copy()
    result[i * i : i * i + 4, 3:8] += x[i : i + 4, j : j + 5]
    return result


_LOCAL = """
!t = memref<?x16xf32>
!v = memref<?xf32>
func.func @main(%x: !t, %y: !v) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : !t
  %t = memref.alloc(%n) : !t
  linalg.exp ins(%x : !t) outs(%t : !t)
  linalg.fill ins(%zero : f32) outs(%y : !v)
  linalg.reduce { arith.addf } ins(%t : !t) outs(%y : !v) dimensions = [1]
  memref.dealloc %t : !t
  return
}
"""

_IN_PLACE = """
#id = affine_map<(i) -> (i)>
!v = memref<300xi32>
func.func @main(%x: !v, %y: !v) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : !v) outs(%y : !v) {
  ^bb0(%a: i32, %o: i32):
    %0 = arith.muli %a, %o : i32
    linalg.yield %0 : i32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : !v) outs(%x : !v) {
  ^bb0(%a: i32, %o: i32):
    %0 = arith.subi %o, %a : i32
    linalg.yield %0 : i32
  }
  return
}
"""


def _in_place(x: Array, y: Array) -> tuple[Array, Array]:
    return x - x * y, x * y


_UPDATE = """
!c = memref<?x?xf32>
func.func @main(%a: !c, %b: !c, %c: !c) {
  linalg.matmul ins(%a, %b : !c, !c) outs(%c : !c)
  return
}
"""

_CONV = """
!x = memref<1x9x10x3xf32>
!w = memref<3x3x3x4xf32>
!y = memref<1x7x8x4xf32>
func.func @main(%x: !x, %w: !w, %y: !y) {
  linalg.conv_2d_nhwc_hwcf
      {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : !x, !w) outs(%y : !y)
  return
}
"""


def _conv(x: Array, w: Array, y: Array) -> Array:
    views = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    return np.asarray(y + np.einsum("nhwcij,ijcf->nhwf", views, w))


PROGRAMS = (
    Program(
        "memref_chain",
        _CHAIN.format(m=40, n=50, k=30, between=""),
        ((floats(40, 30), floats(30, 50), floats(40, 50), floats(40, 50)),),
        _chain,
        1e-4,
        (2, 3),
    ),
    Program(
        "memref_chain_dynamic",
        _CHAIN.format(m="?", n="?", k="?", between=""),
        tuple(
            (floats(m, k), floats(k, n), floats(m, n), floats(m, n))
            for m, n, k in ((33, 20, 17), (1, 1, 1), (3, 4, 0))
        ),
        _chain,
        1e-4,
        (2, 3),
    ),
    Program(
        "memref_store_between",
        _CHAIN.format(m=9, n=20, k=16, between=_STORE),
        ((floats(9, 16), floats(16, 20), floats(9, 20), floats(9, 20)),),
        _stored,
        1e-4,
        (2, 3),
    ),
    Program(
        "memref_copy_between",
        _COPY,
        tuple((floats(*s), floats(*s), floats(*s)) for s in ((7, 40), (1, 1))),
        _copy,
        written=(1, 2),
    ),
    Program(
        "memref_copy_alone",
        _COPY_ALONE,
        tuple((floats(*s), floats(*s)) for s in ((7, 40), (1, 1), (0, 3))),
        lambda x, y: x,
        written=(1,),
    ),
    Program(
        "memref_copy_to_view",
        _COPY_TO_VIEW,
        ((floats(10, 12), floats(4, 5), number(3)),),
        _copy_to_view,
        written=(0,),
    ),
    Program(
        "memref_copy_one_way",
        _COPY_ONE_WAY,
        tuple((whole(21, kind="i8"), whole(21, kind="i8"), number(n)) for n in (0, 1)),
        _copy_one_way,
        written=(0, 1),
    ),
    Program(
        "memref_copies_in_loop",
        _COPIES_IN_LOOP,
        tuple((*[positive(8, 16)] * 3, number(n)) for n in (2, 0)),
        _copies_in_loop,
        1e-4,
        (0, 1, 2),
    ),
    Program(
        "memref_subviews",
        _SUBVIEWS,
        ((floats(10, 12), floats(10, 12), number(2), number(6)),),
        _subviews,
        written=(1,),
    ),
    Program(
        "memref_local",
        _LOCAL,
        ((floats(11, 16), floats(11)), (floats(1, 16), floats(1))),
        lambda x, y: np.exp(x).sum(1),
        1e-4,
        (1,),
    ),
    Program(
        "memref_in_place",
        _IN_PLACE,
        ((whole(300), whole(300)),),
        _in_place,
        written=(0, 1),
    ),
    Program(
        "memref_update",
        _UPDATE,
        tuple((floats(m, k), floats(k, n), floats(m, n)) for m, n, k in ((20, 30, 40), (3, 2, 0))),
        lambda a, b, c: c + a @ b,
        1e-4,
        (2,),
    ),
    Program(
        "memref_conv",
        _CONV,
        ((floats(1, 9, 10, 3), floats(3, 3, 3, 4), floats(1, 7, 8, 4)),),
        _conv,
        1e-4,
        (2,),
    ),
)
