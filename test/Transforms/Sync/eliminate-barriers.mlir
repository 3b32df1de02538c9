// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s

// Barriers that order nothing go, and those of a block that only order lanes become those of a warp.

gpu.module @m {
  // CHECK-LABEL: gpu.func @second(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @second(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    gpu.barrier
    memref.store %f, %S[%t] : memref<128xf32, 3>
    gpu.barrier
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.barrier
    %w = memref.load %S[%t] : memref<128xf32, 3>
    gpu.barrier
    gpu.return
  }
  // Threads of a warp only: weaker, but not nothing.
  // CHECK-LABEL: gpu.func @weaker(
  // CHECK:         memref.store
  // CHECK-NOT:     gpu.barrier
  // CHECK:         nvvm.bar.warp.sync
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @weaker(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    memref.store %f, %S[%t] : memref<128xf32, 3>
    gpu.barrier
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  // Both barriers of an iteration, and not those around the loop.
  // CHECK-LABEL: gpu.func @loop(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         scf.for
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.return
  gpu.func @loop(%f: f32, %n: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    gpu.barrier
    scf.for %i = %c0 to %n step %c1 {
      memref.store %f, %S[%t] : memref<128xf32, 3>
      gpu.barrier
      %v = memref.load %S[%u] : memref<128xf32, 3>
      gpu.barrier
    }
    gpu.barrier
    gpu.return
  }
  // The barrier of a loop orders all but its first iteration with what is before.
  // CHECK-LABEL: gpu.func @later_iterations(
  // CHECK:         scf.for
  // CHECK-NEXT:      memref.load
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:    }
  gpu.func @later_iterations(%f: f32) workgroup(%S: memref<4x128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%c2, %t] : memref<4x128xf32, 3>
    scf.for %i = %c0 to %c4 step %c1 {
      %v = memref.load %S[%i, %u] : memref<4x128xf32, 3>
      gpu.barrier
    }
    gpu.return
  }
}
