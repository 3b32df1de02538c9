"""Host functions that launch kernels, between other steps."""

from __future__ import annotations

import numpy as np

import pipeline
from corpus.kernels_case import Array

# Adds the number at %p to the elements of %m.
LAUNCH = """\
  gpu.launch blocks(%bx, %by, %bz) in (%gx = {grid}, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {{
    %x = memref.load {memory}[%bx] : {type}
    %y = arith.addi %x, {number} : i32
    memref.store %y, {memory}[%bx] : {type}
    gpu.terminator
  }}
"""
V8 = "memref<8xi32>"


def launch(memory: str, number: str, kind: str = V8, grid: str = "%c8") -> str:
    return LAUNCH.format(memory=memory, number=number, type=kind, grid=grid)


def host(body: str, arguments: str, results: str = "", *, more: str = "") -> pipeline.Module:
    """Compile a host function."""
    text = f"""{more}
func.func @main({arguments}){f" -> {results}" if results else ""} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %i3 = arith.constant 3 : i32
{body}}}
"""
    return pipeline.compile(text, until="llvm", sync="keep", verify=False, schedule="none")


def numbers(*shape: int) -> Array:
    return np.random.default_rng(7).integers(1, 100, shape, dtype=np.int32)
