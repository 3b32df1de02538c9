"""What the default schedules make for sm_80, counted in PTX: the bars that stand in for a GPU."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pytest

import pipeline

MATMUL = """
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
!m = tensor<1024x1024xf32>
func.func @main(%a: !m, %b: !m, %bias: tensor<1024xf32>) -> !m {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : !m
  %fill = linalg.fill ins(%zero : f32) outs(%empty : !m) -> !m
  %product = linalg.matmul ins(%a, %b : !m, !m) outs(%fill : !m) -> !m
  %result = linalg.generic {indexing_maps = [#id, #column, #id],
                            iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : !m, tensor<1024xf32>) outs(%empty : !m) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %sum = arith.addf %x, %y : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> !m
  return %result : !m
}
"""

SOFTMAX = """
!t = tensor<512x1000xf32>
func.func @main(%x: !t) -> !t {
  %empty = tensor.empty() : !t
  %y = linalg.softmax dimension(1) ins(%x : !t) outs(%empty : !t) -> !t
  return %y : !t
}
"""

TRANSPOSE = """
func.func @main(%x: tensor<512x1000xf32>) -> tensor<1000x512xf32> {
  %empty = tensor.empty() : tensor<1000x512xf32>
  %y = linalg.transpose ins(%x : tensor<512x1000xf32>) outs(%empty : tensor<1000x512xf32>)
      permutation = [1, 0]
  return %y : tensor<1000x512xf32>
}
"""

ADD = """
!v = tensor<1000000xf32>
func.func @main(%x: !v, %y: !v) -> !v {
  %empty = tensor.empty() : !v
  %z = linalg.add ins(%x, %y : !v, !v) outs(%empty : !v) -> !v
  return %z : !v
}
"""


def count(text: str) -> Mapping[str, int]:
    """Compile a program of one kernel, and count its instructions."""
    module = pipeline.compile(text, chip="sm_80")
    (kernel,) = module.kernels.values()
    assert kernel.resources.spill_store_bytes == kernel.resources.stack_bytes == 0
    patterns = {
        "barriers": r"\bbar\.sync",
        "loads": r"\bld\.global",
        "vector loads": r"\bld\.global\S*\.v[24]\.",
        "stores": r"\bst\.global",
        "vector stores": r"\bst\.global\S*\.v[24]\.",
        "copies": r"\bcp\.async\.c[ag]\.",
        "vector copies": r"\bcp\.async\.cg\.shared\.global [^;]*, 16;",
        "shared loads": r"\bld\.shared",
        "vector shared loads": r"\bld\.shared\.v4\.",
        "fma": r"\bfma\.rn\.f32",
    }
    return {name: len(re.findall(pattern, module.ptx)) for name, pattern in patterns.items()}


def test_matmul() -> None:
    """One kernel with bias and relu, enough FMAs for each load from shared memory, one barrier."""
    seen = count(MATMUL)
    assert seen["shared loads"] == seen["vector shared loads"]
    assert seen["fma"] >= 10.6 * seen["shared loads"]
    assert seen["barriers"] == 1
    assert seen["copies"] == seen["vector copies"] > 0
    assert (seen["loads"], seen["stores"]) == (seen["vector loads"], seen["vector stores"])


def test_softmax() -> None:
    """Rows go to registers once, and to the result once."""
    seen = count(SOFTMAX)
    assert seen["barriers"] <= 2
    assert (seen["loads"], seen["copies"]) == (seen["vector loads"], 0)
    assert seen["stores"] == seen["vector stores"] == seen["loads"] == 4


def test_transpose() -> None:
    seen = count(TRANSPOSE)
    assert seen["barriers"] == 1
    assert (seen["loads"], seen["copies"]) == (0, seen["vector copies"])
    assert seen["stores"] == seen["vector stores"] == 1


def test_add() -> None:
    seen = count(ADD)
    assert (seen["barriers"], seen["loads"], seen["vector loads"]) == (0, 2, 2)
    assert seen["stores"] == seen["vector stores"] == 1


@pytest.mark.parametrize("text", [SOFTMAX, TRANSPOSE])
def test_results(text: str) -> None:
    x = np.random.default_rng(3).uniform(-2, 2, (512, 1000)).astype(np.float32)
    raised = np.exp(x - x.max(1, keepdims=True))
    expected = x.T if text is TRANSPOSE else raised / raised.sum(1, keepdims=True)
    result = pipeline.compile(text).run(x, check="races")
    np.testing.assert_allclose(result, expected, atol=1e-6)
