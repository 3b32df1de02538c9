"""Loops over blocks become launches that do each tile once, however large the grid is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline

# Tiles of a 2-D array, the last ones ragged, of which each thread does some elements.
TILES = """
func.func @main(%a: memref<{type}>, %b: memref<{type}>) {{
  {extents}
  scf.forall (%i, %j) = (0, 0) to ({rows}, {columns}) step ({tile[0]}, {tile[1]}) {{
    %h = affine.min affine_map<(d)[s] -> ({tile[0]}, s - d)>(%i)[%rows]
    %w = affine.min affine_map<(d)[s] -> ({tile[1]}, s - d)>(%j)[%columns]
    scf.forall (%u, %v) in (%h, %w) {{
      %y = arith.addi %i, %u : index
      %x = arith.addi %j, %v : index
      %old = memref.load %a[%y, %x] : memref<{type}>
      %sum = arith.addf %old, %old : f32
      memref.store %sum, %b[%y, %x] : memref<{type}>
    }} {{mapping = [{threads}]}}
  }} {{mapping = [{blocks}]}}
  return
}}
"""
EMULATED: dict[str, Any] = {"backend": "emulator", "check": "all", "workers": 1}
LINEAR = "#gpu.{0}<linear_dim_1>, #gpu.{0}<linear_dim_0>"
ALONG = "#gpu.{0}<y>, #gpu.{0}<x>"


def make(rows: int | None, columns: int | None, tile: tuple[int, int], mapping: str) -> str:
    """Return a program for an array of that size; of any, if that is None."""
    sizes = {"rows": rows, "columns": columns}
    extents = "".join(
        f"%c{n} = arith.constant {n} : index\n"
        + (
            f"%{name} = memref.dim %a, %c{n} : memref<?x?xf32>\n"
            if size is None
            else f"%{name} = arith.constant {size} : index\n"
        )
        for n, (name, size) in enumerate(sizes.items())
    )
    dims = {name: f"%{name}" if size is None else str(size) for name, size in sizes.items()}
    return TILES.format(
        type="?x?xf32" if rows is None else f"{rows}x{columns}xf32",
        extents=extents,
        tile=tile,
        threads=mapping.format("thread"),
        blocks=mapping.format("block"),
        **dims,
    )


@pytest.mark.parametrize("mapping", [ALONG, LINEAR])
@pytest.mark.parametrize(
    ("rows", "columns", "tile", "grid"),
    [
        (64, 64, (16, 32), (2, 4, 1)),
        (70, 90, (16, 32), (3, 5, 1)),
        (1, 1, (8, 8), (1, 1, 1)),
        (65536, 1, (1, 1), (65536, 1, 1)),
        (1, 65536, (1, 1), (65536, 1, 1)),
    ],
)
def test_static(
    rows: int, columns: int, tile: tuple[int, int], grid: tuple[int, int, int], mapping: str
) -> None:
    """A whole program runs; a grid with more rows than the hardware takes is folded."""
    module = pipeline.compile(make(rows, columns, tile, mapping))
    assert not module.diagnostics
    (kernel,) = module.kernels.values()
    assert kernel.grid == grid
    a = np.random.default_rng(1).random((rows, columns), np.float32)
    b = np.zeros_like(a)
    module.run(a, b, **EMULATED)
    assert np.array_equal(b, a + a)


@pytest.mark.parametrize("mapping", [ALONG, LINEAR])
@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (70, 90), (1, 33), (17, 1), (16, 32)])
def test_dynamic(rows: int, columns: int, mapping: str) -> None:
    """Blocks of a grid of any size are proved to be apart, and find their tiles."""
    module = pipeline.compile(make(None, None, (16, 32), mapping))
    assert not module.diagnostics
    (kernel,) = module.kernels.values()
    assert kernel.block == (256, 1, 1)
    a = np.random.default_rng(2).random((rows, columns), np.float32)
    b = np.zeros_like(a)
    width = -(-columns // 32)
    kernel.run(a, width, b, grid=width * -(-rows // 16), **EMULATED)
    assert np.array_equal(b, a + a)


def test_several() -> None:
    """Launches follow each other, each with the threads that its loops have."""
    module = pipeline.compile("""
func.func @main(%a: memref<8x64xf32>, %b: memref<8x64xf32>, %c: memref<64x8xf32>) {
  scf.forall (%i) in (8) {
    scf.forall (%t) in (64) {
      %x = memref.load %a[%i, %t] : memref<8x64xf32>
      %y = arith.mulf %x, %x : f32
      memref.store %y, %b[%i, %t] : memref<8x64xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  scf.forall (%i) in (0) {
    scf.forall (%t) in (64) {
      %x = memref.load %a[%i, %t] : memref<8x64xf32>
      memref.store %x, %b[%i, %t] : memref<8x64xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  scf.forall (%i) in (64) {
    scf.forall (%t) in (8) {
      %x = memref.load %b[%t, %i] : memref<8x64xf32>
      memref.store %x, %c[%i, %t] : memref<64x8xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  return
}
""")
    assert [kernel.block for kernel in module.kernels.values()] == [(64, 1, 1), (8, 1, 1)]
    a = np.random.default_rng(3).random((8, 64), np.float32)
    b = np.zeros_like(a)
    c = np.zeros((64, 8), np.float32)
    module.run(a, b, c, **EMULATED)
    assert np.array_equal(c, (a * a).T)


def test_one_thread_body() -> None:
    """What one thread would do is not done by all of them (thread 000)."""
    with pytest.raises(pipeline.CompileError, match="writes memory in each thread of a block"):
        pipeline.compile("""
func.func @main(%a: memref<64xf32>, %x: f32) {
  scf.forall (%i) in (64) {
    memref.store %x, %a[%i] : memref<64xf32>
  } {mapping = [#gpu.block<x>]}
  return
}
""")
