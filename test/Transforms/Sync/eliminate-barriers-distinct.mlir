// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s --check-prefix=SAME
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-eliminate-barriers{assume-distinct-arguments})' | FileCheck %s

// A thread reads what another one may have written, unless the arguments are distinct.
// SAME:      memref.store
// SAME-NEXT: gpu.barrier
// SAME-NEXT: memref.load
// CHECK-NOT: gpu.barrier
gpu.module @kernels {
  gpu.func @reverse(%f: f32, %to: memref<128xf32>, %from: memref<128xf32>, %out: memref<128xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %to[%t] : memref<128xf32>
    gpu.barrier
    %v = memref.load %from[%u] : memref<128xf32>
    memref.store %v, %out[%t] : memref<128xf32>
    gpu.return
  }
}
