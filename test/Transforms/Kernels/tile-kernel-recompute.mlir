// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=4}))' --mlir-print-local-scope -o %t.kept
// RUN: FileCheck %s --check-prefix=KEPT < %t.kept
// RUN: mlir-opt %t.kept --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=4}))' --mlir-print-local-scope | diff %t.kept -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=4 recompute}))' --mlir-print-local-scope -o %t.again
// RUN: FileCheck %s --check-prefix=AGAIN < %t.again
// RUN: mlir-opt %t.again --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=4 recompute}))' --mlir-print-local-scope | diff %t.again -

// What a kernel computes for several others of its operations.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Stays in a tile, or is computed for each reader: the result is put where the caller wants it.
// KEPT-LABEL: func.func private @kept(
// KEPT:         scf.forall {{.+}} shared_outs(%[[O:.+]] = %arg2)
// KEPT:           %[[EXP:.+]] = linalg.generic
// KEPT:             math.exp
// KEPT:           linalg.generic {{.+}} ins(%[[EXP]] :
// KEPT-NOT:         math.exp
// KEPT:           linalg.generic {{.+}} ins(%[[EXP]], %{{.+}} :
// KEPT-NOT:         math.exp
// KEPT:         return
// AGAIN-LABEL: func.func private @kept(
// AGAIN:         scf.forall {{.+}} shared_outs(%[[O:.+]] = %arg2)
// AGAIN:           %[[SUM:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]}
// AGAIN:             math.exp
// AGAIN-NEXT:        arith.addf
// AGAIN:           %[[TILE:.+]] = tensor.extract_slice %[[O]]
// AGAIN:           linalg.generic {{.+}} ins(%{{.+}}, %[[SUM]] : {{.+}}) outs(%[[TILE]] :
// AGAIN:             math.exp
// AGAIN-NEXT:        arith.divf
func.func private @kept(%x: tensor<64x8xf32>, %s: tensor<64xf32>, %o: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %e = tensor.empty() : tensor<64x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x8xf32>) outs(%e : tensor<64x8xf32>) {
  ^bb0(%p: f32, %r: f32):
    %3 = math.exp %p : f32
    linalg.yield %3 : f32
  } -> tensor<64x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<64x8xf32>) outs(%s : tensor<64xf32>) {
  ^bb0(%p: f32, %r: f32):
    %3 = arith.addf %p, %r : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<64x8xf32>, tensor<64xf32>) outs(%o : tensor<64x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %3 = arith.divf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<64x8xf32>
  return %2 : tensor<64x8xf32>
}

// Rows of unknown size have no place in a block: this is always computed again.
// KEPT-LABEL: func.func private @unknown(
// KEPT:         scf.forall {{.+}} shared_outs(%[[O:.+]] = %arg3)
// KEPT:           linalg.generic
// KEPT:             math.exp
// KEPT-NEXT:        arith.addf
// KEPT:           %[[TILE:.+]] = tensor.extract_slice %[[O]]
// KEPT:           linalg.generic {{.+}} outs(%[[TILE]] :
// KEPT:             math.exp
// KEPT-NEXT:        arith.divf
func.func private @unknown(%x: tensor<64x?xf32>, %n: index, %s: tensor<64xf32>, %o: tensor<64x?xf32>) -> tensor<64x?xf32> {
  %e = tensor.empty(%n) : tensor<64x?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x?xf32>) outs(%e : tensor<64x?xf32>) {
  ^bb0(%p: f32, %r: f32):
    %3 = math.exp %p : f32
    linalg.yield %3 : f32
  } -> tensor<64x?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<64x?xf32>) outs(%s : tensor<64xf32>) {
  ^bb0(%p: f32, %r: f32):
    %3 = arith.addf %p, %r : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<64x?xf32>, tensor<64xf32>) outs(%o : tensor<64x?xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %3 = arith.divf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<64x?xf32>
  return %2 : tensor<64x?xf32>
}

// Nor is it lost where other results are put.
// AGAIN-LABEL: func.func private @two_results(
// AGAIN:         %[[R:.+]]:2 = scf.forall {{.+}} shared_outs(%[[O:.+]] = %arg2, %[[S:.+]] = %arg1)
// AGAIN:           tensor.extract_slice %[[S]]
// AGAIN:         return %[[R]]#1, %[[R]]#0
func.func private @two_results(%x: tensor<64x8xf32>, %s: tensor<64xf32>, %o: tensor<64x8xf32>) -> (tensor<64xf32>, tensor<64x8xf32>) {
  %cst = arith.constant 0.0 : f32
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%s : tensor<64xf32>) {
  ^bb0(%r: f32):
    linalg.yield %cst : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x8xf32>) outs(%z : tensor<64xf32>) {
  ^bb0(%p: f32, %r: f32):
    %3 = arith.addf %p, %r : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %1 : tensor<64x8xf32>, tensor<64xf32>) outs(%o : tensor<64x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %3 = arith.divf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<64x8xf32>
  return %1, %2 : tensor<64xf32>, tensor<64x8xf32>
}
