// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope | diff %t.once -

// What goes into its users, and what would be computed too often there.

// Into the only user, a reduction.
// CHECK-LABEL: func.func @into_reduction(
// CHECK:         linalg.generic {{.+}} ins(%arg0 :
// CHECK:           math.exp
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @into_reduction(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%a : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x8xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
  return %1 : tensor<4xf32>
}

// Not into one of two: it would be computed twice.
// CHECK-LABEL: func.func @two_reductions(
// CHECK:         %[[EXP:.+]] = linalg.generic {{.+}} ins(%arg0 :
// CHECK:           math.exp
// CHECK:         linalg.generic {{.+}} ins(%[[EXP]] :
// CHECK:         linalg.generic {{.+}} ins(%[[EXP]] :
func.func @two_reductions(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg.exp ins(%a : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x8xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
  %2 = linalg.reduce { arith.mulf } ins(%0 : tensor<4x8xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// A contraction reads what the transposition read.
// CHECK-LABEL: func.func @transposed_operand(
// CHECK-NOT:     -> (d1, d0)
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], {{.+}} ins(%arg0, %arg1 :
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @transposed_operand(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %t: tensor<16x4xf32>, %c: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.transpose ins(%b : tensor<4x16xf32>) outs(%t : tensor<16x4xf32>) permutation = [1, 0]
  %1 = linalg.matmul ins(%a, %0 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// But computes nothing again for each of its sums.
// CHECK-LABEL: func.func @exp_operand(
// CHECK:         %[[EXP:.+]] = linalg.generic {{.+}} ins(%arg1 :
// CHECK:           math.exp
// CHECK:         linalg.generic {{.+}} ins(%arg0, %[[EXP]] :
// CHECK-NOT:       math.exp
// CHECK:         return
func.func @exp_operand(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %t: tensor<16x4xf32>, %c: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.exp ins(%b : tensor<16x4xf32>) outs(%t : tensor<16x4xf32>) -> tensor<16x4xf32>
  %1 = linalg.matmul ins(%a, %0 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// Nothing goes into a window.
// CHECK-LABEL: func.func @copy_before_window(
// CHECK:         %[[COPY:.+]] = linalg.generic {{.+}} ins(%arg0 :
// CHECK:         linalg.generic {{.+}} ins(%[[COPY]], %arg2 :
func.func @copy_before_window(%a: tensor<10xf32>, %t: tensor<2x10xf32>, %k: tensor<3xf32>, %o: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = linalg.broadcast ins(%a : tensor<10xf32>) outs(%t : tensor<2x10xf32>) dimensions = [0]
  %1 = linalg.generic {indexing_maps = [affine_map<(b, i, k) -> (b, i + k)>, affine_map<(b, i, k) -> (k)>, affine_map<(b, i, k) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0, %k : tensor<2x10xf32>, tensor<3xf32>) outs(%o : tensor<2x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %2 = arith.mulf %x, %y : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// What is also returned is made along with what goes on from it, once.
// CHECK-LABEL: func.func @returned_between(
// CHECK:         %[[ALL:.+]]:2 = linalg.generic {{.+}} ins(%arg0, %arg1 :
// CHECK:           %[[SUM:.+]] = arith.addf
// CHECK-NEXT:      %[[EXP:.+]] = math.exp %[[SUM]]
// CHECK-NEXT:      %[[MORE:.+]] = arith.mulf %[[EXP]], %[[SUM]]
// CHECK-NEXT:      linalg.yield %[[SUM]], %[[MORE]]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[ALL]]#1, %[[ALL]]#0
func.func @returned_between(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>, %o: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = linalg.add ins(%a, %b : tensor<?x8xf32>, tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.exp ins(%0 : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = linalg.mul ins(%1, %0 : tensor<?x8xf32>, tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %2, %0 : tensor<?x8xf32>, tensor<?x8xf32>
}

// Not if it is read in another order, nor behind a sum, whose results are in registers, nor before one.
// CHECK-LABEL: func.func @returned_transposed(
// CHECK-COUNT-2: linalg.generic
// CHECK:         return
func.func @returned_transposed(%a: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = linalg.exp ins(%a : tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %2 = arith.addf %x, %y : f32
    linalg.yield %2 : f32
  } -> tensor<8x8xf32>
  return %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}
// CHECK-LABEL: func.func @returned_behind_sum(
// CHECK-COUNT-3: linalg.generic
// CHECK:         return
func.func @returned_behind_sum(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %c: tensor<8x4xf32>, %d: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = linalg.exp ins(%0 : tensor<8x4xf32>) outs(%d : tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = linalg.negf ins(%1 : tensor<8x4xf32>) outs(%d : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}
// CHECK-LABEL: func.func @returned_before_sum(
// CHECK-COUNT-3: linalg.generic
// CHECK:         return
func.func @returned_before_sum(%a: tensor<8x16xf32>, %o: tensor<8x16xf32>, %s: tensor<8xf32>) -> (tensor<8x16xf32>, tensor<8xf32>, tensor<8x16xf32>) {
  %0 = linalg.exp ins(%a : tensor<8x16xf32>) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = linalg.negf ins(%0 : tensor<8x16xf32>) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = linalg.reduce { arith.addf } ins(%0 : tensor<8x16xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  return %0, %2, %1 : tensor<8x16xf32>, tensor<8xf32>, tensor<8x16xf32>
}

// What reads one element stays an operand, which tells what it depends on.
// CHECK-LABEL: func.func @scaled(
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<8xf32>, tensor<f32>)
// CHECK-NOT:       tensor.extract
// CHECK:         return
func.func @scaled(%a: tensor<8xf32>, %s: tensor<f32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %s : tensor<8xf32>, tensor<f32>) outs(%o : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Not across a write to the memory that it reads.
// CHECK-LABEL: func.func @written_between(
// CHECK:         math.exp
// CHECK:         bufferization.materialize_in_destination
// CHECK:         arith.negf
// CHECK:         return
func.func @written_between(%m: memref<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %t = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %z in restrict writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
  %c = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %p, %c : tensor<8xf32>, tensor<8xf32>
}
