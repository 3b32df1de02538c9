"""Programs that take the bits of numbers of one type for numbers of another."""

from __future__ import annotations

import numpy as np

from .program import Program, coarse, floats

_ONLY = """
func.func @main(%x: tensor<7x33xf32>) -> tensor<7x33xi32> {
  %r = tensor.bitcast %x : tensor<7x33xf32> to tensor<7x33xi32>
  return %r : tensor<7x33xi32>
}
"""

# Between operations, of which two become one kernel; sizes are known on one side only.
_WITHOUT_SIGN = """
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<?x33xf16>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %mask = arith.constant 32767 : i16
  %n = tensor.dim %x, %c0 : tensor<?x33xf16>
  %e = tensor.empty(%n) : tensor<?x33xf16>
  %d = linalg.add ins(%x, %x : tensor<?x33xf16>, tensor<?x33xf16>)
      outs(%e : tensor<?x33xf16>) -> tensor<?x33xf16>
  %bits = tensor.bitcast %d : tensor<?x33xf16> to tensor<?x33xi16>
  %f = tensor.empty(%n) : tensor<?x33xi16>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%bits : tensor<?x33xi16>) outs(%f : tensor<?x33xi16>) {
  ^bb0(%p: i16, %o: i16):
    %q = arith.andi %p, %mask : i16
    linalg.yield %q : i16
  } -> tensor<?x33xi16>
  %r = tensor.bitcast %y : tensor<?x33xi16> to tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}
"""

# Of the operand, which one more in the exponent doubles, and of the result of a product.
_OF_PRODUCT = """
func.func @main(%a: tensor<20x24xf32>, %b: tensor<24x30xf32>) -> tensor<20x30xi32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 8388608 : i32
  %i = tensor.bitcast %a : tensor<20x24xf32> to tensor<20x24xi32>
  %g = tensor.empty() : tensor<20x24xi32>
  %s = linalg.fill ins(%one : i32) outs(%g : tensor<20x24xi32>) -> tensor<20x24xi32>
  %t = linalg.add ins(%i, %s : tensor<20x24xi32>, tensor<20x24xi32>)
      outs(%g : tensor<20x24xi32>) -> tensor<20x24xi32>
  %x = tensor.bitcast %t : tensor<20x24xi32> to tensor<20x24xf32>
  %e = tensor.empty() : tensor<20x30xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x30xf32>) -> tensor<20x30xf32>
  %p = linalg.matmul ins(%x, %b : tensor<20x24xf32>, tensor<24x30xf32>)
      outs(%f : tensor<20x30xf32>) -> tensor<20x30xf32>
  %r = tensor.bitcast %p : tensor<20x30xf32> to tensor<20x30xi32>
  return %r : tensor<20x30xi32>
}
"""


PROGRAMS = (
    Program("bits_only", _ONLY, ((floats(7, 33),),), lambda x: x.view("i4")),
    Program(
        "bits_without_sign",
        _WITHOUT_SIGN,
        tuple((floats(n, 33, kind="f16"),) for n in (70, 1, 0)),
        lambda x: np.abs(x + x),
    ),
    Program(
        "bits_of_product",
        _OF_PRODUCT,
        ((coarse(20, 24), coarse(24, 30)),),
        lambda a, b: (2 * a @ b).view("i4"),
    ),
)
