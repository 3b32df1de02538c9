"""Programs of sums with several results in one operation, none of which depends on another."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Program, floats

# A sum and the largest square in one operation, and what is made of both.
_SPREAD = """
#id = affine_map<(i, j) -> (i, j)>
#kept = affine_map<(i, j) -> ({kept})>
#result = affine_map<({loops}) -> ({loops})>
!x = tensor<?x?xf32>
!r = tensor<{extent}f32>
func.func @main(%x: !x) -> !r {{
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  {size}
  %e = tensor.empty({dims}) : !r
  %z = linalg.fill ins(%zero : f32) outs(%e : !r) -> !r
  %l = linalg.fill ins(%least : f32) outs(%e : !r) -> !r
  %r:2 = linalg.generic {{indexing_maps = [#id, #kept, #kept], iterator_types = [{kinds}]}}
      ins(%x : !x) outs(%z, %l : !r, !r) {{
  ^bb0(%a: f32, %s: f32, %m: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.mulf %a, %a : f32
    %2 = arith.maximumf %1, %m : f32
    linalg.yield %0, %2 : f32, f32
  }} -> (!r, !r)
  %y = linalg.generic {{indexing_maps = [#result, #result, #result], iterator_types = [{results}]}}
      ins(%r#0, %r#1 : !r, !r) outs(%e : !r) {{
  ^bb0(%s: f32, %m: f32, %o: f32):
    %0 = arith.subf %m, %s : f32
    linalg.yield %0 : f32
  }} -> !r
  return %y : !r
}}
"""


def _spread(axis: int | None) -> str:
    other = None if axis is None else 1 - axis
    kinds = ['"reduction"' if axis in (None, loop) else '"parallel"' for loop in range(2)]
    return _SPREAD.format(
        kept="" if other is None else "ij"[other],
        loops="" if other is None else "i",
        extent="" if other is None else "?x",
        size=""
        if other is None
        else f"%c = arith.constant {other} : index\n  %n = tensor.dim %x, %c : !x",
        dims="" if other is None else "%n",
        kinds=", ".join(kinds),
        results="" if other is None else '"parallel"',
    )


def _spreads(axis: int | None) -> Any:
    return lambda x: np.asarray((x * x).max(axis, initial=-np.inf) - x.sum(axis), "f4")


PROGRAMS = (
    Program(
        "two_results_rows",
        _spread(1),
        ((floats(17, 133),), (floats(3, 5001),), (floats(40, 9),), (floats(4, 0),)),
        _spreads(1),
        1e-4,
    ),
    Program(
        "two_results_columns",
        _spread(0),
        ((floats(301, 77),), (floats(9, 40),), (floats(0, 4),)),
        _spreads(0),
        1e-4,
    ),
    Program(
        "two_results_of_all",
        _spread(None),
        ((floats(70, 33),), (floats(1, 1),), (floats(0, 5),)),
        _spreads(None),
        1e-3,
    ),
)
