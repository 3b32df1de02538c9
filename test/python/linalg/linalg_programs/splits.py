"""Programs with sums so long, and results so few, that several blocks share a sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, Program, coarse, floats, whole

_SUM = """
#x = affine_map<({loops}) -> ({loops})>
#y = affine_map<({loops}) -> ({kept})>
func.func @main(%x: tensor<{source}x{kind}>) -> tensor<{result}{kind}> {{
  %least = arith.constant {least} : {kind}
  %e = tensor.empty() : tensor<{result}{kind}>
  %z = linalg.fill ins(%least : {kind}) outs(%e : tensor<{result}{kind}>)
      -> tensor<{result}{kind}>
  %r = linalg.generic {{indexing_maps = [#x, #y], iterator_types = [{kinds}]}}
      ins(%x : tensor<{source}x{kind}>) outs(%z : tensor<{result}{kind}>) {{
  ^bb0(%a: {kind}, %acc: {kind}):
    %s = {combiner} %acc, %a : {kind}
    linalg.yield %s : {kind}
  }} -> tensor<{result}{kind}>
  return %r : tensor<{result}{kind}>
}}
"""


def _sum(
    source: str,
    over: tuple[int, ...],
    kind: str = "f32",
    combiner: str = "arith.addf",
    least: str = "0.0",
) -> str:
    extents = source.split("x")
    loops = [f"d{dim}" for dim in range(len(extents))]
    kinds = ['"reduction"' if dim in over else '"parallel"' for dim in range(len(loops))]
    kept = [dim for dim in range(len(extents)) if dim not in over]
    return _SUM.format(
        source=source,
        kind=kind,
        combiner=combiner,
        least=least,
        loops=", ".join(loops),
        kept=", ".join(loops[dim] for dim in kept),
        result="".join(f"{extents[dim]}x" for dim in kept),
        kinds=", ".join(kinds),
    )


# The mean of squares of differences: made from what is element by element, then scaled.
_ERROR = """
#v = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %v = tensor.empty(%n) : tensor<?xf32>
  %d = linalg.sub ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%v : tensor<?xf32>)
      -> tensor<?xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#v, #s], iterator_types = ["reduction"]}
      ins(%d : tensor<?xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %i = arith.index_cast %n : index to i64
  %count = arith.sitofp %i : i64 to f32
  %m = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>],
                       iterator_types = []}
      ins(%r : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.divf %a, %count : f32
    linalg.yield %q : f32
  } -> tensor<f32>
  return %m : tensor<f32>
}
"""

# A row of few results of a long sum; what it is added to is a result of the program before.
_SPLIT_K = """
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
!c = tensor<{m}x{n}x{kind}>
func.func @main(%a: tensor<{m}x{k}x{kind}>, %b: tensor<{k}x{n}x{kind}>, %c: !c,
                %bias: tensor<{n}x{kind}>) -> !c {{
  %zero = arith.constant 0.0 : {kind}
  %r = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{kind}>, tensor<{k}x{n}x{kind}>)
      outs(%c : !c) -> !c
  %e = tensor.empty() : !c
  %y = linalg.generic {{indexing_maps = [#id, #column, #id],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%r, %bias : !c, tensor<{n}x{kind}>) outs(%e : !c) {{
  ^bb0(%x: {kind}, %v: {kind}, %o: {kind}):
    %s = arith.addf %x, %v : {kind}
    %p = arith.maximumf %s, %zero : {kind}
    linalg.yield %p : {kind}
  }} -> !c
  return %y : !c
}}
"""


def _relu(a: Array, b: Array, c: Array, bias: Array) -> Any:
    return np.maximum(a.astype("f8") @ b + c + bias, 0).astype(a.dtype)


def _split_k(m: int, n: int, k: int, kind: str = "f32", tolerance: float = 1e-3) -> Program:
    inputs = (
        coarse(m, k, kind=kind),
        coarse(k, n, kind=kind),
        floats(m, n, kind=kind),
        floats(n, kind=kind),
    )
    text = _SPLIT_K.format(m=m, n=n, k=k, kind=kind)
    return Program(f"split_product_{m}x{n}x{k}_{kind}", text, (inputs,), _relu, tolerance)


PROGRAMS = (
    Program(
        "split_sum_of_all",
        _sum("100003", (0,)),
        ((floats(100003),),),
        lambda x: np.asarray(x.sum(dtype="f8"), "f4"),
        1e-4,
    ),
    Program(
        "split_sum_of_planes",
        _sum("7x150x101", (0, 1, 2), "i32", "arith.addi", "0"),
        ((whole(7, 150, 101),),),
        lambda x: np.asarray(x.sum(dtype="i4")),
    ),
    Program(
        "split_rows",
        _sum("3x50021", (1,)),
        ((floats(3, 50021),),),
        lambda x: x.sum(1, dtype="f8").astype("f4"),
        1e-3,
    ),
    Program(
        "split_columns",
        _sum("9001x37", (0,)),
        ((floats(9001, 37),),),
        lambda x: x.sum(0, dtype="f8").astype("f4"),
        1e-3,
    ),
    Program(
        "split_middle",
        _sum("2x9001x5", (1,), "f64"),
        ((floats(2, 9001, 5, kind="f64"),),),
        lambda x: x.sum(1),
        1e-9,
    ),
    Program(
        "split_least",
        _sum("2x40000", (1,), "i16", "arith.minsi", "32767"),
        ((whole(2, 40000, kind="i16", low=-30000, high=30000),),),
        lambda x: x.min(1),
    ),
    Program(
        "split_largest",
        _sum("60000", (0,), "f32", "arith.maximumf", "0xFF800000"),
        ((floats(60000),),),
        lambda x: np.asarray(x.max()),
    ),
    Program(
        "split_mean_squared_error",
        _ERROR,
        (
            (floats(40001), floats(40001)),
            (floats(3), floats(3)),
            (floats(16384), floats(16384)),
        ),
        lambda x, y: np.asarray(np.square(x - y).mean(dtype="f8"), "f4"),
        1e-4,
    ),
    _split_k(40, 50, 4099),
    _split_k(64, 64, 4096),
    _split_k(33, 20, 4100, "f64", 1e-9),
    _split_k(1, 50, 9000),
    *(
        Program(
            f"split_columns_{columns}",
            _sum(f"?x{columns}", (0,)),
            ((floats(1030, columns),), (floats(3, columns),), (floats(0, columns),)),
            lambda x: x.sum(0),
            1e-4,
        )
        for columns in (33, 40, 1000)
    ),
)
