"""Barriers of a part of the block, compiled and run on the emulator."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import pipeline

WORKGROUP = "#gpu.address_space<workgroup>"
# Two warps reverse the first half of a row, in each iteration one row; the other two do nothing.
TEXT = f"""
func.func @main(%in: memref<?x64xf32>, %out: memref<?x64xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %in, %c0 : memref<?x64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1) {{
    %S = memref.alloc() : memref<64xf32, {WORKGROUP}>
    %is_low = arith.cmpi ult, %tx, %c64 : index
    scf.if %is_low {{
      %u = arith.subi %c63, %tx : index
      scf.for %i = %c0 to %rows step %c1 {{
        %x = memref.load %in[%i, %tx] : memref<?x64xf32>
        memref.store %x, %S[%tx] : memref<64xf32, {WORKGROUP}>
        %y = memref.load %S[%u] : memref<64xf32, {WORKGROUP}>
        memref.store %y, %out[%i, %tx] : memref<?x64xf32>
      }}
    }}
    memref.dealloc %S : memref<64xf32, {WORKGROUP}>
    gpu.terminator
  }}
  return
}}
"""


def test_refused_without_leave() -> None:
    """No barrier of the block can stand where only some warps are."""
    with pytest.raises(pipeline.CompileError, match="cannot synchronize"):
        pipeline.compile(TEXT)


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_two_warps_meet(order: Literal["forward", "reverse"]) -> None:
    """With a barrier of their own nothing races, and the result is right; without it, it races."""
    module = pipeline.compile(TEXT, memory_options="named-barriers")
    assert not module.diagnostics
    assert "bar.sync" in module.ptx or "barrier.sync" in module.ptx
    rows = np.random.default_rng(1).standard_normal((5, 64), np.float32)
    out = np.full_like(rows, np.nan)
    options = pipeline.Options(check="all", order=order, workers=1)
    (report,) = module.emulate(rows, out, options=options)
    assert not report.findings
    np.testing.assert_array_equal(out, rows[:, ::-1])
    unchecked = pipeline.compile(TEXT, sync="keep", verify=False)
    (report,) = unchecked.emulate(rows, out, options=options)
    assert any("race" in finding.kind for finding in report.findings)
