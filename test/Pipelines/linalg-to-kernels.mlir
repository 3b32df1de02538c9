// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-linalg-to-kernels{assume-distinct-arguments=true chain-bytes=65536 chain-blocks=1})' -o %t
// RUN: FileCheck %s < %t
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg{assume-distinct-arguments=true},workgroup-widen-floats,canonicalize,cse,workgroup-form-kernels{chain-bytes=65536 chain-blocks=1})' | diff %t -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-linalg-to-kernels)' | FileCheck %s --check-prefix=APART

// Schedules begin with the pipeline, and give it their limits.

// Two layers of a network are one kernel if that has the memory for it.
// CHECK:     func.func private @layers_0_contraction(
// CHECK-NOT: func.func private
// CHECK:     func.func @layers(
// CHECK:     call @layers_0_contraction(
// CHECK-NOT: linalg.
// APART-DAG: func.func private @layers_0_contraction(
// APART-DAG: func.func private @layers_1_contraction(
func.func @layers(%x: tensor<64x32xf32>, %a: tensor<32x64xf32>, %b: tensor<64x32xf32>)
    -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = tensor.empty() : tensor<64x32xf32>
  %y = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  %0 = linalg.matmul ins(%x, %a : tensor<64x32xf32>, tensor<32x64xf32>)
                     outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.exp ins(%0 : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = linalg.matmul ins(%1, %b : tensor<64x64xf32>, tensor<64x32xf32>)
                     outs(%z : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
