"""Programs of sums of products: matrices by matrices and by vectors, in batches and transposed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, Input, Program, floats

_MATMUL = """
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
!a = tensor<{m}x{k}xf32>
!b = tensor<{k}x{n}xf32>
!c = tensor<{m}x{n}xf32>
!v = tensor<{n}xf32>
func.func @main(%a: !a, %b: !b{bias}) -> {results} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  {sizes}
  %e = tensor.empty({dims}) : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %r = linalg.matmul ins(%a, %b : !a, !b) outs(%z : !c) -> !c
  {epilogue}
}}
"""

_EPILOGUE = """%y = linalg.generic {
      indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%r, %v : !c, !v) outs(%e : !c) {
  ^bb0(%x: f32, %w: f32, %o: f32):
    %0 = arith.addf %x, %w : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> !c
  """


def _matmul(m: str, n: str, k: str, *, relu: bool = False, both: bool = False) -> str:
    sizes, dims = [], []
    if m == "?":
        sizes.append("%m = tensor.dim %a, %c0 : !a")
        dims.append("%m")
    if n == "?":
        sizes.append("%n = tensor.dim %b, %c1 : !b")
        dims.append("%n")
    end = "return %r, %y : !c, !c" if both else "return %y : !c" if relu else "return %r : !c"
    return _MATMUL.format(
        m=m,
        n=n,
        k=k,
        bias=", %v: !v" if relu else "",
        results="(!c, !c)" if both else "!c",
        sizes="\n  ".join(sizes),
        dims=", ".join(dims),
        epilogue=(_EPILOGUE if relu else "") + end,
    )


def _plain(m: int, n: int, k: int) -> tuple[Input, Input]:
    return floats(m, k), floats(k, n)


def _biased(m: int, n: int, k: int) -> tuple[Input, Input, Input]:
    return floats(m, k), floats(k, n), floats(n)


def _relu(a: Array, b: Array, v: Array) -> Array:
    return np.asarray(np.maximum(a @ b + v, np.float32(0)))


def _product(a: Array, b: Array) -> Array:
    return a @ b


_UPDATE = """
!a = tensor<?x?xf32>
func.func @main(%a: !a, %b: !a, %c: !a) -> !a {
  %r = linalg.matmul ins(%a, %b : !a, !a) outs(%c : !a) -> !a
  return %r : !a
}
"""

_NAMED = """
!a = tensor<{a}xf32>
!b = tensor<{b}xf32>
!c = tensor<{c}xf32>
func.func @main(%a: !a, %b: !b) -> !c {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %r = linalg.{op} ins(%a, %b : !a, !b) outs(%z : !c) -> !c
  return %r : !c
}}
"""

_GENERIC = """
!a = tensor<{a}xf32>
!b = tensor<{b}xf32>
!c = tensor<{c}xf32>
func.func @main(%a: !a, %b: !b) -> !c {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %r = linalg.generic {{
      indexing_maps = [affine_map<({dims}) -> ({of_a})>, affine_map<({dims}) -> ({of_b})>,
                       affine_map<({dims}) -> ({of_c})>],
      iterator_types = [{iterators}]}}
      ins(%a, %b : !a, !b) outs(%z : !c) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }} -> !c
  return %r : !c
}}
"""


def _einsum(name: str, equation: str, **extents: int) -> Program:
    """Return the contraction of an equation of numpy.einsum, as a generic."""
    inputs, result = equation.split("->")
    first, second = inputs.split(",")
    shapes = [tuple(extents[dim] for dim in dims) for dims in (first, second, result)]
    iterators = ", ".join('"parallel"' if dim in result else '"reduction"' for dim in extents)
    text = _GENERIC.format(
        **{of: "x".join(map(str, shape)) for of, shape in zip("abc", shapes, strict=True)},
        dims=", ".join(extents),
        of_a=", ".join(first),
        of_b=", ".join(second),
        of_c=", ".join(result),
        iterators=iterators,
    )
    runs = ((floats(*shapes[0]), floats(*shapes[1])),)
    return Program(name, text, runs, lambda a, b: np.einsum(equation, a, b), 1e-4)


def _named(name: str, op: str, a: str, b: str, c: str, reference: Any) -> Program:
    def shape(text: str) -> Input:
        return floats(*map(int, text.rstrip("x").split("x")))

    text = _NAMED.format(op=op, a=f"{a}x", b=f"{b}x", c=c and f"{c}x").replace("xxf32", "xf32")
    return Program(name, text, ((shape(a), shape(b)),), reference, 1e-4)


_TRANSPOSED = """
!a = tensor<{a}xf32>
!b = tensor<{b}xf32>
!c = tensor<45x34xf32>
func.func @main(%a: !a, %b: !b) -> !c {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %r = linalg.matmul indexing_maps = [
         affine_map<(m, n, k) -> ({of_a})>, affine_map<(m, n, k) -> ({of_b})>,
         affine_map<(m, n, k) -> (m, n)>]
       ins(%a, %b : !a, !b) outs(%z : !c) -> !c
  return %r : !c
}}
"""

_BY_TRANSPOSITION = """
!w = tensor<34x52xf32>
!t = tensor<52x34xf32>
!c = tensor<?x34xf32>
func.func @main(%a: tensor<?x52xf32>, %w: !w) -> !c {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x52xf32>
  %et = tensor.empty() : !t
  %t = linalg.transpose ins(%w : !w) outs(%et : !t) permutation = [1, 0]
  %e = tensor.empty(%m) : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %r = linalg.matmul ins(%a, %t : tensor<?x52xf32>, !t) outs(%z : !c) -> !c
  return %r : !c
}
"""

_BATCH = """
!a = tensor<?x20x36xf32>
!b = tensor<?x28x36xf32>
!c = tensor<?x20x28xf32>
func.func @main(%a: !a, %b: !b) -> !c {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : !a
  %e = tensor.empty(%n) : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %r = linalg.batch_matmul indexing_maps = [
         affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>,
         affine_map<(b, m, n, k) -> (b, m, n)>]
       ins(%a, %b : !a, !b) outs(%z : !c) -> !c
  return %r : !c
}
"""

_CONTRACT = """
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (n, m)>
func.func @main(%a: tensor<33x18xf32>, %b: tensor<25x33xf32>, %c: tensor<25x18xf32>)
    -> tensor<25x18xf32> {
  %r = linalg.contract indexing_maps = [#a, #b, #c]
      ins(%a, %b : tensor<33x18xf32>, tensor<25x33xf32>) outs(%c : tensor<25x18xf32>)
      -> tensor<25x18xf32>
  return %r : tensor<25x18xf32>
}
"""

_TWO = """
!c = tensor<?x24xf32>
func.func @main(%a: tensor<?x40xf32>, %b: tensor<40x56xf32>, %c: tensor<56x24xf32>) -> !c {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x40xf32>
  %e = tensor.empty(%m) : tensor<?x56xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x56xf32>) -> tensor<?x56xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x40xf32>, tensor<40x56xf32>)
      outs(%z : tensor<?x56xf32>) -> tensor<?x56xf32>
  %f = tensor.empty(%m) : !c
  %y = linalg.fill ins(%zero : f32) outs(%f : !c) -> !c
  %s = linalg.matmul ins(%r, %c : tensor<?x56xf32>, tensor<56x24xf32>) outs(%y : !c) -> !c
  return %s : !c
}
"""

_DOT = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.dot ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%z : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
"""

_EXP_THEN_MATMUL = """
#id = affine_map<(i, j) -> (i, j)>
!a = tensor<30x44xf32>
!b = tensor<44x21xf32>
!c = tensor<30x21xf32>
func.func @main(%a: !a, %b: !b) -> !c {
  %zero = arith.constant 0.0 : f32
  %ea = tensor.empty() : !a
  %x = linalg.exp ins(%a : !a) outs(%ea : !a) -> !a
  %e = tensor.empty() : !c
  %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
  %r = linalg.matmul ins(%x, %b : !a, !b) outs(%z : !c) -> !c
  return %r : !c
}
"""


def _mmt4d(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("mkij,nklj->mnil", a, b))


PROGRAMS = (
    Program("matmul", _matmul("64", "64", "32"), (_plain(64, 64, 32),), _product, 1e-4),
    Program("matmul_ragged", _matmul("100", "37", "53"), (_plain(100, 37, 53),), _product, 1e-4),
    Program("matmul_1x7x13", _matmul("1", "7", "13"), (_plain(1, 7, 13),), _product),
    Program("matmul_tall", _matmul("129", "3", "17"), (_plain(129, 3, 17),), _product),
    Program("matmul_empty", _matmul("0", "8", "16"), (_plain(0, 8, 16),), _product),
    Program("matmul_without_sum", _matmul("9", "8", "0"), (_plain(9, 8, 0),), _product),
    Program(
        "matmul_dynamic",
        _matmul("?", "?", "?"),
        (_plain(33, 70, 41), _plain(1, 1, 1), _plain(0, 5, 4), _plain(5, 6, 0), _plain(4, 0, 3)),
        _product,
        1e-4,
    ),
    Program(
        "matmul_bias_relu",
        _matmul("70", "72", "40", relu=True),
        (_biased(70, 72, 40),),
        _relu,
        1e-4,
    ),
    Program(
        "matmul_bias_relu_dynamic",
        _matmul("?", "?", "?", relu=True),
        (_biased(65, 65, 17), _biased(1, 1, 1), _biased(0, 5, 4), _biased(5, 6, 0)),
        _relu,
        1e-4,
    ),
    Program(
        "matmul_two_results",
        _matmul("40", "?", "24", relu=True, both=True),
        (_biased(40, 50, 24), _biased(40, 1, 24)),
        lambda a, b, v: (a @ b, _relu(a, b, v)),
        1e-4,
    ),
    Program(
        "matmul_update",
        _UPDATE,
        tuple((*_plain(m, n, k), floats(m, n)) for m, n, k in ((31, 66, 20), (2, 3, 0), (1, 1, 9))),
        lambda a, b, c: c + a @ b,
        1e-4,
    ),
    *(
        Program(
            f"matmul_{name}",
            _TRANSPOSED.format(a=f"{a[0]}x{a[1]}", b=f"{b[0]}x{b[1]}", of_a=of_a, of_b=of_b),
            ((floats(*a), floats(*b)),),
            reference,
            1e-4,
        )
        for name, a, b, of_a, of_b, reference in (
            ("nt", (45, 23), (34, 23), "m, k", "n, k", lambda a, b: a @ b.T),
            ("tn", (23, 45), (23, 34), "k, m", "k, n", lambda a, b: a.T @ b),
            ("tt", (23, 45), (34, 23), "k, m", "n, k", lambda a, b: a.T @ b.T),
        )
    ),
    Program(
        "matmul_by_transposition",
        _BY_TRANSPOSITION,
        ((floats(19, 52), floats(34, 52)), (floats(1, 52), floats(34, 52))),
        lambda a, w: a @ w.T,
        1e-4,
    ),
    _einsum("square_times_transposed", "mk,nk->mn", m=32, n=32, k=32),
    _named("batch_matmul", "batch_matmul", "3x17x20", "3x20x33", "3x17x33", np.matmul),
    Program(
        "batch_matmul_transposed",
        _BATCH,
        tuple((floats(b, 20, 36), floats(b, 28, 36)) for b in (3, 1, 0)),
        lambda a, b: np.einsum("bmk,bnk->bmn", a, b),
        1e-4,
    ),
    _named(
        "batch_reduce_matmul",
        "batch_reduce_matmul",
        "4x10x12",
        "4x12x18",
        "10x18",
        lambda a, b: np.einsum("bmk,bkn->mn", a, b),
    ),
    _named("matvec", "matvec", "37x130", "130", "37", np.matmul),
    _named("vecmat", "vecmat", "130", "130x37", "37", np.matmul),
    _named(
        "batch_matvec",
        "batch_matvec",
        "3x19x40",
        "3x40",
        "3x19",
        lambda a, b: np.einsum("bmk,bk->bm", a, b),
    ),
    _named("mmt4d", "mmt4d", "3x4x8x2", "5x4x6x2", "3x5x8x6", _mmt4d),
    Program(
        "dot",
        _DOT,
        tuple((floats(n), floats(n)) for n in (1000, 1, 0)),
        lambda x, y: np.asarray(x @ y),
        1e-4,
    ),
    Program(
        "contract",
        _CONTRACT,
        ((floats(33, 18), floats(25, 33), floats(25, 18)),),
        lambda a, b, c: c + b @ a,
        1e-4,
    ),
    _einsum("outer_product", "m,n->mn", m=33, n=50),
    _einsum("two_sums", "mkl,kln->mn", m=20, n=30, k=5, l=7),
    _einsum("batch_inside", "mbk,bkn->mbn", b=3, m=18, n=24, k=11),
    _einsum("four_free", "iaj,kbj->aibk", a=2, i=9, b=3, k=10, j=16),
    _einsum("split_sum", "mk,kn->mn", m=16, n=16, k=2100),
    Program(
        "two_matmuls",
        _TWO,
        tuple((floats(m, 40), floats(40, 56), floats(56, 24)) for m in (35, 1, 0)),
        lambda a, b, c: a @ b @ c,
        1e-4,
    ),
    Program(
        "exp_then_matmul",
        _EXP_THEN_MATMUL,
        ((floats(30, 44), floats(44, 21)),),
        lambda a, b: np.exp(a) @ b,
        1e-4,
    ),
)
