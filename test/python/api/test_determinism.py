"""The same program becomes the same kernels each time, wherever memory is allocated."""

import pytest

import pipeline

# Its swizzles, remainders and products leave much to the order in which things are found out.
KEPT_START = """
func.func @main(%a: tensor<20x30xf32>, %b: tensor<30x40xf32>, %bias: tensor<40xf32>)
    -> (tensor<20x40xf32>, tensor<20x40xf32>) {
  %e = tensor.empty() : tensor<20x40xf32>
  %z = linalg.broadcast ins(%bias : tensor<40xf32>) outs(%e : tensor<20x40xf32>) dimensions = [0]
  %r = linalg.matmul ins(%a, %b : tensor<20x30xf32>, tensor<30x40xf32>)
      outs(%z : tensor<20x40xf32>) -> tensor<20x40xf32>
  return %r, %z : tensor<20x40xf32>, tensor<20x40xf32>
}
"""
TRANSPOSED = """
func.func @main(%a: tensor<?x70xf16>, %b: tensor<?x33xf16>, %c: tensor<70x33xf16>)
    -> tensor<70x33xf16> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                       affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x70xf16>, tensor<?x33xf16>) outs(%c : tensor<70x33xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %o, %p : f16
    linalg.yield %s : f16
  } -> tensor<70x33xf16>
  return %r : tensor<70x33xf16>
}
"""


@pytest.mark.parametrize("text", [KEPT_START, TRANSPOSED], ids=["kept_start", "transposed"])
def test_the_same_each_time(text: str) -> None:
    modules = [pipeline.compile(text) for _ in range(6)]
    assert len({module.ptx for module in modules}) == 1
    assert len({str(module.diagnostics) for module in modules}) == 1
