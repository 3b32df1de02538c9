// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=2 split=4,128}))' --mlir-print-local-scope -o %t.check
// RUN: FileCheck %s < %t.check
// RUN: mlir-opt %t.check --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=2 split=4,128}))' --mlir-print-local-scope | diff %t.check -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=2 split=0}))' --mlir-print-local-scope | FileCheck %s --check-prefix=WHOLE

// Two loops over blocks: partial sums from zero, each with what it is computed from; then
// their sum, which goes on from what was there, and the rest of the kernel.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#line = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func private @rows(
// CHECK:         %[[PARTS:.+]] = tensor.empty(%{{.+}}) : tensor<8x?xf32>
// CHECK:         %[[SUMS:.+]] = scf.forall (%[[I:.+]], %[[J:.+]]) = (0, 0) to (%{{.+}}, 1000) step (4, 128) shared_outs(%[[O:.+]] = %[[PARTS]])
// CHECK-DAG:       %[[M:.+]] = affine.min affine_map<(d0)[s0] -> (4, -d0 + s0)>(%[[I]])
// CHECK-DAG:       %[[N:.+]] = affine.min affine_map<(d0) -> (128, -d0 + 1000)>(%[[J]])
// CHECK-DAG:       %[[PART:.+]] = affine.apply affine_map<(d0) -> (d0 floordiv 128)>(%[[J]])
// CHECK-DAG:       tensor.extract_slice %arg0[%[[I]], %[[J]]] [%[[M]], %[[N]]] [1, 1]
// CHECK:           %[[E:.+]] = linalg.exp
// CHECK:           %[[S:.+]] = tensor.extract_slice %[[O]][%[[PART]], %[[I]]] [1, %[[M]]] [1, 1] : tensor<8x?xf32> to tensor<?xf32>
// CHECK:           %[[Z:.+]] = linalg.fill ins(%{{.+}} : f32) outs(%[[S]] :
// CHECK:           %[[R:.+]] = linalg.generic {{.+}} ins(%[[E]] : {{.+}}) outs(%[[Z]] :
// CHECK:             arith.mulf
// CHECK:             arith.addf
// CHECK:           tensor.parallel_insert_slice %[[R]] into %[[O]][%[[PART]], %[[I]]] [1, %[[M]]] [1, 1]
// CHECK:         } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
// CHECK:         scf.forall (%[[K:.+]]) = (0) to (%{{.+}}) step (2)
// CHECK:           tensor.extract_slice %[[SUMS]][0, %[[K]]] [8, %{{.+}}] [1, 1]
// CHECK:           %[[T:.+]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
// CHECK-NOT:         arith.mulf
// CHECK:             arith.addf
// CHECK:           linalg.sqrt ins(%[[T]] :
// CHECK:         } {mapping = [#gpu.block<linear_dim_0>]}
// WHOLE-LABEL: func.func private @rows(
// WHOLE:         scf.forall
// WHOLE-NOT:     scf.forall (
// WHOLE:         return
func.func private @rows(%x: tensor<?x1000xf32>, %init: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1000xf32>
  %empty = tensor.empty(%m) : tensor<?x1000xf32>
  %0 = linalg.exp ins(%x : tensor<?x1000xf32>) outs(%empty : tensor<?x1000xf32>) -> tensor<?x1000xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<?x1000xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %2 = linalg.sqrt ins(%1 : tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// The least number is what a maximum starts from, and the accumulator stays its second operand.
// CHECK-LABEL: func.func private @maximum(
// CHECK:         %[[LEAST:.+]] = arith.constant -128 : i8
// CHECK:         scf.forall
// CHECK:           linalg.fill ins(%[[LEAST]] : i8)
// CHECK:         scf.forall
// CHECK:           linalg.generic
// CHECK-NEXT:      ^bb0(%[[IN:.+]]: i8, %[[ACC:.+]]: i8):
// CHECK-NEXT:        arith.maxsi %[[IN]], %[[ACC]] : i8
func.func private @maximum(%x: tensor<64x1000xi8>, %o: tensor<64xi8>) -> tensor<64xi8> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1000xi8>) outs(%o : tensor<64xi8>) {
  ^bb0(%a: i8, %acc: i8):
    %s = arith.maxsi %a, %acc : i8
    linalg.yield %s : i8
  } -> tensor<64xi8>
  return %0 : tensor<64xi8>
}

// The number of an iteration is that of the whole sum.
// CHECK-LABEL: func.func private @index(
// CHECK:         scf.forall (%{{.+}}, %[[J:.+]]) = (0, 0)
// CHECK:           linalg.generic
// CHECK:             %[[I:.+]] = linalg.index 1 : index
// CHECK:             affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%[[J]])[%[[I]]]
// CHECK:         scf.forall
// CHECK:           linalg.generic
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        arith.addi
func.func private @index(%x: tensor<64x1000xindex>, %o: tensor<64xindex>) -> tensor<64xindex> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1000xindex>) outs(%o : tensor<64xindex>) {
  ^bb0(%a: index, %acc: index):
    %j = linalg.index 1 : index
    %p = arith.muli %a, %j : index
    %s = arith.addi %acc, %p : index
    linalg.yield %s : index
  } -> tensor<64xindex>
  return %0 : tensor<64xindex>
}

// Nothing to add up: nothing to split.
// CHECK-LABEL: func.func private @empty(
// CHECK:         scf.forall (%{{.+}}) in (1)
// CHECK-NOT:     scf.forall (
func.func private @empty(%x: tensor<64x0xf32>, %o: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x0xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
