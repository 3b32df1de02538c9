"""Programs that read by quotients, remainders and in falling order, or what others have made."""

from __future__ import annotations

import numpy as np

from .program import Array, Program, floats, indices, number

_MAPPED = """
func.func @main(%x: tensor<{source}xf32>) -> tensor<{result}xf32> {{
  %e = tensor.empty() : tensor<{result}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({read})>,
                                        affine_map<({loops}) -> ({loops})>],
                       iterator_types = [{kinds}]}}
      ins(%x : tensor<{source}xf32>) outs(%e : tensor<{result}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }} -> tensor<{result}xf32>
  return %r : tensor<{result}xf32>
}}
"""


def _mapped(source: str, result: str, loops: str, read: str) -> str:
    kinds = ", ".join(['"parallel"'] * len(loops.split(",")))
    return _MAPPED.format(source=source, result=result, loops=loops, read=read, kinds=kinds)


_GROUPED = """
#a = affine_map<(i, j, k) -> (i floordiv 3, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
!c = tensor<96x72xf32>
func.func @main(%a: tensor<32x80xf32>, %b: tensor<80x72xf32>) -> !c {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x80xf32>, tensor<80x72xf32>) outs(%z : !c) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> !c
  return %r : !c
}
"""

_OF_FILL = """
#id = affine_map<(i) -> (i)>
!v = tensor<24xf32>
func.func @main(%x: !v, %i: tensor<24xi64>, %k: f32) -> !v {
  %e = tensor.empty() : !v
  %f = linalg.fill ins(%k : f32) outs(%e : !v) -> !v
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %i : !v, tensor<24xi64>) outs(%e : !v) {
  ^bb0(%a: f32, %b: i64, %o: f32):
    %j = arith.index_cast %b : i64 to index
    %c = tensor.extract %f[%j] : !v
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  } -> !v
  return %r : !v
}
"""

_OF_IOTA = """
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<24xf32>
  %t = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%e : tensor<24xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    linalg.yield %f : f32
  } -> tensor<24xf32>
  %s = tensor.extract_slice %t[5] [8] [1] : tensor<24xf32> to tensor<8xf32>
  %d = tensor.empty() : tensor<8xf32>
  %r = linalg.add ins(%x, %s : tensor<8xf32>, tensor<8xf32>) outs(%d : tensor<8xf32>)
      -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""

_INSERT = """
func.func @main(%x: tensor<24xf32>, %k: f32, %i: index) -> tensor<24xf32> {
  %r = tensor.insert %k into %x[%i] : tensor<24xf32>
  %e = tensor.empty() : tensor<24xf32>
  %n = linalg.negf ins(%r : tensor<24xf32>) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  return %n : tensor<24xf32>
}
"""


def _insert(x: Array, k: float, i: int) -> tuple[Array, Array]:
    changed = x.copy()
    changed[i] = k
    return x, -changed


_MEMORY = """
!v = memref<24xf32>
func.func @main(%a: !v, %b: !v, %c: !v, %k: f32) {
  %c0 = arith.constant 0 : index
  {body}
  return
}
"""


def _memory(body: str) -> str:
    return _MEMORY.replace("{body}", body)


def _equal(a: Array, b: Array, c: Array, k: float) -> tuple[Array, Array, Array]:
    again = a + b
    return a, b, again


def _swap(a: Array, b: Array, c: Array, k: float) -> tuple[Array, Array, Array]:
    return b, a, c


def _kept(a: Array, b: Array, c: Array, k: float) -> tuple[Array, Array, Array]:
    raised = np.exp(a)
    changed = a.copy()
    changed[0] = k
    return changed, np.exp(raised), c


def _filled(a: Array, b: Array, c: Array, k: float) -> tuple[Array, Array, Array]:
    low = np.minimum(c, a)
    return low, np.full_like(b, k), c


_EQUAL = """linalg.add ins(%a, %b : !v, !v) outs(%c : !v)
  memref.store %k, %c[%c0] : !v
  linalg.add ins(%a, %b : !v, !v) outs(%c : !v)"""
_SWAP = """%t = memref.alloc() : !v
  linalg.copy ins(%a : !v) outs(%t : !v)
  memref.copy %b, %a : !v to !v
  linalg.copy ins(%t : !v) outs(%b : !v)
  memref.dealloc %t : !v"""
_KEPT = """%t = memref.alloc() : !v
  linalg.exp ins(%a : !v) outs(%t : !v)
  memref.store %k, %a[%c0] : !v
  linalg.exp ins(%t : !v) outs(%b : !v)"""
_FILLED = """%t = memref.alloc() : !v
  %c1 = arith.constant 1 : index
  linalg.fill ins(%k : f32) outs(%t : !v)
  scf.for %i = %c0 to %c1 step %c1 {
    linalg.min ins(%c, %a : !v, !v) outs(%a : !v)
    linalg.exp ins(%t : !v) outs(%t : !v)
  }
  linalg.fill ins(%k : f32) outs(%b : !v)"""

_MEMORY_RUN = ((floats(24), floats(24), floats(24), number(3, "f32")),)

PROGRAMS = (
    Program(
        "read_quotient",
        _mapped("1366", "4098", "i", "i floordiv 3"),
        ((floats(1366),),),
        lambda x: -np.repeat(x, 3),
    ),
    Program(
        "read_remainder",
        _mapped("5", "4097", "i", "i mod 5"),
        ((floats(5),),),
        lambda x: -np.resize(x, 4097),
    ),
    Program(
        "read_backwards",
        _mapped("4096", "4096", "i", "4095 - i"),
        ((floats(4096),),),
        lambda x: -x[::-1],
    ),
    Program(
        "upsample_nearest",
        _mapped("2x5x7", "2x15x21", "c, i, j", "c, i floordiv 3, j floordiv 3"),
        ((floats(2, 5, 7),),),
        lambda x: -x.repeat(3, 1).repeat(3, 2),
    ),
    Program(
        "matmul_grouped_rows",
        _GROUPED,
        ((floats(32, 80), floats(80, 72)),),
        lambda a, b: np.repeat(a, 3, 0) @ b,
        1e-4,
    ),
    Program(
        "gather_of_fill",
        _OF_FILL,
        ((floats(24), indices(24, below=24), number(3, "f32")),),
        lambda x, i, k: x + k,
    ),
    Program(
        "slice_of_iota",
        _OF_IOTA,
        ((floats(8),),),
        lambda x: x + np.arange(5, 13, dtype=np.float32),
    ),
    Program(
        "insert_into_argument",
        _INSERT,
        ((floats(24), number(3, "f32"), number(5)),),
        _insert,
        written=(0,),
    ),
    Program("memref_equal_adds", _memory(_EQUAL), _MEMORY_RUN, _equal, 1e-5, (0, 1, 2)),
    Program("memref_swap", _memory(_SWAP), _MEMORY_RUN, _swap, 1e-5, (0, 1, 2)),
    Program("memref_kept_over_store", _memory(_KEPT), _MEMORY_RUN, _kept, 1e-4, (0, 1, 2)),
    Program("memref_fill_again", _memory(_FILLED), _MEMORY_RUN, _filled, 1e-5, (0, 1, 2)),
)
