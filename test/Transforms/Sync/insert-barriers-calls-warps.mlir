// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync)' --verify-diagnostics -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' -o %t.least
// RUN: diff %t.once %t.least

// In a function that kernels of one block size call, barriers of a warp can be told from those of the block. They stand where whole warps call it, too.

!S = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @m {
  // Both call it, and one of them needs a barrier: of a warp.
  // CHECK-LABEL: func.func @exchange(
  // CHECK:         memref.store
  // CHECK-NOT:     gpu.barrier
  // CHECK:         nvvm.bar.warp.sync
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         return
  func.func @exchange(%x: f32, %P: !S, %Q: !S, %i: index, %k: index, %out: memref<128xf32>) {
    memref.store %x, %P[%i] : !S
    %y = memref.load %Q[%k] : !S
    memref.store %y, %out[%i] : memref<128xf32>
    return
  }
  // CHECK-LABEL: gpu.func @lanes(
  // CHECK-NOT:     barrier
  // CHECK-NOT:     sync
  // CHECK:         gpu.return
  gpu.func @lanes(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    func.call @exchange(%x, %S, %S, %t, %u, %out) : (f32, !S, !S, index, index, memref<128xf32>) -> ()
    gpu.return
  }
  // CHECK-LABEL: gpu.func @distinct(
  // CHECK-NOT:     barrier
  // CHECK-NOT:     sync
  // CHECK:         gpu.return
  gpu.func @distinct(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S, %T: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %x, %T[%u] : !S
    func.call @exchange(%x, %S, %T, %t, %u, %out) : (f32, !S, !S, index, index, memref<128xf32>) -> ()
    gpu.return
  }

  // Half of the warps call it: of the block none may stand in it.
  // CHECK-LABEL: func.func @of_some_warps(
  // CHECK:         memref.store
  // CHECK-NOT:     gpu.barrier
  // CHECK:         nvvm.bar.warp.sync
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         return
  func.func @of_some_warps(%x: f32, %P: !S, %i: index, %k: index, %out: memref<128xf32>) {
    memref.store %x, %P[%i] : !S
    %y = memref.load %P[%k] : !S
    memref.store %y, %out[%i] : memref<128xf32>
    return
  }
  // CHECK-LABEL: gpu.func @half(
  // CHECK:         scf.if
  // CHECK-NEXT:      func.call @of_some_warps
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  gpu.func @half(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    %v = arith.subi %c127, %t : index
    %is = arith.cmpi ult, %t, %c64 : index
    scf.if %is {
      func.call @of_some_warps(%x, %S, %t, %u, %out) : (f32, !S, index, index, memref<128xf32>) -> ()
    }
    %y = memref.load %S[%v] : !S
    memref.store %y, %out[%t] : memref<128xf32>
    gpu.return
  }

  // Blocks of two sizes: a barrier of the block is right for both.
  // CHECK-LABEL: func.func @of_two_sizes(
  // CHECK:         gpu.barrier
  // CHECK-NOT:     nvvm.bar.warp.sync
  // CHECK:         return
  func.func @of_two_sizes(%x: f32, %P: !S, %i: index, %k: index, %out: memref<128xf32>) {
    memref.store %x, %P[%i] : !S
    %y = memref.load %P[%k] : !S
    memref.store %y, %out[%i] : memref<128xf32>
    return
  }
  gpu.func @of_64(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    func.call @of_two_sizes(%x, %S, %t, %u, %out) : (f32, !S, index, index, memref<128xf32>) -> ()
    gpu.return
  }
  gpu.func @of_128(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    func.call @of_two_sizes(%x, %S, %t, %u, %out) : (f32, !S, index, index, memref<128xf32>) -> ()
    gpu.return
  }
}
