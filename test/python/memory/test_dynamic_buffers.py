"""Buffers in workgroup memory whose dynamic extents are bounded: by affine, or by arithmetic."""

from __future__ import annotations

import random

import numpy as np
import pytest

import pipeline

BOUNDS = {
    "affine": "affine.min affine_map<()[s0] -> (s0, {most})>()[%{name}]",
    "signed": "arith.minsi %{name}, %c{most} : index",
    "unsigned": "arith.minui %{name}, %c{most} : index",
    "twice": "arith.minui %m{name}, %c{most} : index",
}

PROGRAM = """
func.func @main(%y: memref<3x{rows}x{columns}xi64>, %n: index, %k: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c{rows} = arith.constant {rows} : index
  {more}
  %ten = arith.constant 10 : i64
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c3, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c{rows}, %sy = %c{columns}, %sz = %c1) {{
    %mn = arith.minui %n, %c{rows} : index
    %mk = arith.minui %k, %c{columns} : index
    %bn = {bound_n}
    %bk = {bound_k}
    %in0 = arith.cmpi ult, %tx, %bn : index
    %in1 = arith.cmpi ult, %ty, %bk : index
    %in = arith.andi %in0, %in1 : i1
    %last0 = arith.subi %bn, %c1 : index
    %last1 = arith.subi %bk, %c1 : index
    %ux = arith.subi %last0, %tx : index
    %uy = arith.subi %last1, %ty : index
    scf.for %q = %c0 to %c3 step %c1 {{
      %s = memref.alloc(%bn, %bk) : memref<?x?xi64, 3>
      scf.if %in {{
        %i = arith.index_cast %tx : index to i64
        %j = arith.index_cast %ty : index to i64
        %o = arith.index_cast %q : index to i64
        %ij = arith.muli %i, %ten : i64
        %sum = arith.addi %ij, %j : i64
        %all = arith.addi %sum, %o : i64
        memref.store %all, %s[%tx, %ty] : memref<?x?xi64, 3>
      }}
      scf.if %in {{
        %v = memref.load %s[%ux, %uy] : memref<?x?xi64, 3>
        memref.store %v, %y[%bx, %tx, %ty] : memref<3x{rows}x{columns}xi64>
      }}
    }}
    gpu.terminator
  }}
  return
}}
"""


def make(rows: int, columns: int, first: str, second: str) -> str:
    def bound(kind: str, name: str, most: int) -> str:
        return BOUNDS[kind].format(name=name, most=most)

    more = f"%c{columns} = arith.constant {columns} : index" if columns not in (3, rows) else ""
    return PROGRAM.format(
        rows=rows,
        columns=columns,
        more=more,
        bound_n=bound(first, "n", rows),
        bound_k=bound(second, "k", columns),
    )


@pytest.mark.parametrize("seed", range(8))
def test_bounded_extents(seed: int) -> None:
    """As many bytes as the bounds say, barriers where they are needed, and the right elements."""
    draw = random.Random(seed)
    rows, columns = draw.randint(4, 11), draw.randint(12, 18)
    kinds = [draw.choice(list(BOUNDS)) for _ in range(2)]
    module = pipeline.compile(make(rows, columns, *kinds), until="llvm")
    assert not module.diagnostics
    (kernel,) = module.kernels.values()
    assert kernel.static_shared_bytes == rows * columns * 8
    for _ in range(3):
        n, k = draw.randint(1, rows + 3), draw.randint(1, columns + 3)
        y = np.random.default_rng(seed).integers(1, 1000, (3, rows, columns))
        expected = y.copy()
        taken = expected[:, : min(n, rows), : min(k, columns)]
        places = np.indices(taken.shape[1:])
        taken[:] = (10 * places[0] + places[1] + 2)[::-1, ::-1]
        module.run(y, n, k, backend="emulator", check="races")
        np.testing.assert_array_equal(y, expected)
