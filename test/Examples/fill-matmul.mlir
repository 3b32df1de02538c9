// RUN: %pipeline check %s --schedule %S/Inputs/same-tiles.mlir | FileCheck %s --check-prefix=SAME
// RUN: not %pipeline check %s --schedule %S/Inputs/other-tiles.mlir | FileCheck %s --check-prefix=OTHER
// SAME:  AGREE
// OTHER: DIFFER

// The question of the thread "Is synchronization missed for RAW dependent ops during
// thread distribution?": the product adds to what the fill has written. Each is
// distributed to threads on its own.

func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x64xf32>)
      outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
