// RUN: mlir-opt %s --load-pass-plugin=%plugin --pass-pipeline='builtin.module(workgroup-normalize-linalg)' -split-input-file | FileCheck %s

// An element is looked up in its byte, and truncated where it is read.
// CHECK-LABEL: func.func @elements(
// CHECK-SAME:    %[[W:.+]]: tensor<5x5xi8>) -> tensor<5x9xi32>
// CHECK:         linalg.generic
// CHECK:         %[[BYTE:.+]] = tensor.extract %[[W]]
// CHECK:         arith.shrui %[[BYTE]]
// CHECK:         arith.trunci {{.+}} : i8 to i4
// CHECK:         arith.extsi {{.+}} : i4 to i32
func.func @elements(%w: tensor<5x9xi4>) -> tensor<5x9xi32> {
  %r = arith.extsi %w : tensor<5x9xi4> to tensor<5x9xi32>
  return %r : tensor<5x9xi32>
}

// -----

// What is passed inside of the module is one element a byte.
// CHECK-LABEL: func.func private @called(
// CHECK-SAME:    tensor<4xi4>
// CHECK-NOT:     tensor.extract
func.func private @called(%w: tensor<4xi4>) -> tensor<4xi32> {
  %r = arith.extsi %w : tensor<4xi4> to tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// A contraction reads bytes, not a transposed copy.
// CHECK-LABEL: func.func @contraction(
// CHECK-SAME:    %{{.+}}: tensor<64x32xf16>, %{{.+}}: tensor<64x16xi8>
// CHECK:         %[[BYTES:.+]] = linalg.generic {{.+}} outs({{.+}} : tensor<64x32xi8>)
// CHECK:         linalg.generic {{.+}} ins({{.+}}, %[[BYTES]] : tensor<64x32xf16>, tensor<64x32xi8>)
// CHECK:         arith.trunci {{.+}} : i8 to i4
func.func @contraction(%a: tensor<64x32xf16>, %w: tensor<64x32xi4>,
                       %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<32x64xi4>
  %t = linalg.transpose ins(%w : tensor<64x32xi4>) outs(%e : tensor<32x64xi4>)
      permutation = [1, 0]
  %r = linalg.matmul ins(%a, %t : tensor<64x32xf16>, tensor<32x64xi4>)
      outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
