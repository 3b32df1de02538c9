// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 reduction=16}))' --mlir-print-local-scope -o %t.check
// RUN: FileCheck %s < %t.check
// RUN: mlir-opt %t.check --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 reduction=16}))' --mlir-print-local-scope | diff %t.check -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{reduction=0}))' --mlir-print-local-scope -o %t.one
// RUN: FileCheck %s --check-prefix=ONE < %t.one
// RUN: mlir-opt %t.one --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{reduction=0}))' --mlir-print-local-scope | diff %t.one -

// Tiles for blocks, with all of the kernel in them, and steps of sums. What is tiled already
// stays as it is.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// A ragged tile of rows; the sum in steps of 16, the last of them 8.
// CHECK-LABEL: func.func private @matmul(
// CHECK:         scf.forall (%[[I:.+]]) = (0) to (50) step (16) shared_outs(%[[O:.+]] = %arg3)
// CHECK:           %[[N:.+]] = affine.min affine_map<(d0) -> (-d0 + 50, 16)>(%[[I]])
// CHECK:           %[[A:.+]] = tensor.extract_slice %arg0[%[[I]], 0] [%[[N]], 40] [1, 1]
// CHECK:           %[[Z:.+]] = linalg.fill
// CHECK:           %[[SUM:.+]] = scf.for %[[K:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[ACC:.+]] = %[[Z]])
// CHECK:             %[[S:.+]] = affine.min affine_map<(d0) -> (-d0 + 40, 16)>(%[[K]])
// CHECK:             tensor.extract_slice %[[A]][0, %[[K]]] [%[[N]], %[[S]]] [1, 1]
// CHECK:             tensor.extract_slice %arg1[%[[K]], 0] [%[[S]], 30] [1, 1]
// CHECK:             linalg.matmul
// CHECK:             scf.yield
// CHECK:           %[[TILE:.+]] = tensor.extract_slice %[[O]][%[[I]], 0] [%[[N]], 30] [1, 1]
// CHECK:           %[[R:.+]] = linalg.generic {{.+}} ins(%[[SUM]], %arg2 : {{.+}}) outs(%[[TILE]] :
// CHECK:           scf.forall.in_parallel
// CHECK-NEXT:        tensor.parallel_insert_slice %[[R]] into %[[O]][%[[I]], 0] [%[[N]], 30] [1, 1]
// CHECK:         } {mapping = [#gpu.block<linear_dim_0>]}
// ONE-LABEL:   func.func private @matmul(
// ONE:           scf.forall (%{{.+}}) in (1) shared_outs(%[[O:.+]] = %arg3)
// ONE:             linalg.fill
// ONE:             linalg.matmul
// ONE:             linalg.generic {{.+}} outs(%[[O]] :
// ONE:             tensor.parallel_insert_slice %{{.+}} into %[[O]][0, 0] [50, 30] [1, 1]
// ONE:           } {mapping = [#gpu.block<linear_dim_0>]}
func.func private @matmul(%x: tensor<50x40xf32>, %w: tensor<40x30xf32>, %v: tensor<30xf32>, %o: tensor<50x30xf32>) -> tensor<50x30xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x30xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<50x30xf32>) -> tensor<50x30xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<50x40xf32>, tensor<40x30xf32>) outs(%z : tensor<50x30xf32>) -> tensor<50x30xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %v : tensor<50x30xf32>, tensor<30xf32>) outs(%o : tensor<50x30xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %2 = arith.addf %p, %q : f32
    linalg.yield %2 : f32
  } -> tensor<50x30xf32>
  return %1 : tensor<50x30xf32>
}

// CHECK-LABEL: func.func private @dynamic(
// CHECK:         %[[M:.+]] = tensor.dim %arg0, %{{.+}}
// CHECK:         scf.forall (%[[I:.+]]) = (0) to (%[[M]]) step (16) shared_outs(%[[O:.+]] = %arg1)
// CHECK:           %[[N:.+]] = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 16)>(%[[I]])[%[[M]]]
// CHECK:           linalg.exp ins(%{{.+}} : tensor<?x?xf32>) outs(
// ONE-LABEL:   func.func private @dynamic(
// ONE:           scf.forall (%{{.+}}) in (1) shared_outs(%[[O:.+]] = %arg1)
// ONE:             linalg.exp ins(%arg0 : tensor<?x?xf32>) outs(%[[O]] :
func.func private @dynamic(%x: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.exp ins(%x : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// No tile is larger than everything.
// CHECK-LABEL: func.func private @small(
// CHECK:         scf.forall (%{{.+}}) = (0) to (2) step (2)
// ONE-LABEL:   func.func private @small(
// ONE:           scf.forall (%{{.+}}) in (1)
func.func private @small(%x: tensor<2x8xf32>, %o: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = linalg.exp ins(%x : tensor<2x8xf32>) outs(%o : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// Both results are put together from tiles.
// CHECK-LABEL: func.func private @several(
// CHECK:         %[[R:.+]]:2 = scf.forall (%{{.+}}) = (0) to (64) step (16) shared_outs(%[[S:.+]] = %arg2, %[[E:.+]] = %arg1)
// CHECK:           %[[ET:.+]] = tensor.extract_slice %[[E]]
// CHECK:           %[[EXP:.+]] = linalg.exp ins(%{{.+}} : tensor<16x8xf32>) outs(%[[ET]] :
// CHECK:           %[[ST:.+]] = tensor.extract_slice %[[S]]
// CHECK:           %[[SUM:.+]] = linalg.reduce {{.+}} ins(%[[EXP]] : tensor<16x8xf32>) outs(%[[ST]] :
// CHECK-DAG:         tensor.parallel_insert_slice %[[SUM]] into %[[S]]
// CHECK-DAG:         tensor.parallel_insert_slice %[[EXP]] into %[[E]]
// CHECK:         return %[[R]]#1, %[[R]]#0
// ONE-LABEL:   func.func private @several(
// ONE:           %[[R:.+]]:2 = scf.forall (%{{.+}}) in (1) shared_outs(%[[E:.+]] = %arg1, %[[S:.+]] = %arg2)
// ONE:             linalg.exp {{.+}} outs(%[[E]] :
// ONE:             linalg.reduce {{.+}} outs(%[[S]] :
// ONE:           return %[[R]]#0, %[[R]]#1
func.func private @several(%x: tensor<64x8xf32>, %o: tensor<64x8xf32>, %s: tensor<64xf32>) -> (tensor<64x8xf32>, tensor<64xf32>) {
  %0 = linalg.exp ins(%x : tensor<64x8xf32>) outs(%o : tensor<64x8xf32>) -> tensor<64x8xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<64x8xf32>) outs(%s : tensor<64xf32>) dimensions = [1]
  return %0, %1 : tensor<64x8xf32>, tensor<64xf32>
}

// One that starts with zeros, and is not the root.
// CHECK-LABEL: func.func private @sum_and_scaled(
// CHECK:         scf.forall {{.+}} shared_outs(%[[O:.+]] = %arg2, %[[S:.+]] = %arg1)
// CHECK:           %[[ST:.+]] = tensor.extract_slice %[[S]]
// CHECK:           %[[Z:.+]] = linalg.fill {{.+}} outs(%[[ST]] :
// CHECK:           %[[SUM:.+]] = linalg.reduce {{.+}} outs(%[[Z]] :
// CHECK-DAG:         tensor.parallel_insert_slice %[[SUM]] into %[[S]]
func.func private @sum_and_scaled(%x: tensor<64x8xf32>, %s: tensor<64xf32>, %o: tensor<64x8xf32>) -> (tensor<64xf32>, tensor<64x8xf32>) {
  %cst = arith.constant 0.0 : f32
  %z = linalg.fill ins(%cst : f32) outs(%s : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<64x8xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %0 : tensor<64x8xf32>, tensor<64xf32>) outs(%o : tensor<64x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %3 = arith.divf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<64x8xf32>
  return %0, %1 : tensor<64xf32>, tensor<64x8xf32>
}

// One that two others read is computed once.
// CHECK-LABEL: func.func private @read_twice(
// CHECK:         scf.forall {{.+}} shared_outs(%[[O:.+]] = %arg2, %[[M:.+]] = %arg1) -> (tensor<64x8xf32>, tensor<64xf32>)
// CHECK:           linalg.reduce
// CHECK:           %[[MT:.+]] = tensor.extract_slice %[[M]]
// CHECK:           %[[EXP:.+]] = linalg.exp {{.+}} outs(%[[MT]] :
// CHECK-NOT:       linalg.exp
// CHECK:           scf.forall.in_parallel
// CHECK-DAG:         tensor.parallel_insert_slice %[[EXP]] into %[[M]]
func.func private @read_twice(%x: tensor<64x8xf32>, %m: tensor<64xf32>, %o: tensor<64x8xf32>) -> (tensor<64xf32>, tensor<64x8xf32>) {
  %cst = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<64x8xf32>
  %z = linalg.fill ins(%cst : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<64x8xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %1 = linalg.exp ins(%0 : tensor<64xf32>) outs(%m : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %1 : tensor<64x8xf32>, tensor<64xf32>) outs(%e : tensor<64x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %5 = arith.subf %p, %q : f32
    linalg.yield %5 : f32
  } -> tensor<64x8xf32>
  %3 = linalg.reduce { arith.maximumf } ins(%2 : tensor<64x8xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<64x8xf32>, tensor<64xf32>) outs(%o : tensor<64x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %5 = arith.divf %p, %q : f32
    linalg.yield %5 : f32
  } -> tensor<64x8xf32>
  return %1, %4 : tensor<64xf32>, tensor<64x8xf32>
}

// Nothing to compute: upstream makes no tile of it.
// CHECK-LABEL: func.func private @empty_sum(
// CHECK:         scf.forall (%{{.+}}) in (1)
// CHECK:           linalg.reduce
func.func private @empty_sum(%x: tensor<64x0xf32>, %s: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<64x0xf32>) outs(%s : tensor<64xf32>) dimensions = [1]
  return %0 : tensor<64xf32>
}

// No kernels: nothing on tensors, or nothing at all.
// CHECK-LABEL: func.func @host(
// CHECK-NEXT:    call @host_kernel
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    return
func.func @host(%x: tensor<64xf32>, %m: memref<64xf32>) -> tensor<64xf32> {
  %0 = call @host_kernel(%x) : (tensor<64xf32>) -> tensor<64xf32>
  linalg.exp ins(%m : memref<64xf32>) outs(%m : memref<64xf32>)
  return %0 : tensor<64xf32>
}
func.func private @host_kernel(tensor<64xf32>) -> tensor<64xf32>

// CHECK-LABEL: func.func @blocks(
// CHECK-NOT:     scf.forall
// CHECK:         return
func.func @blocks(%ok: i1, %x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> {
  cf.cond_br %ok, ^yes, ^no
^yes:
  %0 = linalg.exp ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
^no:
  return %x : tensor<64xf32>
}
