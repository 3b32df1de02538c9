// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers{assume-distinct-arguments})' | FileCheck %s --check-prefix=DISTINCT
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-eliminate-barriers)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null

// 128 threads; t is the thread, u = 127 - t another one.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // CHECK-LABEL: gpu.func @write_after_read(
  // CHECK:         memref.load
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @write_after_read(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %v = memref.load %S[%t] : memref<128xf32, 3>
    memref.store %f, %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @write_after_write(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @write_after_write(%f: f32, %g: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%t] : memref<128xf32, 3>
    memref.store %g, %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @read_after_read(
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @read_after_read() workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %v = memref.load %S[%t] : memref<128xf32, 3>
    %w = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }

  memref.global "private" @buffer : memref<128xf32, 3>

  // CHECK-LABEL: gpu.func @global(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @global(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.get_global @buffer : memref<128xf32, 3>
    %B = memref.get_global @buffer : memref<128xf32, 3>
    memref.store %f, %A[%t] : memref<128xf32, 3>
    %v = memref.load %B[%u] : memref<128xf32, 3>
    gpu.return
  }
  // The barrier stands behind the load from the other half.
  // CHECK-LABEL: gpu.func @dynamic_shared_memory(
  // CHECK:         memref.store
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @dynamic_shared_memory(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %arena = gpu.dynamic_shared_memory : memref<?xi8, #wg>
    %A = memref.view %arena[%c0][] : memref<?xi8, #wg> to memref<128xf32, #wg>
    %B = memref.view %arena[%c512][] : memref<?xi8, #wg> to memref<128xf32, #wg>
    memref.store %f, %A[%t] : memref<128xf32, #wg>
    %v = memref.load %B[%u] : memref<128xf32, #wg>
    %w = memref.load %A[%u] : memref<128xf32, #wg>
    gpu.return
  }
  // Rows and columns of an unknown length, 16 x 16 threads.
  // CHECK-LABEL: gpu.func @transpose_dynamic(
  // CHECK:         memref.store
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @transpose_dynamic(%f: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %S = memref.alloc(%n, %n) : memref<?x?xf32, 3>
    memref.store %f, %S[%y, %x] : memref<?x?xf32, 3>
    %own = memref.load %S[%y, %x] : memref<?x?xf32, 3>
    %v = memref.load %S[%x, %y] : memref<?x?xf32, 3>
    gpu.return
  }
  // 32 x 8 threads, rows padded by one element.
  // CHECK-LABEL: gpu.func @transpose(
  // CHECK:         scf.for
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    scf.for
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @transpose(%G: memref<32x32xf32> {llvm.noalias}, %H: memref<32x32xf32> {llvm.noalias}) workgroup(%S: memref<32x33xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    scf.for %j = %y to %c32 step %c8 {
      %v = memref.load %G[%j, %x] : memref<32x32xf32>
      memref.store %v, %S[%j, %x] : memref<32x33xf32, 3>
    }
    scf.for %j = %y to %c32 step %c8 {
      %v = memref.load %S[%x, %j] : memref<32x33xf32, 3>
      memref.store %v, %H[%j, %x] : memref<32x32xf32>
    }
    gpu.return
  }
  // A swizzle is a permutation of a row, and a row is a warp's.
  // CHECK-LABEL: gpu.func @swizzle(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         vector.store
  // CHECK-NEXT:    vector.load
  // CHECK:         nvvm.bar.warp.sync
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @swizzle(%f: vector<4xf32>) workgroup(%S: memref<8x128xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    %c4 = arith.constant 4 : index
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %p = arith.xori %x, %y : index
    %c = arith.muli %p, %c4 : index
    vector.store %f, %S[%y, %c] : memref<8x128xf32, 3>, vector<4xf32>
    %own = vector.load %S[%y, %c] : memref<8x128xf32, 3>, vector<4xf32>
    %v = memref.load %S[%y, %x] : memref<8x128xf32, 3>
    gpu.return
  }
  // Four elements for each thread, and then four from one element on.
  // CHECK-LABEL: gpu.func @subview(
  // CHECK:         vector.store
  // CHECK-NEXT:    vector.load
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    vector.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @subview(%f: vector<4xf32>, %G: memref<?x?xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    %i = arith.muli %t, %c4 : index
    %j = arith.addi %i, %c1 : index
    %own = memref.subview %G[0, %i] [1, 4] [1, 1] : memref<?x?xf32> to memref<4xf32, strided<[1], offset: ?>>
    %next = memref.subview %G[0, %j] [1, 4] [1, 1] : memref<?x?xf32> to memref<4xf32, strided<[1], offset: ?>>
    vector.store %f, %own[%c0] : memref<4xf32, strided<[1], offset: ?>>, vector<4xf32>
    %v = vector.load %own[%c0] : memref<4xf32, strided<[1], offset: ?>>, vector<4xf32>
    %w = vector.load %next[%c0] : memref<4xf32, strided<[1], offset: ?>>, vector<4xf32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @arguments(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK:         gpu.return
  // DISTINCT-LABEL: gpu.func @arguments(
  // DISTINCT-NOT:     barrier
  // DISTINCT:         gpu.return
  gpu.func @arguments(%f: f32, %A: memref<128xf32>, %B: memref<128xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %f, %A[%t] : memref<128xf32>
    %v = memref.load %B[%t] : memref<128xf32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @noalias(
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @noalias(%f: f32, %A: memref<128xf32> {llvm.noalias}, %B: memref<128xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %f, %A[%t] : memref<128xf32>
    %v = memref.load %B[%t] : memref<128xf32>
    gpu.return
  }
  // Updates do not race with each other, but with a load.
  // CHECK-LABEL: gpu.func @atomic(
  // CHECK:         memref.atomic_rmw
  // CHECK-NEXT:    memref.atomic_rmw
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @atomic(%f: f32) workgroup(%S: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.atomic_rmw addf %f, %S[%c0] : (f32, memref<1xf32, 3>) -> f32
    %b = memref.atomic_rmw addf %f, %S[%c0] : (f32, memref<1xf32, 3>) -> f32
    %v = memref.load %S[%c0] : memref<1xf32, 3>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @private(
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @private(%f: f32) private(%P: memref<4xf32, 5>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %Q = memref.alloca() : memref<4xf32>
    memref.store %f, %P[%c0] : memref<4xf32, 5>
    memref.store %f, %Q[%c0] : memref<4xf32>
    %v = memref.load %P[%c0] : memref<4xf32, 5>
    %w = memref.load %Q[%c0] : memref<4xf32>
    gpu.return
  }
  // One thread has nobody to wait for.
  // CHECK-LABEL: gpu.func @one_thread(
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @one_thread(%f: f32) workgroup(%S: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    memref.store %f, %S[%c0] : memref<1xf32, 3>
    %v = memref.load %S[%c0] : memref<1xf32, 3>
    gpu.return
  }
  // Work of the block: fills and copies to two buffers need not wait for each other.
  // CHECK-LABEL: gpu.func @collective(
  // CHECK:         linalg.fill
  // CHECK-NEXT:    linalg.copy
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    linalg.add
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.copy
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @collective(%f: f32, %G: memref<128x8xf32> {llvm.noalias}) workgroup(%S: memref<128x8xf32, 3>, %T: memref<128x8xf32, 3>, %U: memref<128x8xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    linalg.fill ins(%f : f32) outs(%S : memref<128x8xf32, 3>)
    linalg.copy ins(%G : memref<128x8xf32>) outs(%T : memref<128x8xf32, 3>)
    linalg.add ins(%S, %T : memref<128x8xf32, 3>, memref<128x8xf32, 3>) outs(%U : memref<128x8xf32, 3>)
    memref.copy %U, %G : memref<128x8xf32, 3> to memref<128x8xf32>
    gpu.return
  }
}

// The host is one thread.
// CHECK-LABEL: func.func @host(
// CHECK-NOT:     barrier
// CHECK:         return
func.func @host(%f: f32, %S: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  memref.store %f, %S[%c0] : memref<128xf32>
  %v = memref.load %S[%c0] : memref<128xf32>
  return
}
