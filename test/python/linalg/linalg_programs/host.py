"""Programs whose host does more than one thing after the other: loops, branches, calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, Input, Program, floats, number

_RECURRENT = """
!h = tensor<5x24xf32>
!w = tensor<24x24xf32>
func.func @main(%h: !h, %w: !w, %n: index) -> !h {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %h) -> !h {
    %e = tensor.empty() : !h
    %z = linalg.fill ins(%zero : f32) outs(%e : !h) -> !h
    %m = linalg.matmul ins(%a, %w : !h, !w) outs(%z : !h) -> !h
    %t = linalg.tanh ins(%m : !h) outs(%e : !h) -> !h
    scf.yield %t : !h
  }
  return %r : !h
}
"""


def _recurrent(h: Array, w: Array, n: int) -> Array:
    for _ in range(n):
        h = np.tanh(h @ w)
    return h


_SWITCH = """
!t = tensor<?xf32>
func.func @main(%x: !t, %k: index) -> !t {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %seven = arith.constant 7.0 : f32
  %n = tensor.dim %x, %c0 : !t
  %e = tensor.empty(%n) : !t
  %r:2 = scf.index_switch %k -> !t, f32
  case 2 {
    %y = linalg.exp ins(%x : !t) outs(%e : !t) -> !t
    scf.yield %y, %one : !t, f32
  }
  case 5 {
    %y = linalg.abs ins(%x : !t) outs(%e : !t) -> !t
    scf.yield %y, %seven : !t, f32
  }
  default {
    scf.yield %x, %one : !t, f32
  }
  %f = linalg.fill ins(%r#1 : f32) outs(%e : !t) -> !t
  %z = linalg.add ins(%r#0, %f : !t, !t) outs(%e : !t) -> !t
  return %z : !t
}
"""


def _switch(x: Array, k: int) -> Any:
    return {2: np.exp(x) + 1, 5: np.abs(x) + 7}.get(k, x + 1)


_STATIC_LOOP = """
!t = tensor<?x9xf32>
func.func @main(%x: !t, %y: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %m = tensor.dim %x, %c0 : !t
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (!t, !t) {
    %e = tensor.empty(%m) : !t
    %s = linalg.add ins(%a, %b : !t, !t) outs(%e : !t) -> !t
    scf.yield %s, %a : !t, !t
  }
  return %r#0, %r#1 : !t, !t
}
"""


def _fibonacci(x: Array, y: Array) -> tuple[Array, Array]:
    for _ in range(3):
        x, y = x + y, x
    return x, y


_BRANCH = """
!t = tensor<?xf32>
func.func @main(%x: !t, %y: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %n = tensor.dim %x, %c0 : !t
  %large = arith.cmpi sgt, %n, %c40 : index
  %e = tensor.empty(%n) : !t
  %r = scf.if %large -> !t {
    %s = linalg.mul ins(%x, %y : !t, !t) outs(%e : !t) -> !t
    scf.yield %s : !t
  } else {
    %s = linalg.sub ins(%x, %y : !t, !t) outs(%e : !t) -> !t
    scf.yield %s : !t
  }
  return %r : !t
}
"""

_CALLS = """
!t = tensor<?x{n}xf32>
!v = tensor<?xf32>
func.func @scaled(%x: !t, %s: f32) -> !t {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : !t
  %e = tensor.empty(%m) : !t
  %r = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%x : !t) outs(%e : !t) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %s : f32
    linalg.yield %0 : f32
  }} -> !t
  return %r : !t
}}
func.func private @sums(%x: !t) -> !v {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : !t
  %e = tensor.empty(%m) : !v
  %z = linalg.fill ins(%zero : f32) outs(%e : !v) -> !v
  %r = linalg.reduce {{ arith.addf }} ins(%x : !t) outs(%z : !v) dimensions = [1]
  return %r : !v
}}
func.func @main(%x: !t, %s: f32) -> (!v, !t) {{
  %0 = call @scaled(%x, %s) : (!t, f32) -> !t
  %1 = call @sums(%0) : (!t) -> !v
  %2 = call @scaled(%0, %s) : (!t, f32) -> !t
  return %1, %2 : !v, !t
}}
"""


def _calls(x: Array, s: Any) -> tuple[Array, Array]:
    once = x * np.float32(s)
    return once.sum(1), once * np.float32(s)


def _scaled(x: Array, s: Any) -> Array:
    return x * np.float32(s)


_UNUSED = """
!t = tensor<8x8xf32>
func.func @main(%x: !t, %unused: tensor<3xf64>, %n: index) -> (!t, !t, index) {
  %e = tensor.empty() : !t
  %0 = linalg.exp ins(%x : !t) outs(%e : !t) -> !t
  %1 = linalg.negf ins(%x : !t) outs(%e : !t) -> !t
  %2 = arith.addi %n, %n : index
  return %x, %1, %2 : !t, !t, index
}
"""

_FACTOR = Input((), "f32", "scalar", 3, 3)

PROGRAMS = (
    Program(
        "recurrent",
        _RECURRENT,
        tuple((floats(5, 24), floats(24, 24), number(n)) for n in (3, 1, 0)),
        _recurrent,
        1e-3,
    ),
    Program(
        "loop_of_two",
        _STATIC_LOOP,
        ((floats(6, 9), floats(6, 9)), (floats(0, 9), floats(0, 9))),
        _fibonacci,
    ),
    Program(
        "branch",
        _BRANCH,
        ((floats(50), floats(50)), (floats(40), floats(40))),
        lambda x, y: x * y if x.size > 40 else x - y,
    ),
    Program("branch_of_three", _SWITCH, tuple((floats(30), number(k)) for k in (2, 5, 3)), _switch),
    Program("calls", _CALLS.format(n=17), ((floats(5, 17), _FACTOR),), _calls),
    Program(
        "another_entry", _CALLS.format(n=12), ((floats(3, 12), _FACTOR),), _scaled, entry="scaled"
    ),
    Program(
        "argument_returned",
        _UNUSED,
        ((floats(8, 8), floats(3, kind="f64"), number(21)),),
        lambda x, _, n: (x, -x, 2 * n),
        0,
    ),
)
