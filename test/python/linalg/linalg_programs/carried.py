"""Programs whose loops and functions return tensors that share memory if nobody takes care."""

from __future__ import annotations

import numpy as np

from .program import Array, Program, floats, number

_TWICE = """
!t = tensor<8xf32>
func.func @main(%a: !t, %b: !t, %n: index) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%h = %a, %o = %b) -> (!t, !t) {
    %i = tensor.insert %seven into %h[%k] : !t
    %e = tensor.empty() : !t
    %x = linalg.add ins(%i, %o : !t, !t) outs(%e : !t) -> !t
    scf.yield %x, %x : !t, !t
  }
  %s = tensor.insert %seven into %r#0[%c1] : !t
  return %s, %r#1 : !t, !t
}
"""


def _twice(a: Array, b: Array, n: int) -> tuple[Array, Array]:
    first, second = a.copy(), b.copy()
    for turn in range(n):
        first[turn] = 7
        first = first + second
        second = first.copy()
    first[1] = 7
    return first, second


_WHILE = """
!t = tensor<8xf32>
func.func @main(%a: !t, %b: !t, %n: index) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %r:2 = scf.while (%k = %c0, %h = %a) : (index, !t) -> (index, !t) {
    %more = arith.cmpi slt, %k, %n : index
    %x = tensor.insert %seven into %h[%c1] : !t
    scf.condition(%more) %k, %x : index, !t
  } do {
  ^bb0(%k: index, %h: !t):
    %k1 = arith.addi %k, %c1 : index
    scf.yield %k1, %b : index, !t
  }
  return %r#1, %b : !t, !t
}
"""


def _while(a: Array, b: Array, n: int) -> tuple[Array, Array]:
    last = (b if n else a).copy()
    last[1] = 7
    return last, b


_CELL = """
!h = tensor<24xf32>
!w = tensor<24x24xf32>
func.func private @cell(%h: !h, %x: !h) -> (!h, !h) {
  %e = tensor.empty() : !h
  %s = linalg.add ins(%h, %x : !h, !h) outs(%e : !h) -> !h
  %t = linalg.tanh ins(%s : !h) outs(%e : !h) -> !h
  return %t, %t : !h, !h
}
func.func @main(%w: !w, %h: !h, %xs: tensor<3x24xf32>) -> (!h, tensor<3x24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<3x24xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %h, %ys = %e) -> (!h, tensor<3x24xf32>) {
    %x = tensor.extract_slice %xs[%i, 0] [1, 24] [1, 1] : tensor<3x24xf32> to !h
    %c:2 = func.call @cell(%a, %x) : (!h, !h) -> (!h, !h)
    %m = linalg.matvec ins(%w, %x : !w, !h) outs(%c#0 : !h) -> !h
    %y = tensor.insert_slice %c#1 into %ys[%i, 0] [1, 24] [1, 1] : !h into tensor<3x24xf32>
    scf.yield %m, %y : !h, tensor<3x24xf32>
  }
  return %r#0, %r#1 : !h, tensor<3x24xf32>
}
"""


def _cell(w: Array, h: Array, xs: Array) -> tuple[Array, Array]:
    outputs = []
    for x in xs:
        outputs.append(np.tanh(h + x))
        h = outputs[-1] + w @ x
    return h, np.array(outputs)


_BRANCH = """
!t = tensor<16xf32>
!s = tensor<8xf32>
func.func @main(%a: !t, %b: !s, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %large = arith.cmpi sgt, %n, %c0 : index
  %r:2 = scf.if %large -> (!s, !t) {
    %e = tensor.empty() : !s
    %x = linalg.exp ins(%b : !s) outs(%e : !s) -> !s
    %f = tensor.empty() : !t
    %y = linalg.negf ins(%a : !t) outs(%f : !t) -> !t
    scf.yield %x, %y : !s, !t
  } else {
    %e = tensor.empty() : !s
    %x = linalg.abs ins(%b : !s) outs(%e : !s) -> !s
    scf.yield %x, %a : !s, !t
  }
  %i = tensor.insert_slice %r#0 into %r#1[8] [8] [1] : !s into !t
  return %i : !t
}
"""


def _branch(a: Array, b: Array, n: int) -> Array:
    part = np.exp(b) if n > 0 else np.abs(b)
    return np.concatenate([(-a if n > 0 else a)[:8], part])


_FEWER = """
!t = tensor<8xf32>
func.func private @same(%x: !t) -> !t {
  return %x : !t
}
func.func @main(%a: !t, %b: !t, %n: index) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %nine = arith.constant 9.0 : f32
  %r:2 = scf.while (%k = %c0, %h = %a, %o = %b) : (index, !t, !t) -> (index, !t) {
    %more = arith.cmpi slt, %k, %n : index
    %hi = tensor.insert %seven into %h[%k] : !t
    %oi = tensor.insert %nine into %o[%k] : !t
    %e = tensor.empty() : !t
    %x = linalg.add ins(%hi, %oi : !t, !t) outs(%e : !t) -> !t
    scf.condition(%more) %k, %x : index, !t
  } do {
  ^bb0(%k: index, %x: !t):
    %k1 = arith.addi %k, %c1 : index
    scf.yield %k1, %x, %x : index, !t, !t
  }
  %y = func.call @same(%r#1) : (!t) -> !t
  %i = tensor.insert %seven into %r#1[%c0] : !t
  return %y, %i : !t, !t
}
"""


def _fewer(a: Array, b: Array, n: int) -> tuple[Array, Array]:
    first, second = a.copy(), b.copy()
    for turn in range(n + 1):
        first[turn], second[turn] = 7, 9
        first = first + second
        second = first.copy()
    second[0] = 7
    return first, second


_TABLE = """
!t = tensor<4xf32>
func.func private @table() -> !t {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : !t
  return %c : !t
}
func.func @main(%x: !t, %i: index) -> (!t, !t) {
  %first = call @table() : () -> !t
  %nine = arith.constant 9.0 : f32
  %changed = tensor.insert %nine into %first[%i] : !t
  %second = call @table() : () -> !t
  %e = tensor.empty() : !t
  %sum = linalg.add ins(%x, %second : !t, !t) outs(%e : !t) -> !t
  return %changed, %sum : !t, !t
}
"""


def _table(x: Array, i: int) -> tuple[Array, Array]:
    table = np.arange(1, 5, dtype="f4")
    changed = table.copy()
    changed[i] = 9
    return changed, x + table


_UNSIGNED = """
!t = tensor<8xf32>
func.func @main(%a: !t, %n: i32) -> !t {
  %c1 = arith.constant 1 : i32
  %half = arith.shrui %n, %c1 : i32
  %r = scf.for unsigned %i = %half to %n step %half iter_args(%x = %a) -> !t : i32 {
    %e = tensor.empty() : !t
    %y = linalg.add ins(%x, %a : !t, !t) outs(%e : !t) -> !t
    scf.yield %y : !t
  }
  return %r : !t
}
"""

PROGRAMS = (
    Program(
        "carried_twice",
        _TWICE,
        tuple((floats(8), floats(8), number(n)) for n in (0, 1, 3)),
        _twice,
    ),
    Program(
        "carried_from_outside",
        _WHILE,
        tuple((floats(8), floats(8), number(n)) for n in (0, 1, 2)),
        _while,
        0,
    ),
    Program(
        "returned_twice",
        _CELL,
        ((floats(24, 24), floats(24), floats(3, 24)),),
        _cell,
        tolerance=1e-4,
    ),
    Program(
        "inserted_into_branch",
        _BRANCH,
        tuple((floats(16), floats(8), number(n)) for n in (0, 1)),
        _branch,
    ),
    Program(
        "carried_by_fewer",
        _FEWER,
        tuple((floats(8), floats(8), number(n)) for n in (0, 1, 2)),
        _fewer,
    ),
    Program("constant_returned", _TABLE, ((floats(4), number(2)),), _table),
    Program(
        "unsigned_turns",
        _UNSIGNED,
        tuple((floats(8), number(n, "i32")) for n in (-2, 8)),
        lambda a, _: a + a,
    ),
)
