"""Functions that bodies of structured operations call: nested, of several blocks, and refused."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array

TWICE = """
func.func private @twice(%i: index) -> f32 {
  %0 = arith.addi %i, %i : index
  %1 = arith.index_cast %0 : index to i32
  %2 = arith.sitofp %1 : i32 to f32
  return %2 : f32
}
"""

# Called by the body, calls @halve, and has blocks that branch and go round.
BLOCKS = """
func.func private @halve(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %0 = arith.mulf %x, %half : f32
  return %0 : f32
}
func.func private @shrink(%x: f32, %limit: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %is_less = arith.cmpf olt, %x, %zero : f32
  cf.cond_br %is_less, ^negative, ^loop(%x : f32)
^negative:
  return %zero : f32
^loop(%y: f32):
  %is_large = arith.cmpf ogt, %y, %limit : f32
  cf.cond_br %is_large, ^again, ^end
^again:
  %next = func.call @halve(%y) : (f32) -> f32
  cf.br ^loop(%next : f32)
^end:
  return %y : f32
}
"""

SHRUNK = """
func.func @main(%x: TYPE, %limit: f32) -> TYPE {
  %c0 = arith.constant 0 : index
  SIZE
  %e = tensor.empty(DIMS) : TYPE
  %r = linalg.OPERATION
  return %r : TYPE
}
"""
MAP = """map ins(%x : TYPE) outs(%e : TYPE) (%a: f32, %o: f32) {
    %v = func.call @shrink(%a, %limit) : (f32, f32) -> f32
    linalg.yield %v : f32
  }"""
GENERIC = """generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : TYPE) outs(%e : TYPE) {
  ^bb0(%a: f32, %o: f32):
    %v = func.call @shrink(%a, %limit) : (f32, f32) -> f32
    %w = func.call @shrink(%v, %limit) : (f32, f32) -> f32
    linalg.yield %w : f32
  } -> TYPE"""


def shrink(x: Array, limit: float) -> Array:
    result = np.maximum(x, 0)
    while (result > limit).any():
        result = np.where(result > limit, result / 2, result)
    return result.astype(np.float32)


@pytest.mark.parametrize("operation", [MAP, GENERIC], ids=["map", "generic"])
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_blocks(operation: str, is_dynamic: bool) -> None:
    text = SHRUNK.replace("OPERATION", operation)
    size = "%n = tensor.dim %x, %c0 : TYPE" if is_dynamic else ""
    text = text.replace("SIZE", size).replace("DIMS", "%n" if is_dynamic else "")
    text = text.replace("TYPE", "tensor<?x9xf32>" if is_dynamic else "tensor<7x9xf32>")
    module = pipeline.compile(BLOCKS + text, until="llvm")
    x = np.random.default_rng(2).uniform(-20, 60, (7, 9)).astype(np.float32)
    result = module.run(x, np.float32(3), check="races", workers=1)
    np.testing.assert_array_equal(result, shrink(x, 3))


def test_generate() -> None:
    text = """
func.func @main(%n: index) -> tensor<?xf32> {
  %r = tensor.generate %n {
  ^bb0(%i: index):
    %v = func.call @twice(%i) : (index) -> f32
    tensor.yield %v : f32
  } : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
    module = pipeline.compile(TWICE + text, until="llvm")
    result = module.run(np.int64(70), check="races", workers=1)
    np.testing.assert_array_equal(result, 2 * np.arange(70, dtype=np.float32))


def test_pad_and_buffers() -> None:
    """A function that is called on buffers, and by the host as well, stays there."""
    text = """
func.func @main(%x: memref<8xf32>, %y: memref<10xf32>) {
  linalg.map ins(%x : memref<8xf32>) outs(%x : memref<8xf32>) (%a: f32, %o: f32) {
    %c3 = arith.constant 3 : index
    %v = func.call @twice(%c3) : (index) -> f32
    %w = arith.addf %a, %v : f32
    linalg.yield %w : f32
  }
  %t = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %p = tensor.pad %t low[1] high[1] {
  ^bb0(%i: index):
    %v = func.call @twice(%i) : (index) -> f32
    tensor.yield %v : f32
  } : tensor<8xf32> to tensor<10xf32>
  bufferization.materialize_in_destination %p in restrict writable %y
    : (tensor<10xf32>, memref<10xf32>) -> ()
  return
}
"""
    module = pipeline.compile(TWICE + text, until="llvm")
    x = np.arange(1, 9, dtype=np.float32)
    y = np.zeros(10, np.float32)
    before = x.copy()
    module.run(x, y, check="races", workers=1)
    np.testing.assert_array_equal(x, before + 6)
    np.testing.assert_array_equal(y, [0, *(before + 6), 18])


CALL = """
func.func @main() -> tensor<64xf32> {
  %r = tensor.generate {
  ^bb0(%i: index):
    %v = func.call @outer(%i) : (index) -> f32
    tensor.yield %v : f32
  } : tensor<64xf32>
  return %r : tensor<64xf32>
}
"""


@pytest.mark.parametrize(
    ("functions", "line", "message"),
    [
        (
            "func.func private @outer(index) -> f32",
            5,
            "'func.call' op in the body of 'tensor.generate' calls '@outer', which has no body in "
            "this module to put there; define it, or write what it computes",
        ),
        (
            """\
            func.func private @inner(%i: index) -> f32 {
              %0 = func.call @outer(%i) : (index) -> f32
              return %0 : f32
            }
            func.func private @outer(%i: index) -> f32 {
              %0 = func.call @inner(%i) : (index) -> f32
              return %0 : f32
            }""",
            2,
            "'func.call' op in the body of 'tensor.generate' calls '@outer', which calls itself, "
            "and has no end to put there; write it as a loop",
        ),
        (
            """\
            func.func private @outer(%i: index) -> f32 {
              %f = func.constant @other : (index) -> f32
              %0 = func.call_indirect %f(%i) : (index) -> f32
              return %0 : f32
            }
            func.func private @other(%i: index) -> f32 {
              %0 = arith.constant 0.0 : f32
              return %0 : f32
            }""",
            3,
            "'func.call_indirect' op in the body of 'tensor.generate' calls a function that is not "
            "named, and a kernel has no such calls; call it by func.call",
        ),
    ],
    ids=["external", "recursive", "indirect"],
)
def test_refused(functions: str, line: int, message: str) -> None:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(textwrap.dedent(functions) + CALL, until="llvm")
    errors = [item for item in caught.value.diagnostics if item.severity == "error"]
    assert [item.message for item in errors] == [message]
    assert errors[0].location is not None
    assert errors[0].location.line == line
