// RUN: %pipeline compile %s --schedule %S/Inputs/streaming-k.mlir --memory-options from-spaces=1:workgroup,2:private | FileCheck %s
// CHECK:     .entry main_kernel(
// CHECK-NOT: .local

// The product of the thread on streaming K, in the sizes of a test.

func.func @main(%a: tensor<128x512xi32>, %b: tensor<512x64xi32>) -> tensor<128x64xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<128x64xi32>
  %filled = linalg.fill ins(%zero : i32) outs(%empty : tensor<128x64xi32>)
      -> tensor<128x64xi32>
  %c = linalg.matmul ins(%a, %b : tensor<128x512xi32>, tensor<512x64xi32>)
      outs(%filled : tensor<128x64xi32>) -> tensor<128x64xi32>
  return %c : tensor<128x64xi32>
}
