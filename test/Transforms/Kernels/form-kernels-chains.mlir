// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=32768})' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=32768})' --mlir-print-local-scope | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels)' --mlir-print-local-scope | FileCheck %s --check-prefix=APART
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=4096})' --mlir-print-local-scope | FileCheck %s --check-prefix=APART

// A contraction of what is made of the result of another: one kernel, if there is memory for it. A
// second run changes nothing.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Nothing but an element-wise operation between; another one behind.
// CHECK-LABEL: func.func private @layers_0_contraction(
// CHECK-SAME:    %arg0: tensor<?x48xf32>, %arg1: tensor<48x80xf32>, %arg2: index, %arg3: tensor<80x64xf32>, %arg4: tensor<?x64xf32>) -> tensor<?x64xf32> {
// CHECK:         %[[FIRST:.+]] = linalg.matmul ins(%arg0, %arg1 :
// CHECK:         %[[BETWEEN:.+]] = linalg.tanh ins(%[[FIRST]] :
// CHECK:         %[[SECOND:.+]] = linalg.matmul ins(%[[BETWEEN]], %arg3 :
// CHECK:         %[[ALL:.+]] = linalg.tanh ins(%[[SECOND]] : tensor<?x64xf32>) outs(%arg4 :
// CHECK:         return %[[ALL]]
// CHECK-LABEL: func.func @layers(
// CHECK:         call @layers_0_contraction(
// CHECK-NEXT:    return
// APART-LABEL: func.func @layers(
// APART:         call @layers_0_contraction(
// APART:         call @layers_1_contraction(
func.func @layers(%x: tensor<?x48xf32>, %v: tensor<48x80xf32>, %w: tensor<80x64xf32>) -> tensor<?x64xf32> {
  %cst = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x48xf32>
  %e = tensor.empty(%m) : tensor<?x80xf32>
  %f = tensor.empty(%m) : tensor<?x64xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<?x80xf32>) -> tensor<?x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<?x48xf32>, tensor<48x80xf32>) outs(%z : tensor<?x80xf32>) -> tensor<?x80xf32>
  %1 = linalg.tanh ins(%0 : tensor<?x80xf32>) outs(%e : tensor<?x80xf32>) -> tensor<?x80xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<?x80xf32>, tensor<80x64xf32>) outs(%y : tensor<?x64xf32>) -> tensor<?x64xf32>
  %3 = linalg.tanh ins(%2 : tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %3 : tensor<?x64xf32>
}

// Sums along the rows between. The second one takes what is chained as its left operand; what the
// first one reads has a kernel of its own.
// CHECK-LABEL: func.func private @rows_1_contraction(
// CHECK:         %[[FIRST:.+]] = linalg.matmul
// CHECK:         %[[SUMS:.+]] = linalg.reduce {{.+}} ins(%[[FIRST]] :
// CHECK:         %[[BETWEEN:.+]] = linalg.generic {{.+}} ins(%[[FIRST]], %[[SUMS]] :
// CHECK:         linalg.matmul ins(%[[BETWEEN]],
// CHECK-LABEL: func.func @rows(
// CHECK:         call @rows_0_elementwise(
// CHECK:         call @rows_1_contraction(
// CHECK-NEXT:    return
// APART-LABEL: func.func @rows(
// APART:         call @rows_0_elementwise(
// APART:         call @rows_1_contraction(
// APART:         call @rows_2_reduction(
// APART:         call @rows_3_contraction(
func.func @rows(%x: tensor<50x48xf32>, %v: tensor<48x80xf32>, %w: tensor<80x64xf32>) -> tensor<50x64xf32> {
  %cst = arith.constant 0.0 : f32
  %d = tensor.empty() : tensor<50x48xf32>
  %e = tensor.empty() : tensor<50x80xf32>
  %f = tensor.empty() : tensor<50x64xf32>
  %g = tensor.empty() : tensor<50xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<50x80xf32>) -> tensor<50x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<50x64xf32>) -> tensor<50x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<50xf32>) -> tensor<50xf32>
  %h = linalg.exp ins(%x : tensor<50x48xf32>) outs(%d : tensor<50x48xf32>) -> tensor<50x48xf32>
  %0 = linalg.matmul ins(%h, %v : tensor<50x48xf32>, tensor<48x80xf32>) outs(%z : tensor<50x80xf32>) -> tensor<50x80xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<50x80xf32>) outs(%t : tensor<50xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<50x80xf32>, tensor<50xf32>) outs(%e : tensor<50x80xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %4 = arith.divf %p, %q : f32
    linalg.yield %4 : f32
  } -> tensor<50x80xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<50x80xf32>, tensor<80x64xf32>) outs(%y : tensor<50x64xf32>) -> tensor<50x64xf32>
  return %3 : tensor<50x64xf32>
}

// What is between is for others, too.
// CHECK-LABEL: func.func @needed(
// CHECK:         call @needed_0_contraction(
// CHECK:         call @needed_1_contraction(
// APART-LABEL: func.func @needed(
func.func @needed(%x: tensor<50x48xf32>, %v: tensor<48x80xf32>, %w: tensor<80x64xf32>, %c: tensor<50x80xf32>) -> (tensor<50x64xf32>, tensor<50x80xf32>) {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x80xf32>
  %f = tensor.empty() : tensor<50x64xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<50x80xf32>) -> tensor<50x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<50x64xf32>) -> tensor<50x64xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<50x48xf32>, tensor<48x80xf32>) outs(%z : tensor<50x80xf32>) -> tensor<50x80xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<50x80xf32>, tensor<80x64xf32>) outs(%y : tensor<50x64xf32>) -> tensor<50x64xf32>
  return %1, %0 : tensor<50x64xf32>, tensor<50x80xf32>
}

// The first adds to what was there.
// CHECK-LABEL: func.func @updated(
// CHECK:         call @updated_0_contraction(
// CHECK:         call @updated_1_contraction(
// APART-LABEL: func.func @updated(
func.func @updated(%x: tensor<50x48xf32>, %v: tensor<48x80xf32>, %w: tensor<80x64xf32>, %c: tensor<50x80xf32>) -> tensor<50x64xf32> {
  %cst = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<50x64xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<50x64xf32>) -> tensor<50x64xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<50x48xf32>, tensor<48x80xf32>) outs(%c : tensor<50x80xf32>) -> tensor<50x80xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<50x80xf32>, tensor<80x64xf32>) outs(%y : tensor<50x64xf32>) -> tensor<50x64xf32>
  return %1 : tensor<50x64xf32>
}

// The result is contiguous along the rows of what is between.
// CHECK-LABEL: func.func @transposed(
// CHECK:         call @transposed_0_contraction(
// CHECK:         call @transposed_1_contraction(
// APART-LABEL: func.func @transposed(
func.func @transposed(%x: tensor<50x48xf32>, %v: tensor<48x80xf32>, %w: tensor<64x80xf32>) -> tensor<64x50xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x80xf32>
  %f = tensor.empty() : tensor<64x50xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<50x80xf32>) -> tensor<50x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<64x50xf32>) -> tensor<64x50xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<50x48xf32>, tensor<48x80xf32>) outs(%z : tensor<50x80xf32>) -> tensor<50x80xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%w, %0 : tensor<64x80xf32>, tensor<50x80xf32>) outs(%y : tensor<64x50xf32>) -> tensor<64x50xf32>
  return %1 : tensor<64x50xf32>
}

// The second sums up along the rows of the first: a block would need all of them.
// CHECK-LABEL: func.func @across(
// CHECK:         call @across_0_contraction(
// CHECK:         call @across_1_contraction(
// APART-LABEL: func.func @across(
func.func @across(%x: tensor<50x48xf32>, %v: tensor<48x80xf32>, %w: tensor<64x50xf32>) -> tensor<64x80xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x80xf32>
  %f = tensor.empty() : tensor<64x80xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<50x80xf32>) -> tensor<50x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<64x80xf32>) -> tensor<64x80xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<50x48xf32>, tensor<48x80xf32>) outs(%z : tensor<50x80xf32>) -> tensor<50x80xf32>
  %1 = linalg.matmul ins(%w, %0 : tensor<64x50xf32>, tensor<50x80xf32>) outs(%y : tensor<64x80xf32>) -> tensor<64x80xf32>
  return %1 : tensor<64x80xf32>
}
