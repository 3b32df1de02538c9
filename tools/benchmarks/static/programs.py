"""The texts of programs that are measured: contractions, convolutions and attention.

Products of floats narrower than f32 are summed in f32, those of integers in i32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from packing.attention import ATTENTION_MAPS, write_attention

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

_ATTENTION = """\
{maps}
!q = tensor<{heads}x{rows}x{width}x{kind}>
!k = tensor<{heads}x{keys}x{width}x{kind}>
func.func @main(%x0: !q, %x1: !k, %x2: !k) -> !q {{
  %e = tensor.empty() : !q
{body}
  return %r : !q
}}
"""


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
    body = write_attention(heads, rows, keys, width, kind, is_causal=is_causal)
    return _ATTENTION.format(
        maps=ATTENTION_MAPS, heads=heads, rows=rows, keys=keys, width=width, kind=kind, body=body
    )
