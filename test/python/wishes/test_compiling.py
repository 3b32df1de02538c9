"""Wishes of users, 1 to 7 and 12 to 14: programs compile, to what they mean, or are refused.

The numbers are those of docs/wishes.md.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import pipeline
from pipeline.system.assembler import assemble
from pytorch.blocks import BLOCKS, make_input
from support.chips import CHIPS
from support.examples import EXAMPLES, POSTED
from support.mlir_opt import run_opt

SOFTMAX = (EXAMPLES / "softmax.mlir").read_text(encoding="utf-8")
REVERSE = EXAMPLES / "workgroup-alloca.mlir"

PRODUCT = """
!a = tensor<128x64xf16>
!b = tensor<64x128xf16>
!c = tensor<128x128xf32>
func.func @main(%a: !a, %b: !b) -> !c {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : !c
  %filled = linalg.fill ins(%zero : f32) outs(%empty : !c) -> !c
  %c = linalg.matmul ins(%a, %b : !a, !b) outs(%filled : !c) -> !c
  return %c : !c
}
"""


def test_wish_01_promoted_memory_compiles() -> None:
    """The thread's program, as it was posted but for two slips, in one call."""
    module = pipeline.compile(POSTED)
    assert "memrefCopy" not in module.ptx
    assert ".shared .align 16" in module.ptx
    kernel = module.kernels["main_kernel"]
    a, b = np.random.default_rng(1).random((2, 1024, 1024), np.float32)
    c = np.zeros((1024, 1024), np.float32)
    kernel.run(a, b, c, check="all", blocks=4)
    done = c != 0
    assert done.sum() == 4 * 16
    np.testing.assert_allclose(c[done], (a @ b)[done], rtol=1e-4)


def test_wish_02_one_pipeline_for_everything() -> None:
    """From linalg without a schedule to PTX by one name, in mlir-opt and in Python."""
    passes = "workgroup-linalg-to-nvvm{assume-distinct-arguments=true}"
    assert "gpu.binary" in run_opt(SOFTMAX, f"{passes},gpu-module-to-binary{{format=isa}}")
    module = pipeline.compile(SOFTMAX)
    x = np.random.default_rng(2).random((5, 77), np.float32)
    np.testing.assert_allclose(module.run(x, check="all").sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("chip", ["sm_90a", "sm_100", "sm_120"])
def test_wish_03_hopper_and_blackwell_from_linalg(chip: str) -> None:
    """Copies by TMA and products by tensor cores, from linalg, assembled for the chip."""
    module = pipeline.compile(PRODUCT, chip=chip)
    product = "wgmma.mma_async.sync.aligned" if chip == "sm_90a" else "mma.sync.aligned"
    assert product in module.ptx
    assemble(module.ptx, chip)
    tma = pipeline.compile(
        EXAMPLES / "k-tiled-matmul.mlir", chip=chip, memory_options="slots=3 engine=tma"
    )
    assert "cp.async.bulk.tensor.2d.shared::cluster" in tma.ptx
    assemble(tma.ptx, chip)


def test_wish_04_instructions_of_hopper_by_operations() -> None:
    """Operations that one chip has compile for it; on others the message names the chip."""
    text = """
gpu.module @m {
  gpu.func @k() kernel {
    nvvm.wgmma.fence.aligned
    gpu.return
  }
}"""
    assert "wgmma.fence.sync.aligned" in pipeline.compile(text, chip="sm_90a", verify=False).ptx
    with pytest.raises(pipeline.CompileError, match="sm_90a"):
        pipeline.compile(text, chip="sm_80", verify=False)


@pytest.mark.parametrize("chip", CHIPS)
def test_wish_05_all_chips_of_nvidia(chip: str) -> None:
    module = pipeline.compile(SOFTMAX, chip=chip)
    assert re.search(rf"^\.target {chip}\b", module.ptx, re.MULTILINE)
    assemble(module.ptx, chip)


CRASHES = {
    "softmax of integers": """
func.func @main(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %e = tensor.empty() : tensor<4x8xi32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<4x8xi32>) outs(%e : tensor<4x8xi32>)
      -> tensor<4x8xi32>
  return %y : tensor<4x8xi32>
}""",
    "a map that divides by zero": """
func.func @main(%x: memref<8xf32>, %i: index) {
  %j = affine.apply affine_map<(d) -> (d floordiv 0)>(%i)
  %v = memref.load %x[%j] : memref<8xf32>
  memref.store %v, %x[%i] : memref<8xf32>
  return
}""",
    "an unranked argument": """
gpu.module @m {
  gpu.func @k(%x: memref<*xf32>) kernel {
    gpu.return
  }
}""",
    "a launch in a launch": """
func.func @main() {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1)
             threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {
    gpu.launch blocks(%m, %n, %o) in (%p = %c1, %q = %c1, %r = %c1)
               threads(%s, %t, %u) in (%v = %c1, %w = %c1, %x = %c1) {
      gpu.terminator
    }
    gpu.terminator
  }
  return
}""",
}


@pytest.mark.parametrize("name", CRASHES)
def test_wish_06_no_crash_but_a_reason(name: str) -> None:
    """Each is refused at a line, with a text, by an error of the program, not of the compiler."""
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(CRASHES[name])
    (first, *_) = caught.value.diagnostics
    assert first.location.line > 0
    assert first.message


def test_wish_07_no_silent_wrong_code() -> None:
    """An alloca in workgroup memory, of which upstream makes a buffer of each thread."""
    module = pipeline.compile(REVERSE)
    assert ".local" not in module.ptx
    data = np.arange(1024, dtype=np.float32)
    expected = data.reshape(4, 256)[:, ::-1].reshape(-1).copy()
    module.run(data, check="all")
    np.testing.assert_array_equal(data, expected)


def test_wish_12_what_a_chip_has_is_checked() -> None:
    """An operation that the chip lacks is refused at its line, with the chips that have it."""
    text = """
gpu.module @m {
  gpu.func @k(%i: i32) kernel {
    %0 = nvvm.redux.sync add %i, %i : i32 -> i32
    gpu.return
  }
}"""
    with pytest.raises(pipeline.CompileError, match=r"nvvm\.redux\.sync.*sm_80") as caught:
        pipeline.compile(text, chip="sm_75")
    assert caught.value.diagnostics[0].location.line == 4
    assert "redux.sync" in pipeline.compile(text, chip="sm_80").ptx


def test_wish_13_tiles_for_tensor_cores_without_another_compiler() -> None:
    """A contraction of linalg becomes products of tensor cores, in PTX."""
    module = pipeline.compile(PRODUCT)
    assert "mma.sync.aligned.m16n8k16" in module.ptx
    a, b = np.random.default_rng(3).random((2, 128, 64)).astype(np.float16)
    c = module.run(a, np.ascontiguousarray(b.T), check="all")
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.T.astype(np.float32), rtol=1e-3)


def test_wish_14_programs_of_torch_mlir() -> None:
    """What torch-mlir exports compiles, with its weights, and runs: here one, there all of them."""
    (block,) = (one for one in BLOCKS if one.name == "mlp")
    module = pipeline.compile(block.path(with_weights=False), chip="sm_90a")
    x = make_input(block.input, np.random.default_rng(4))
    weights = [weight.astype(np.float64) for weight in block.read_weights()]
    result = module.run(x, check="races", workers=1)
    expected = block.compute(x.astype(np.float64), *weights)
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-4)
