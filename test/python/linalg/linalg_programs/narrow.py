"""Products of a matrix with one or few vectors: whole, ragged and dynamic, along and across."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .program import DTYPES, Array, Input, Program, coarse, whole

_WIDE = {"f16": "f32", "bf16": "f32", "i8": "i32"}

_TEXT = """
#a = affine_map<({loops}, k) -> ({of_a})>
#b = affine_map<({loops}, k) -> ({of_b})>
#c = affine_map<({loops}, k) -> ({loops})>
!a = tensor<{a}x{kind}>
!b = tensor<{b}x{kind}>
!c = tensor<{c}x{total}>
func.func @main(%a: !a, %b: !b{bias}) -> !c {{
  %zero = arith.constant {zero} : {total}
  {sizes}
  %e = tensor.empty({dims}) : !c
  %z = linalg.fill ins(%zero : {total}) outs(%e : !c) -> !c
  %r = linalg.generic {{indexing_maps = [#a, #b, #c], iterator_types = [{kinds}]}}
      ins(%a, %b : !a, !b) outs(%z : !c) {{
  ^bb0(%x: {kind}, %y: {kind}, %o: {total}):
    {body}
    linalg.yield %s : {total}
  }} -> !c
  {end}
}}
"""

_BIAS = """%y = linalg.generic {{indexing_maps = [#c_, #v, #c_], iterator_types = [{kinds}]}}
      ins(%r, %v : !c, !v) outs(%e : !c) {{
  ^bb0(%x: {total}, %w: {total}, %o: {total}):
    %0 = arith.addf %x, %w : {total}
    %1 = arith.maximumf %0, %zero : {total}
    linalg.yield %1 : {total}
  }} -> !c
  return %y : !c"""


class _Shape(NamedTuple):
    """``C[m, n] = A[m, k] B[k, n]``, in that order of loops or with a matrix transposed."""

    name: str
    sizes: dict[str, int]
    a: str = "mk"
    b: str = "kn"
    c: str = "mn"
    kind: str = "f32"
    dynamic: str = ""
    bias: bool = False
    runs: tuple[dict[str, int], ...] = ()


def _body(kind: str, total: str) -> str:
    lines, x, y = [], "%x", "%y"
    if kind != total:
        cast = "arith.extsi" if kind[0] == "i" else "arith.extf"
        lines = [f"%u = {cast} %x : {kind} to {total}", f"%w = {cast} %y : {kind} to {total}"]
        x, y = "%u", "%w"
    suffix = "i" if total[0] == "i" else "f"
    lines += [
        f"%p = arith.mul{suffix} {x}, {y} : {total}",
        f"%s = arith.add{suffix} %o, %p : {total}",
    ]
    return "\n    ".join(lines)


def _spell(shape: _Shape, loops: str) -> str:
    return "x".join("?" if loop in shape.dynamic else str(shape.sizes[loop]) for loop in loops)


def _sizes(shape: _Shape) -> tuple[str, str]:
    """Return what asks for the sizes that are not known, and their names."""
    lines, names = [], []
    for loop in shape.c:
        if loop in shape.dynamic:
            of, loops = ("a", shape.a) if loop in shape.a else ("b", shape.b)
            lines += [
                f"%i{loop} = arith.constant {loops.index(loop)} : index",
                f"%{loop} = tensor.dim %{of}, %i{loop} : !{of}",
            ]
            names.append(f"%{loop}")
    return "\n  ".join(lines), ", ".join(names)


def _write(shape: _Shape) -> str:
    total = _WIDE.get(shape.kind, shape.kind)
    sizes, dims = _sizes(shape)
    kinds = ", ".join(['"parallel"'] * len(shape.c))
    last = shape.c[-1]
    aliases = (
        f"#c_ = affine_map<({', '.join(shape.c)}) -> ({', '.join(shape.c)})>\n"
        f"#v = affine_map<({', '.join(shape.c)}) -> ({last})>\n"
        f"!v = tensor<{_spell(shape, last)}x{total}>\n"
    )
    return (aliases if shape.bias else "") + _TEXT.format(
        loops=", ".join(shape.c),
        of_a=", ".join(shape.a),
        of_b=", ".join(shape.b),
        a=_spell(shape, shape.a),
        b=_spell(shape, shape.b),
        c=_spell(shape, shape.c),
        kind=shape.kind,
        total=total,
        zero="0" if total[0] == "i" else "0.0",
        sizes=sizes,
        dims=dims,
        kinds=f'{kinds}, "reduction"',
        body=_body(shape.kind, total),
        bias=", %v: !v" if shape.bias else "",
        end=_BIAS.format(kinds=kinds, total=total) if shape.bias else "return %r : !c",
    )


def _make(kind: str) -> Callable[..., Input]:
    return whole if kind[0] == "i" else coarse


def _program(shape: _Shape) -> Program:
    total = DTYPES[_WIDE.get(shape.kind, shape.kind)]

    def reference(a: Array, b: Array, v: Array | None = None) -> Array:
        of_wide = [np.asarray(x, np.int64 if total.kind == "i" else np.float64) for x in (a, b)]
        made = np.einsum(f"{shape.a},{shape.b}->{shape.c}", *of_wide, optimize=True)
        if v is not None:
            made = np.maximum(made + v, 0)
        return np.asarray(made.astype(total))

    runs = []
    for given in shape.runs or ({},):
        sizes = {**shape.sizes, **given}
        inputs = [
            _make(shape.kind)(*(sizes[loop] for loop in loops), kind=shape.kind)
            for loops in (shape.a, shape.b)
        ]
        if shape.bias:
            inputs.append(coarse(sizes[shape.c[-1]], kind=_WIDE.get(shape.kind, shape.kind)))
        runs.append(tuple(inputs))
    return Program(f"narrow_{shape.name}", _write(shape), tuple(runs), reference, 1e-4)


_SHAPES = (
    *(
        _Shape(f"matvec_{kind}", {"m": 300, "k": 528}, b="k", c="m", kind=kind)
        for kind in ("f32", "f16", "bf16", "i8", "f64", "i32")
    ),
    *(
        _Shape(f"vecmat_{kind}", {"n": 528, "k": 300}, "k", "kn", "n", kind)
        for kind in ("f32", "f16", "bf16", "i8", "f64", "i32")
    ),
    _Shape("matvec_few_rows", {"m": 3, "k": 20000}, b="k", c="m"),
    _Shape("matvec_many_rows", {"m": 5000, "k": 130}, b="k", c="m"),
    _Shape("matvec_odd", {"m": 131, "k": 517}, b="k", c="m"),
    _Shape("matvec_odd_f16", {"m": 131, "k": 517}, b="k", c="m", kind="f16"),
    _Shape("vecmat_odd", {"n": 131, "k": 517}, "k", "kn", "n"),
    _Shape("vecmat_ragged", {"n": 1000, "k": 400}, "k", "kn", "n"),
    _Shape("vecmat_ragged_i8", {"n": 1040, "k": 200}, "k", "kn", "n", "i8"),
    _Shape("vecmat_long", {"n": 136, "k": 9000}, "k", "kn", "n", "f16"),
    *(
        _Shape(f"{m}_rows_{kind}", {"m": m, "n": 272, "k": 240}, kind=kind)
        for m, kind in (
            (2, "f32"),
            (5, "f32"),
            (16, "f32"),
            (3, "f16"),
            (8, "f16"),
            (4, "i8"),
            (8, "f64"),
        )
    ),
    *(
        _Shape(f"{m}_rows_transposed_{kind}", {"m": m, "n": 200, "k": 272}, b="nk", kind=kind)
        for m, kind in (
            (2, "f32"),
            (5, "f32"),
            (16, "f32"),
            (3, "f16"),
            (8, "f16"),
            (4, "i8"),
            (8, "f64"),
        )
    ),
    *(
        _Shape(f"{n}_columns_{kind}", {"m": 200, "n": n, "k": 272}, kind=kind)
        for n, kind in ((2, "f32"), (4, "f16"), (7, "f32"), (16, "f32"))
    ),
    _Shape("columns_of_transposed", {"m": 272, "n": 4, "k": 200}, "km", "kn", "mn"),
    _Shape("result_transposed", {"m": 4, "n": 272, "k": 200}, "mk", "kn", "nm"),
    _Shape("rows_ragged", {"m": 6, "n": 1001, "k": 300}),
    _Shape("rows_ragged_transposed", {"m": 6, "n": 201, "k": 301}, b="nk"),
    _Shape("batch", {"b": 3, "m": 4, "n": 160, "k": 200}, "bmk", "bkn", "bmn"),
    _Shape("batch_matvec", {"b": 3, "m": 170, "k": 200}, "bmk", "bk", "bm"),
    _Shape("biased", {"m": 4, "n": 272, "k": 2000}, kind="f16", bias=True),
    _Shape("biased_transposed", {"m": 4, "n": 272, "k": 200}, b="nk", bias=True),
    _Shape(
        "dynamic_matvec",
        {"m": 200, "k": 512},
        b="k",
        c="m",
        dynamic="mk",
        runs=({}, {"m": 37, "k": 517}, {"m": 1, "k": 1}, {"k": 0}, {"m": 0}),
    ),
    _Shape(
        "dynamic_vecmat",
        {"n": 200, "k": 512},
        "k",
        "kn",
        "n",
        dynamic="kn",
        runs=({}, {"n": 37, "k": 517}, {"n": 1, "k": 1}, {"k": 0}, {"n": 0}),
    ),
    _Shape(
        "dynamic_rows",
        {"m": 4, "n": 200, "k": 512},
        b="nk",
        dynamic="nk",
        kind="f16",
        runs=({}, {"n": 37, "k": 517}, {"n": 1, "k": 1}, {"k": 0}),
    ),
    _Shape("dynamic_sum", {"m": 4, "n": 256, "k": 700}, dynamic="k", runs=({}, {"k": 3}, {"k": 0})),
)

PROGRAMS = tuple(_program(shape) for shape in _SHAPES)
