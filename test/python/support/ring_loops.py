"""A loop whose copies run ahead, what it computes, and all ways to run it."""

from __future__ import annotations

import numpy as np

import pipeline
from pipeline.runtime.emulator import AsyncMode, Order

ORDERS: tuple[Order | int, ...] = ("forward", "reverse", 7)
MODES: tuple[AsyncMode | int, ...] = ("on_wait", "eager", 7)

ROWS, COLUMNS, TILE = 8, 32, 16


def make_loop(iterations: int, outer: int, *, element: str = "f32", epilogue: bool = True) -> str:
    """Return a program in which 32 threads add up what others copied, in a loop within a loop."""
    array = f"memref<{ROWS}x{TILE * 8}x{element}>"
    tile = f"memref<{ROWS}x{TILE}x{element}, #gpu.address_space<workgroup>>"
    view = f"memref<{ROWS}x{TILE}x{element}, strided<[{TILE * 8}, 1], offset: ?>>"
    results = "memref<32xf32, #gpu.address_space<workgroup>>"
    ending = f"""
      %exchange = memref.alloc() : {results}
      memref.store %sum, %exchange[%tx] : {results}
      gpu.barrier
      %left = memref.load %exchange[%mirror] : {results}
      memref.store %left, %c[%tx] : memref<32xf32>"""
    if not epilogue:
        ending = "memref.store %sum, %c[%tx] : memref<32xf32>"
    return f"""
func.func @main(%a: {array}, %iterations: index, %c: memref<32xf32> {{llvm.noalias}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %outer = arith.constant {outer} : index
  %static = arith.constant {iterations} : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {{
    %mirror = affine.apply affine_map<(t) -> (31 - t)>(%tx)
    %row = affine.apply affine_map<(t) -> ((t + 5) mod {ROWS})>(%tx)
    %column = affine.apply affine_map<(t) -> ((t * 7) mod {TILE})>(%tx)
    %tile = memref.alloc() : {tile}
    %sum = scf.for %o = %c0 to %outer step %c1 iter_args(%start = %zero) -> (f32) {{
      %inner = scf.for %k = %c0 to %iterations step %c1 iter_args(%acc = %start) -> (f32) {{
        %at = affine.apply affine_map<(k) -> (k * {TILE})>(%k)
        %source = memref.subview %a[0, %at] [{ROWS}, {TILE}] [1, 1] : {array} to {view}
        memref.copy %source, %tile : {view} to {tile}
        %value = memref.load %tile[%row, %column] : {tile}
        %next = arith.addf %acc, %value : f32
        scf.yield %next : f32
      }}
      scf.yield %inner : f32
    }}
    {ending}
    gpu.terminator
  }}
  return
}}
"""


def expect(array: np.ndarray, iterations: int, outer: int, *, epilogue: bool = True) -> np.ndarray:
    """Return what the program computes."""
    thread = np.arange(32)
    row, column = (thread + 5) % ROWS, (thread * 7) % TILE
    total = np.zeros(32, np.float32)
    for _ in range(outer):
        for k in range(iterations):
            total += array[row, column + k * TILE]
    return total[::-1] if epilogue else total


def make_array() -> np.ndarray:
    """Return small whole numbers, whose sums are exact."""
    return np.random.default_rng(3).integers(-9, 10, (ROWS, TILE * 8)).astype(np.float32)


def run_all(module: pipeline.Module, iterations: int) -> list[tuple[np.ndarray, pipeline.Report]]:
    """Run a program in all orders of threads and modes of asynchronous copies."""
    results = []
    for order in ORDERS:
        for mode in MODES:
            out = np.full(32, np.nan, np.float32)
            options = pipeline.Options(check="all", order=order, async_mode=mode, workers=1)
            (report,) = module.emulate(make_array(), iterations, out, options=options)
            results.append((out, report))
    return results
