"""Parallel loops of the host that are mapped to nothing: blocks and threads share them out."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from linalg.loop_programs import LoopProgram, make_program

# Tiles as upstream's tilings leave them.
TILES = """\
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (64, 64) step (16, 16) shared_outs(%o = %e)
      -> (tensor<64x64xf32>) {
    %a = tensor.extract_slice %x[%i, %j] [16, 16] [1, 1]
        : tensor<64x64xf32> to tensor<16x16xf32>
    %b = tensor.extract_slice %o[%i, %j] [16, 16] [1, 1]
        : tensor<64x64xf32> to tensor<16x16xf32>
    %c = linalg.abs ins(%a : tensor<16x16xf32>) outs(%b : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, %j] [16, 16] [1, 1]
          : tensor<16x16xf32> into tensor<64x64xf32>
    }
  }
  return %r : tensor<64x64xf32>
}
"""
# The same on buffers, with a loop around it that is the host's.
BUFFERS = """\
func.func @main(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %m = memref.dim %x, %c0 : memref<?x64xf32>
  scf.for %k = %c0 to %n step %c1 {
    scf.parallel (%i) = (%c0) to (%m) step (%c16) {
      %s = affine.min affine_map<(i)[m] -> (16, m - i)>(%i)[%m]
      %a = memref.subview %x[%i, 0] [%s, 64] [1, 1]
          : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
      %b = memref.subview %y[%i, 0] [%s, 64] [1, 1]
          : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
      linalg.add ins(%a, %b : memref<?x64xf32, strided<[64, 1], offset: ?>>,
                              memref<?x64xf32, strided<[64, 1], offset: ?>>)
                 outs(%b : memref<?x64xf32, strided<[64, 1], offset: ?>>)
    }
  }
  return
}
"""
MATMUL = """\
func.func @main(%x: tensor<?x48xf32>, %y: tensor<48x40xf32>) -> tensor<?x40xf32> {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x48xf32>
  %e = tensor.empty(%m) : tensor<?x40xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (%m, 40) step (16, 20) shared_outs(%o = %e)
      -> (tensor<?x40xf32>) {
    %s = affine.min affine_map<(i)[m] -> (16, m - i)>(%i)[%m]
    %a = tensor.extract_slice %x[%i, 0] [%s, 48] [1, 1] : tensor<?x48xf32> to tensor<?x48xf32>
    %b = tensor.extract_slice %y[0, %j] [48, 20] [1, 1] : tensor<48x40xf32> to tensor<48x20xf32>
    %c = tensor.extract_slice %o[%i, %j] [%s, 20] [1, 1] : tensor<?x40xf32> to tensor<?x20xf32>
    %f = linalg.fill ins(%f0 : f32) outs(%c : tensor<?x20xf32>) -> tensor<?x20xf32>
    %d = linalg.matmul ins(%a, %b : tensor<?x48xf32>, tensor<48x20xf32>)
                       outs(%f : tensor<?x20xf32>) -> tensor<?x20xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[%i, %j] [%s, 20] [1, 1]
          : tensor<?x20xf32> into tensor<?x40xf32>
    }
  }
  return %r : tensor<?x40xf32>
}
"""
# What no kernel can be made of as it is: each iteration is launched.
CALLS = """\
func.func private @one(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = scf.forall (%i) in (4) shared_outs(%o = %e) -> (tensor<4x8xf32>) {
    %a = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %c = func.call @one(%a) : (tensor<8xf32>) -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0] [1, 8] [1, 1]
          : tensor<8xf32> into tensor<4x8xf32>
    }
  }
  return %r : tensor<4x8xf32>
}
"""
SUM = """\
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%f0) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    scf.reduce(%v : f32) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        scf.reduce.return %c : f32
    }
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %r, %y[%i] : memref<?xf32>
  }
  return %r : f32
}
"""
# Ten thousand numbers: no launch is as large as that of a grid along one dimension alone.
POINTS = """\
func.func @main(%x: memref<10000xf32>) {
  %f2 = arith.constant 2.0 : f32
  scf.forall (%i) in (10000) {
    %v = memref.load %x[%i] : memref<10000xf32>
    %w = arith.mulf %v, %f2 : f32
    memref.store %w, %x[%i] : memref<10000xf32>
  }
  return
}
"""


def random(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(3).uniform(-2, 2, shape).astype(np.float32)


def messages(module: pipeline.Module) -> list[str]:
    return [diagnostic.message for diagnostic in module.diagnostics]


def test_tiles_are_blocks() -> None:
    module = pipeline.compile(TILES, chip="sm_80")
    assert messages(module) == []
    assert "@main_0_tiles: elementwise 16x16 f32, tiles 4x4; 16 blocks of 64 threads" in (
        module.schedule or ""
    )
    x = random(64, 64)
    np.testing.assert_array_equal(module.run(x, check="races"), np.abs(x))


@pytest.mark.parametrize("rows", [0, 5, 16, 41])
def test_buffers(rows: int) -> None:
    module = pipeline.compile(BUFFERS, chip="sm_80")
    assert messages(module) == []
    x, y = random(rows, 64), np.ones((rows, 64), np.float32)
    expected = y + x + x
    module.run(x, y, 2, check="races")
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("rows", [1, 16, 35])
def test_products(rows: int) -> None:
    module = pipeline.compile(MATMUL, chip="sm_80")
    x, y = random(rows, 48), random(48, 40)
    np.testing.assert_allclose(module.run(x, y, check="races"), x @ y, rtol=1e-5, atol=1e-5)


def test_points_are_threads() -> None:
    module = pipeline.compile(POINTS, chip="sm_80")
    assert "@main_0_points: points 10000; 40 blocks of 256 threads" in (module.schedule or "")
    x = random(10000)
    expected = 2 * x
    module.run(x, check="races")
    np.testing.assert_array_equal(x, expected)


def test_schedule_again() -> None:
    """What is chosen can be given, and gives the same."""
    module = pipeline.compile(TILES, chip="sm_80")
    again = pipeline.compile(TILES, chip="sm_80", schedule=module.schedule)
    assert again.ptx == module.ptx


def test_calls() -> None:
    module = pipeline.compile(CALLS, chip="sm_80")
    (remark,) = (item for item in module.remarks if item.name == "SequentialLoop")
    assert remark.message == "no kernel is made of this loop: 'func.call' op calls a function"
    x = random(4, 8)
    np.testing.assert_allclose(module.run(x, check="races", entry="main"), np.exp(x), rtol=1e-6)


def test_reduced_results() -> None:
    module = pipeline.compile(SUM, chip="sm_80")
    x, y = np.arange(9, dtype=np.float32), np.zeros(9, np.float32)
    assert module.run(x, y, check="races") == 36
    np.testing.assert_array_equal(y, [36] * 9)


def test_loops_beside_kernels() -> None:
    """No schedule is chosen for a module that has kernels; the host does the iterations."""
    module = pipeline.compile(
        """\
func.func @main(%x: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  %i3 = arith.constant 3 : i32
  scf.forall (%i) in (4) {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      memref.store %i3, %x[%i] : memref<4xi32>
      gpu.terminator
    }
  }
  return
}
"""
    )
    x = np.zeros(4, np.int32)
    module.run(x, check="races")
    np.testing.assert_array_equal(x, [3] * 4)


def run(program: LoopProgram) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    module = pipeline.compile(program.text, chip="sm_80")
    assert module.kernels
    if program.is_on_tensors:
        result: np.ndarray[tuple[int, ...], np.dtype[np.int32]] = module.run(
            program.argument, entry="main", check="races"
        )
        return result
    result = np.full_like(program.argument, 99)
    module.run(program.argument, result, entry="main", check="races")
    return result


@pytest.mark.parametrize("seed", range(24))
def test_random(seed: int) -> None:
    program = make_program(seed)
    before = program.argument.copy()
    np.testing.assert_array_equal(run(program), program.expected)
    np.testing.assert_array_equal(program.argument, before)
