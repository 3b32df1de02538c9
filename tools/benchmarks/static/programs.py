"""The texts of programs that are measured: contractions, convolutions and attention.

Products of floats narrower than f32 are summed in f32, those of integers in i32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_CONTRACTION = """\
!a = tensor<{a}>
!b = tensor<{b}>
!c = tensor<{c}>
func.func @main(%a: !a, %b: !b) -> !c {{
  %zero = arith.constant {zero} : {sum}
  {sizes}
  %e = tensor.empty({dims}) : !c
  %z = linalg.fill ins(%zero : {sum}) outs(%e : !c) -> !c
  %r = linalg.contract indexing_maps = [{maps}] ins(%a, %b : !a, !b) outs(%z : !c) -> !c
  return %r : !c
}}
"""

_CONVOLUTION = """\
!x = tensor<{x}>
!w = tensor<{w}>
!y = tensor<{y}>
func.func @main(%x: !x, %w: !w) -> !y {{
  %zero = arith.constant {zero} : {sum}
  %e = tensor.empty() : !y
  %z = linalg.fill ins(%zero : {sum}) outs(%e : !y) -> !y
  %r = linalg.{op} {{dilations = dense<1> : tensor<{rank}xi64>,
                    strides = dense<{stride}> : tensor<{rank}xi64>}}
      ins(%x, %w : !x, !w) outs(%z : !y) -> !y
  return %r : !y
}}
"""

# Heads of attention in f16 or bf16, as torch-mlir decomposes scaled_dot_product_attention.
_ATTENTION = """\
#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#s = affine_map<(b, m, n, k) -> (b, m, n)>
#v = affine_map<(b, m, n, k) -> (b, k, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
!q = tensor<{heads}x{rows}x{width}x{kind}>
!k = tensor<{heads}x{keys}x{width}x{kind}>
!s = tensor<{heads}x{rows}x{keys}xf32>
!p = tensor<{heads}x{rows}x{keys}x{kind}>
!r = tensor<{heads}x{rows}x{width}xf32>
func.func @main(%q: !q, %k: !k, %v: !k) -> !q {{
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : !s
  %z = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !k) outs(%z : !s) -> !s
  %t = linalg.generic {{
      indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%s : !s) outs(%e : !s) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %scale : f32{mask}
    linalg.yield %{score} : f32
  }} -> !s
  %p = linalg.softmax dimension(2) ins(%t : !s) outs(%e : !s) -> !s
  %g = tensor.empty() : !p
  %h = linalg.generic {{
      indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%p : !s) outs(%g : !p) {{
  ^bb0(%a: f32, %o: {kind}):
    %0 = arith.truncf %a : f32 to {kind}
    linalg.yield %0 : {kind}
  }} -> !p
  %f = tensor.empty() : !r
  %y = linalg.fill ins(%zero : f32) outs(%f : !r) -> !r
  %u = linalg.contract indexing_maps = [#q, #v, #s] ins(%h, %v : !p, !k) outs(%y : !r) -> !r
  %d = tensor.empty() : !q
  %r = linalg.generic {{
      indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%u : !r) outs(%d : !q) {{
  ^bb0(%a: f32, %o: {kind}):
    %0 = arith.truncf %a : f32 to {kind}
    linalg.yield %0 : {kind}
  }} -> !q
  return %r : !q
}}
"""
_CAUSAL = """
    %m = linalg.index 1 : index
    %n = linalg.index 2 : index
    %later = arith.cmpi sgt, %n, %m : index
    %1 = arith.select %later, %least, %0 : f32"""


def sum_type(kind: str) -> str:
    """Return the type in which products are summed."""
    return "i32" if kind.startswith("i") else "f64" if kind == "f64" else "f32"


def _zero(kind: str) -> str:
    return "0" if kind.startswith("i") else "0.0"


def _tensor(shape: Sequence[int | str], kind: str) -> str:
    return "x".join([*map(str, shape), kind])


def contract(equation: str, extents: Mapping[str, int], kind: str, *, is_dynamic: bool) -> str:
    """Return the contraction of an equation of numpy.einsum, of any size if it is dynamic."""
    inputs, result = equation.split("->")
    operands = (*inputs.split(","), result)
    dims = ", ".join(extents)
    maps = [f"affine_map<({dims}) -> ({', '.join(operand)})>" for operand in operands]
    shapes = [["?" if is_dynamic else extents[dim] for dim in operand] for operand in operands]
    total = sum_type(kind)
    kinds = (kind, kind, total)
    sizes, names = [], []
    for dim in result if is_dynamic else ():
        of = 0 if dim in operands[0] else 1
        place = operands[of].index(dim)
        sizes.append(f"%c{dim} = arith.constant {place} : index")
        sizes.append(f"%n{dim} = tensor.dim %{'ab'[of]}, %c{dim} : !{'ab'[of]}")
        names.append(f"%n{dim}")
    types = {
        of: _tensor(*one) for of, one in zip("abc", zip(shapes, kinds, strict=True), strict=True)
    }
    return _CONTRACTION.format(
        **types,
        zero=_zero(total),
        sum=total,
        sizes="\n  ".join(sizes),
        dims=", ".join(names),
        maps=", ".join(maps),
    )


def convolve(
    op: str, x: Sequence[int], w: Sequence[int], y: Sequence[int], kind: str, stride: int
) -> str:
    """Return a convolution by a named operation of linalg."""
    total = sum_type(kind)
    return _CONVOLUTION.format(
        op=op,
        x=_tensor(x, kind),
        w=_tensor(w, kind),
        y=_tensor(y, total),
        zero=_zero(total),
        sum=total,
        rank=len(x) - 2,
        stride=stride,
    )


def attend(heads: int, rows: int, keys: int, width: int, kind: str, *, is_causal: bool) -> str:
    """Return attention of all heads of a batch."""
    mask, score = (_CAUSAL, "1") if is_causal else ("", "0")
    return _ATTENTION.format(
        heads=heads, rows=rows, keys=keys, width=width, kind=kind, mask=mask, score=score
    )
