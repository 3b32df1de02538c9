"""Rings with readers and blocks of all sorts, and copies that stay beside a ring."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import pipeline
from support.ring_loops import MODES, ORDERS, ROWS, TILE, make_array, make_loop, run_all

ENGINES = {"registers": "sm_80", "cp-async": "sm_80", "tma": "sm_90"}

# One warp multiplies tiles of 16x16 and 16xCOLUMNS.
MATRICES = """\
#wg = #gpu.address_space<workgroup>
!ta = memref<16x16xf16, #wg>
!tb = memref<16xCOLUMNSxf16, #wg>
!va = memref<16x16xf16, strided<[128, 1], offset: ?>>
!vb = memref<16xCOLUMNSxf16, strided<[COLUMNS, 1], offset: ?>>
func.func @main(%a: memref<16x128xf16>, %b: memref<128xCOLUMNSxf16>, %iterations: index,
                %c: memref<16xCOLUMNSxf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %wa = memref.alloc() : !ta
    %wb = memref.alloc() : !tb
    START
    %sum = scf.for %k = %c0 to %iterations step %c1 iter_args(%acc = %none) -> (SUM) {
      %at = affine.apply affine_map<(k) -> (k * 16)>(%k)
      %sa = memref.subview %a[0, %at] [16, 16] [1, 1] : memref<16x128xf16> to !va
      %sb = memref.subview %b[%at, 0] [16, COLUMNS] [1, 1] : memref<128xCOLUMNSxf16> to !vb
      memref.copy %sa, %wa : !va to !ta
      memref.copy %sb, %wb : !vb to !tb
      STEP
      scf.yield %next : SUM
    }
    END
    gpu.terminator
  }
  return
}
"""
BY_LDMATRIX = {
    "COLUMNS": "8",
    "SUM": "vector<2x2xf32>",
    "START": """
    %none = arith.constant dense<0.0> : vector<2x2xf32>
    %row = affine.apply affine_map<(t) -> (t mod 16)>(%tx)
    %half = affine.apply affine_map<(t) -> (t floordiv 16 * 8)>(%tx)
    %group = affine.apply affine_map<(t) -> (t floordiv 4)>(%tx)
    %below = affine.apply affine_map<(t) -> (t floordiv 4 + 8)>(%tx)
    %pair = affine.apply affine_map<(t) -> (t mod 4 * 2)>(%tx)""",
    "STEP": """
      %x = nvgpu.ldmatrix %wa[%row, %half] {numTiles = 4 : i32, transpose = false}
          : !ta -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %wb[%row, %c0] {numTiles = 2 : i32, transpose = true}
          : !tb -> vector<2x2xf16>
      %next = nvgpu.mma.sync(%x, %y, %acc) {mmaShape = [16, 8, 16]}
          : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>""",
    "END": """
    %upper = vector.extract %sum[0] : vector<2xf32> from vector<2x2xf32>
    %lower = vector.extract %sum[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %upper, %c[%group, %pair] : memref<16x8xf32>, vector<2xf32>
    vector.store %lower, %c[%below, %pair] : memref<16x8xf32>, vector<2xf32>""",
}
# The sum is in global memory, as no loop can carry it.
BY_WMMA = {
    "COLUMNS": "16",
    "SUM": "index",
    "START": """
    %none = arith.constant 0 : index
    %nothing = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf32, "COp">
    gpu.subgroup_mma_store_matrix %nothing, %c[%c0, %c0] {leadDimension = 16 : index}
        : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x16xf32>""",
    "STEP": """
      %x = gpu.subgroup_mma_load_matrix %wa[%c0, %c0] {leadDimension = 16 : index}
          : !ta -> !gpu.mma_matrix<16x16xf16, "AOp">
      %y = gpu.subgroup_mma_load_matrix %wb[%c0, %c0] {leadDimension = 16 : index}
          : !tb -> !gpu.mma_matrix<16x16xf16, "BOp">
      %old = gpu.subgroup_mma_load_matrix %c[%c0, %c0] {leadDimension = 16 : index}
          : memref<16x16xf32> -> !gpu.mma_matrix<16x16xf32, "COp">
      %new = gpu.subgroup_mma_compute %x, %y, %old
          : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp">
          -> !gpu.mma_matrix<16x16xf32, "COp">
      gpu.subgroup_mma_store_matrix %new, %c[%c0, %c0] {leadDimension = 16 : index}
          : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x16xf32>
      %next = arith.addi %acc, %c1 : index""",
    "END": "",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("reader", [BY_LDMATRIX, BY_WMMA], ids=["ldmatrix", "wmma"])
def test_matrix_instructions_read_tiles(engine: str, reader: dict[str, str]) -> None:
    """Rings are for readers of any kind."""
    text = MATRICES
    for name in ("START", "STEP", "END", "SUM", "COLUMNS"):
        text = text.replace(name, reader[name])
    module = pipeline.compile(
        text, chip=ENGINES[engine], memory_options=f"slots=3 engine={engine}", until="llvm"
    )
    (lowered,) = (remark for remark in module.remarks if remark.name == "LoweredRing")
    assert lowered.arguments["Engine"].replace(".", "-").lower() == engine
    generator = np.random.default_rng(5)
    a = generator.integers(-4, 5, (16, 128)).astype(np.float16)
    b = generator.integers(-4, 5, (128, int(reader["COLUMNS"]))).astype(np.float16)
    for iterations, order, mode in product((0, 1, 2, 5, 8), ORDERS, MODES):
        out = np.full((16, b.shape[1]), np.nan, np.float32)
        options = pipeline.Options(check="all", order=order, async_mode=mode, workers=1)
        (report,) = module.emulate(a, b, iterations, out, options=options)
        assert not report.findings, report.findings[0].message
        depth = iterations * 16
        np.testing.assert_array_equal(
            out, a[:, :depth].astype(np.float32) @ b[:depth].astype(np.float32)
        )


# A block of any size; what is stored last is the sum of what its first 32 threads have read.
ANY_BLOCK = """\
!array = memref<8x128xELEMENT>
!view = memref<8x16xELEMENT, strided<[128, 1], offset: ?>>
!tile = memref<8x16xELEMENT, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @k(%a: !array {llvm.align = 16}, %iterations: index,
              %c: memref<32xELEMENT> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : ELEMENT
    %tx = gpu.thread_id x
    %tile = memref.alloc() : !tile
    %row = affine.apply affine_map<(t) -> ((t + 5) mod 8)>(%tx)
    %column = affine.apply affine_map<(t) -> ((t * 7) mod 16)>(%tx)
    %sum = scf.for %k = %c0 to %iterations step %c1 iter_args(%acc = %zero) -> (ELEMENT) {
      %at = affine.apply affine_map<(k) -> (k * 16)>(%k)
      %source = memref.subview %a[0, %at] [8, 16] [1, 1] : !array to !view
      memref.copy %source, %tile : !view to !tile
      %value = memref.load %tile[%row, %column] : !tile
      %next = arith.addi %acc, %value : ELEMENT
      scf.yield %next : ELEMENT
    }
    %is_first = arith.cmpi ult, %tx, %c32 : index
    scf.if %is_first {
      memref.store %sum, %c[%tx] : memref<32xELEMENT>
    }
    gpu.return
  }
}
"""


def run_any_block(text: str, chip: str, engine: str, kind: Any) -> pipeline.Module:
    """Run a kernel whose block size the compiler does not know, and return its module."""
    module = pipeline.compile(text, chip=chip, memory_options="slots=4")
    (lowered,) = (remark for remark in module.remarks if remark.name == "LoweredRing")
    assert lowered.arguments["Engine"] == engine
    array: np.ndarray = np.random.default_rng(6).integers(0, 99, (8, 128)).astype(kind)
    thread = np.arange(32)
    for block, iterations, order in product((32, 96, 1000), (0, 1, 3, 7), ORDERS):
        out: np.ndarray = np.zeros(32, kind)
        kernel = module.kernels["k"]
        options = pipeline.Options(check="all", order=order)
        report = kernel.emulate(array, iterations, out, grid=1, block=block, options=options)
        assert not report.findings, report.findings[0].message
        picked = array.reshape(8, 8, 16)[(thread + 5) % 8, :iterations, thread * 7 % 16]
        np.testing.assert_array_equal(out, picked.sum(axis=1, dtype=kind))
    return module


@pytest.mark.parametrize(("chip", "engine"), [("sm_75", "registers"), ("sm_80", "cp.async")])
def test_any_block_size(chip: str, engine: str) -> None:
    run_any_block(ANY_BLOCK.replace("ELEMENT", "i32"), chip, engine, np.int32)


def test_copies_that_are_no_cp_async() -> None:
    """What the chip could do and the operands do not allow is reported as what it is."""
    text = ANY_BLOCK.replace("ELEMENT", "i8")
    text = text.replace("memref<8x128xi8>", "memref<8x?xi8>").replace("[128, 1]", "[?, 1]")
    module = run_any_block(text, "sm_80", "registers", np.int8)
    (lowered,) = (remark for remark in module.remarks if remark.name == "LoweredRing")
    assert (lowered.arguments["Slots"], lowered.arguments["IterationsAhead"]) == ("2", "1")
    assert "cp.async" not in module.ptx


@pytest.mark.parametrize("slots", [2, 3, 4])
@pytest.mark.parametrize("place", ["before", "after"])
def test_copies_beside_a_ring(slots: int, place: str) -> None:
    """A copy that stays in the loop of a ring does not wait for the ring's copies."""
    tile = f"memref<{ROWS}x{TILE}xf32, #gpu.address_space<workgroup>>"
    view = f"memref<{ROWS}x{TILE}xf32, strided<[{TILE * 8}, 1], offset: ?>>"
    text = make_loop(0, 2, epilogue=False)
    text = text.replace("%sum =", f"%other = memref.alloc() : {tile}\n    %sum =")
    stays = f"memref.copy %source, %other : {view} to {tile}\n"
    at = {"before": "        memref.copy %source, %tile", "after": "        scf.yield %next"}[place]
    text = text.replace(at, f"        {stays}{at}")
    early = f"        %early = memref.load %other[%row, %column] : {tile}\n"
    first = f"        %is_later = arith.cmpi ugt, %k, %c0 : index\n{early}"
    chosen = "        %old = arith.select %is_later, %early, %zero : f32\n"
    text = text.replace("        %at =", f"{first}{chosen}        %at =")
    text = text.replace(
        "%next = arith.addf %acc, %value",
        "%both = arith.addf %acc, %old : f32\n        %next = arith.addf %both, %value",
    )
    fill = f"linalg.fill ins(%zero : f32) outs(%other : {tile})\n    gpu.barrier\n    %sum ="
    text = text.replace("%sum =", fill, 1)
    module = pipeline.compile(text, memory_options=f"slots={slots}", until="llvm")
    (formed,) = (remark for remark in module.remarks if remark.name == "FormedRing")
    assert formed.arguments["Tiles"] == "1"
    (missed,) = (remark for remark in module.remarks if remark.name == "NotAsync")
    assert "the copies that run ahead in 'scf.for'" in missed.arguments["Reason"]
    source, thread = make_array(), np.arange(32)
    picked = source.reshape(ROWS, 8, TILE)[(thread + 5) % ROWS, :, thread * 7 % TILE]
    for iterations in (0, 1, 2, 5, 8):
        total = 2 * (
            picked[:, :iterations].sum(axis=1) + picked[:, : max(iterations - 1, 0)].sum(axis=1)
        )
        for out, report in run_all(module, iterations):
            assert not report.findings, report.findings[0].message
            np.testing.assert_array_equal(out, total)
