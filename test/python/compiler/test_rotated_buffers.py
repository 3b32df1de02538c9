"""Rotated loops that write a tile for others than the first products of an iteration."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pipeline
from support.ring_loops import ORDERS

WORKGROUP = "#gpu.address_space<workgroup>"
TILE = f"memref<16x16xf16, {WORKGROUP}>"

# Tiles of P and Q times B. The first products of an iteration are of P.
KERNEL = f"""
!tile = {TILE}
!matrix = memref<16x?xf16>
!a = vector<4x2xf16>
!c = vector<2x2xf32>
func.func @main(%P: !matrix, %Q: !matrix, %B: memref<16x8xf16>, %C: memref<16x8xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %P, %c1 : !matrix
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%t, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {{
    %i = affine.apply affine_map<(d) -> (d floordiv 4)>(%t)
    %j = affine.apply affine_map<(d) -> ((d mod 4) * 2)>(%t)
    %i8 = arith.addi %i, %c8 : index
    %j1 = arith.addi %j, %c1 : index
    %j8 = arith.addi %j, %c8 : index
    %j9 = arith.addi %j, %c9 : index
    %b0 = memref.load %B[%j, %i] : memref<16x8xf16>
    %b1 = memref.load %B[%j1, %i] : memref<16x8xf16>
    %b2 = memref.load %B[%j8, %i] : memref<16x8xf16>
    %b3 = memref.load %B[%j9, %i] : memref<16x8xf16>
    %b = vector.from_elements %b0, %b1, %b2, %b3 : vector<2x2xf16>
    %row = affine.apply affine_map<(d) -> (d floordiv 2)>(%t)
    %column = affine.apply affine_map<(d) -> ((d mod 2) * 8)>(%t)
    %x = affine.apply affine_map<(d) -> (d mod 16)>(%t)
    %y = affine.apply affine_map<(d) -> ((d floordiv 16) * 8)>(%t)
    %none = arith.constant dense<0.0> : vector<8xf16>
    %zeros = arith.constant dense<0.0> : !c
    %first = memref.alloc() : !tile
    BEFORE
    %r = scf.for %k = %c0 to %n step %c16 iter_args(%sum = %zeros) -> !c {{
      %from = arith.addi %k, %column : index
      %p = vector.load %P[%row, %from] : !matrix, vector<8xf16>
      %q = vector.load %Q[%row, %from] : !matrix, vector<8xf16>
      BODY
      %u = nvgpu.mma.sync(%g, %b, %s) {{mmaShape = [16, 8, 16]}} : (!a, vector<2x2xf16>, !c) -> !c
      scf.yield %u : !c
    }}
    %low = vector.extract %r[0] : vector<2xf32> from !c
    %high = vector.extract %r[1] : vector<2xf32> from !c
    vector.store %low, %C[%i, %j] : memref<16x8xf32>, vector<2xf32>
    vector.store %high, %C[%i8, %j] : memref<16x8xf32>, vector<2xf32>
    gpu.terminator
  }}
  return
}}
"""
LOAD = "nvgpu.ldmatrix %{}[%x, %y] {{numTiles = 4 : i32, transpose = false}} : !tile -> !a"
FIRST = f"""
      vector.store %p, %first[%row, %column] : !tile, vector<8xf16>
      gpu.barrier
      %f = {LOAD.format("first")}
      %s = nvgpu.mma.sync(%f, %b, %sum) {{mmaShape = [16, 8, 16]}}
        : (!a, vector<2x2xf16>, !c) -> !c"""
FILL = "vector.store %{}, %second[%row, %column] : !tile, vector<8xf16>"

# Each iteration allocates the second tile, or reads what the one before left there.
ALLOCATED = KERNEL.replace("BEFORE", "").replace(
    "BODY",
    f"""%second = memref.alloc() : !tile
      {FILL.format("q")}
      {FIRST}
      %g = {LOAD.format("second")}""",
)
LEFT = KERNEL.replace(
    "BEFORE",
    f"""%second = memref.alloc() : !tile
    {FILL.format("none")}""",
).replace(
    "BODY",
    f"""%g = {LOAD.format("second")}
      gpu.barrier
      {FILL.format("q")}
      {FIRST}""",
)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("text", [ALLOCATED, LEFT], ids=["allocated", "left"])
def test_second_tile(text: str, order: Any) -> None:
    """No load comes before the write that it depends on, in any number of iterations."""
    module = pipeline.compile(text, chip="sm_80")
    kept = pipeline.compile(text, chip="sm_80", memory_options="rotate-loops=false")
    assert module.ptx
    assert kept.ptx
    counts = [len(re.findall(r"ldmatrix", ptx)) for ptx in (module.ptx, kept.ptx)]
    assert counts[0] > counts[1] > 0
    numbers = np.random.default_rng(3)
    for depth in (0, 16, 32, 80):
        p, q = numbers.integers(-4, 5, (2, 16, depth)).astype(np.float16)
        b = numbers.integers(-4, 5, (16, 8)).astype(np.float16)
        result = np.full((16, 8), -1, np.float32)
        module.run(p, q, b, result, backend="emulator", check="all", order=order, workers=1)
        seen = q if text == ALLOCATED else q[:, : max(0, depth - 16)]
        tiles = [*p.reshape(16, -1, 16).swapaxes(0, 1), *seen.reshape(16, -1, 16).swapaxes(0, 1)]
        expected = sum((tile.astype(np.float32) @ b.astype(np.float32) for tile in tiles), 0)
        np.testing.assert_array_equal(result, np.broadcast_to(np.float32(expected), (16, 8)))
