// RUN: mlir-opt %s --split-input-file --pass-pipeline="builtin.module(workgroup-form-kernels)" | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline="builtin.module(workgroup-form-kernels,workgroup-form-kernels)" | FileCheck %s

// A loop with structured operations in it is a kernel of its own, tiles as the program has them.
// CHECK-LABEL: func.func private @tiles_0_tiles
// CHECK-SAME: (%[[N:.*]]: index, %[[X:.*]]: tensor<?x8xf32>, %[[E:.*]]: tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT: %[[R:.*]] = scf.forall (%{{.*}}) = (0) to (%[[N]]) step (4) shared_outs(%[[O:.*]] = %[[E]])
// CHECK: linalg.abs
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[O]]
// CHECK: return %[[R]]
// CHECK-LABEL: func.func @tiles
// CHECK: %[[NEW:.*]] = tensor.empty
// CHECK-NOT: linalg.abs
// CHECK: call @tiles_0_tiles(%{{.*}}, %{{.*}}, %{{.*}})
func.func @tiles(%x: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %r = scf.forall (%i) = (0) to (%n) step (4) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %a = tensor.extract_slice %x[%i, 0] [4, 8] [1, 1] : tensor<?x8xf32> to tensor<4x8xf32>
    %b = tensor.extract_slice %o[%i, 0] [4, 8] [1, 1] : tensor<?x8xf32> to tensor<4x8xf32>
    %c = linalg.abs ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<?x8xf32>
    }
  }
  return %r : tensor<?x8xf32>
}

// -----

// What an iteration reads of the tensor besides its own part was there before the loop.
// CHECK-LABEL: func.func private @updates_0_points
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>, %[[E:.*]]: tensor<8xf32>)
// CHECK: scf.forall (%[[I:.*]]) in (8) shared_outs(%[[O:.*]] = %[[E]])
// CHECK: tensor.extract %[[X]]
// CHECK: tensor.extract_slice %[[O]][%[[I]]]
// CHECK-LABEL: func.func @updates
// CHECK: call @updates_0_points(%[[A:.*]], %[[A]])
func.func @updates(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.forall (%i) in (8) shared_outs(%o = %x) -> (tensor<8xf32>) {
    %first = tensor.extract %o[%c0] : tensor<8xf32>
    %own = tensor.extract_slice %o[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %t = tensor.insert %first into %own[%c0] : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// -----

// Views are made by the kernel, so that it sees that memory is the same; in loops of the host, too.
// CHECK-LABEL: func.func private @buffers_0_points
// CHECK-SAME: (%[[X:.*]]: memref<8x8xf32>, %[[K:.*]]: index)
// CHECK: %[[S:.*]] = memref.subview %[[X]][%[[K]], 0]
// CHECK: scf.parallel
// CHECK: memref.store %{{.*}}, %[[S]]
// CHECK-LABEL: func.func @buffers
// CHECK: scf.for %[[I:.*]] =
// CHECK: call @buffers_0_points(%{{.*}}, %[[I]])
func.func @buffers(%x: memref<8x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %k = %c0 to %n step %c1 {
    %s = memref.subview %x[%k, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
      %v = memref.load %x[%c0, %i] : memref<8x8xf32>
      memref.store %v, %s[%i] : memref<8xf32, strided<[1], offset: ?>>
    }
  }
  return
}
