// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-bufferize)' -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-bufferize)' | diff %t.once -

// Buffers of kernels and of the host. A second run changes nothing.

// A kernel has no results: it writes into its last argument, and copies nothing.
// CHECK-LABEL: func.func private @exp_kernel(%arg0: memref<64xf32>, %arg1: memref<64xf32>) {
// CHECK-NEXT:    scf.forall (%[[I:.+]]) = (0) to (64) step (16) {
// CHECK-NEXT:      %[[X:.+]] = memref.subview %arg0[%[[I]]] [16] [1]
// CHECK-NEXT:      %[[O:.+]] = memref.subview %arg1[%[[I]]] [16] [1]
// CHECK-NEXT:      linalg.exp ins(%[[X]] : {{.+}}) outs(%[[O]] :
// CHECK-NEXT:    } {mapping = [#gpu.block<linear_dim_0>]}
// CHECK-NEXT:    return
func.func private @exp_kernel(%x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> {
  %0 = scf.forall (%i) = (0) to (64) step (16) shared_outs(%all = %o) -> tensor<64xf32> {
    %a = tensor.extract_slice %x[%i] [16] [1] : tensor<64xf32> to tensor<16xf32>
    %b = tensor.extract_slice %all[%i] [16] [1] : tensor<64xf32> to tensor<16xf32>
    %c = linalg.exp ins(%a : tensor<16xf32>) outs(%b : tensor<16xf32>) -> tensor<16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %all[%i] [16] [1] : tensor<16xf32> into tensor<64xf32>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return %0 : tensor<64xf32>
}

// CHECK-LABEL: func.func private @update_kernel(%arg0: memref<64xf32>, %arg1: memref<64xf32>) {
// CHECK-NOT:     alloc
// CHECK-NOT:     copy
// CHECK:         return
func.func private @update_kernel(%x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> {
  %0 = scf.forall (%i) = (0) to (64) step (16) shared_outs(%all = %o) -> tensor<64xf32> {
    %a = tensor.extract_slice %x[%i] [16] [1] : tensor<64xf32> to tensor<16xf32>
    %b = tensor.extract_slice %all[%i] [16] [1] : tensor<64xf32> to tensor<16xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<16xf32>) outs(%b : tensor<16xf32>) {
    ^bb0(%p: f32, %q: f32):
      %1 = arith.addf %p, %q : f32
      linalg.yield %1 : f32
    } -> tensor<16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %all[%i] [16] [1] : tensor<16xf32> into tensor<64xf32>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return %0 : tensor<64xf32>
}

// Two results, of rows that are not known; what stays in a block is allocated there.
// CHECK-LABEL: func.func private @two_kernel(%arg0: memref<?x8xf32>, %arg1: memref<?xf32>, %arg2: memref<?x8xf32>) {
// CHECK:         scf.forall
// CHECK-NOT:       copy
// CHECK:           memref.alloc() {{.+}} : memref<1x8xf32>
// CHECK-NOT:       copy
// CHECK:         return
func.func private @two_kernel(%x: tensor<?x8xf32>, %s: tensor<?xf32>, %o: tensor<?x8xf32>) -> (tensor<?xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %0:2 = scf.forall (%i) in (%n) shared_outs(%all = %o, %sums = %s) -> (tensor<?x8xf32>, tensor<?xf32>) {
    %a = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %b = tensor.extract_slice %all[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %c = tensor.extract_slice %sums[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    %1 = linalg.reduce { arith.addf } ins(%a : tensor<1x8xf32>) outs(%c : tensor<1xf32>) dimensions = [1]
    %e = tensor.empty() : tensor<1x8xf32>
    %2 = linalg.broadcast ins(%1 : tensor<1xf32>) outs(%e : tensor<1x8xf32>) dimensions = [1]
    %3 = linalg.sub ins(%a, %2 : tensor<1x8xf32>, tensor<1x8xf32>) outs(%b : tensor<1x8xf32>) -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %3 into %all[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
      tensor.parallel_insert_slice %1 into %sums[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return %0#1, %0#0 : tensor<?xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func private @small_kernel(%arg0: memref<8xf32>, %arg1: memref<8xf32>) {
// CHECK:         linalg.exp ins(%arg0 : memref<8xf32>) outs(%arg1 : memref<8xf32>)
// CHECK-NOT:     copy
// CHECK:         return
func.func private @small_kernel(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = scf.forall (%i) in (1) shared_outs(%all = %o) -> tensor<8xf32> {
    %c = linalg.exp ins(%x : tensor<8xf32>) outs(%all : tensor<8xf32>) -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %all[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return %0 : tensor<8xf32>
}

// Buffers between kernels belong to the host.
// CHECK-LABEL: func.func @chain(%arg0: memref<64xf32>) -> memref<64xf32> {
// CHECK-NEXT:    %[[A:.+]] = memref.alloc()
// CHECK-NEXT:    call @exp_kernel(%arg0, %[[A]])
// CHECK-NEXT:    %[[B:.+]] = memref.alloc()
// CHECK-NEXT:    call @exp_kernel(%[[A]], %[[B]])
// CHECK-NEXT:    return %[[B]]
func.func @chain(%x: tensor<64xf32> {bufferization.writable = false}) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %0 = call @exp_kernel(%x, %e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %f = tensor.empty() : tensor<64xf32>
  %1 = call @exp_kernel(%0, %f) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// What the caller passed is not written to,
// CHECK-LABEL: func.func @kept(%arg0: memref<64xf32>, %arg1: memref<64xf32>) -> memref<64xf32> {
// CHECK-NEXT:    %[[A:.+]] = memref.alloc()
// CHECK-NEXT:    memref.copy %arg1, %[[A]]
// CHECK-NEXT:    call @update_kernel(%arg0, %[[A]])
// CHECK-NEXT:    return %[[A]]
func.func @kept(%x: tensor<64xf32> {bufferization.writable = false}, %y: tensor<64xf32> {bufferization.writable = false}) -> tensor<64xf32> {
  %0 = call @update_kernel(%x, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// unless the caller allows it.
// CHECK-LABEL: func.func @given(%arg0: memref<64xf32>, %arg1: memref<64xf32>) -> memref<64xf32> {
// CHECK-NEXT:    call @update_kernel(%arg0, %arg1)
// CHECK-NEXT:    return %arg1
func.func @given(%x: tensor<64xf32> {bufferization.writable = false}, %y: tensor<64xf32> {bufferization.writable = true}) -> tensor<64xf32> {
  %0 = call @update_kernel(%x, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// One copy before the loop, none in it.
// CHECK-LABEL: func.func @loop(
// CHECK:         %[[A:.+]] = memref.alloc()
// CHECK-NEXT:    memref.copy %arg0, %[[A]]
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      func.call @update_kernel(%arg0, %[[A]])
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[A]]
func.func @loop(%x: tensor<64xf32> {bufferization.writable = false}, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<64xf32> {
    %0 = func.call @update_kernel(%x, %t) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// A loop may go on with a buffer that it allocated in the iteration before.
// CHECK-LABEL: func.func @new_each_iteration(
// CHECK:         %[[R:.+]] = scf.for {{.+}} iter_args(%[[T:.+]] = %{{.+}}) -> (memref<64xf32>) {
// CHECK-NEXT:      %[[A:.+]] = memref.alloc()
// CHECK-NEXT:      func.call @exp_kernel(%[[T]], %[[A]])
// CHECK-NEXT:      scf.yield %[[A]]
// CHECK:         return %[[R]]
func.func @new_each_iteration(%x: tensor<64xf32> {bufferization.writable = false}, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    %0 = func.call @exp_kernel(%t, %e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// CHECK-LABEL: func.func @branch(
// CHECK:         scf.if %arg1 -> (memref<64xf32>) {
// CHECK-NEXT:      %[[A:.+]] = memref.alloc()
// CHECK-NEXT:      func.call @exp_kernel(%arg0, %[[A]])
// CHECK-NEXT:      scf.yield %[[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %arg0
func.func @branch(%x: tensor<64xf32> {bufferization.writable = false}, %ok: i1) -> tensor<64xf32> {
  %r = scf.if %ok -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    %0 = func.call @exp_kernel(%x, %e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// A part of a new buffer, in which the rest is as before.
// CHECK-LABEL: func.func @into_slice(
// CHECK:         call @small_kernel(%arg0, %[[A:.+]]) :
// CHECK:         %[[R:.+]] = memref.alloc() {{.+}} : memref<64xf32>
// CHECK-NEXT:    memref.copy %arg1, %[[R]]
// CHECK-NEXT:    %[[S:.+]] = memref.subview %[[R]][4] [8] [1]
// CHECK-NEXT:    memref.copy %[[A]], %[[S]]
// CHECK-NEXT:    return %[[R]]
func.func @into_slice(%x: tensor<8xf32> {bufferization.writable = false}, %y: tensor<64xf32> {bufferization.writable = false}) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = call @small_kernel(%x, %e) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.insert_slice %0 into %y[4] [8] [1] : tensor<8xf32> into tensor<64xf32>
  return %1 : tensor<64xf32>
}

// Nothing to do.
// CHECK-LABEL: func.func @buffers(%arg0: memref<64xf32>) {
// CHECK-NEXT:    linalg.exp ins(%arg0 : memref<64xf32>) outs(%arg0 : memref<64xf32>)
// CHECK-NEXT:    return
func.func @buffers(%m: memref<64xf32>) {
  linalg.exp ins(%m : memref<64xf32>) outs(%m : memref<64xf32>)
  return
}
