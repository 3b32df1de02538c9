// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels)' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// A product of matrices would make them again for each column: a kernel of its own
// does.
// CHECK-LABEL: func.func private @product_1_contraction(
// CHECK-NOT:     linalg.index
// CHECK:         return
// CHECK-LABEL: func.func private @product_0_fill(
// CHECK:         linalg.index
// CHECK-LABEL: func.func @product(
func.func @product(%b: tensor<4096x64xf32>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %e = tensor.empty() : tensor<128x4096xf32>
  %d = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<128x4096xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    %x = arith.sitofp %n : i32 to f32
    linalg.yield %x : f32
  } -> tensor<128x4096xf32>
  %r = linalg.matmul ins(%d, %b : tensor<128x4096xf32>, tensor<4096x64xf32>) outs(%c : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}
