// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(convert-scf-to-cf,workgroup-verify-sync{strict})' -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(convert-scf-to-cf,workgroup-eliminate-barriers)' | FileCheck %s

// Row 1 of b is read before the loops, and written from the second iteration of the outer one on: if the
// inner loop has iterations then, it had some in the first iteration, too, with a barrier in each.

// CHECK-LABEL: gpu.func @k(
// CHECK-COUNT-2: gpu.barrier
// CHECK-NOT:     gpu.barrier
gpu.module @m {
  gpu.func @k(%n: index, %f: f32, %out: memref<64xf32>{llvm.noalias}) workgroup(%b: memref<2x64xf32, 3>, %c: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %v = memref.load %b[%c1, %u] : memref<2x64xf32, 3>
    memref.store %v, %out[%t] : memref<64xf32>
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %r = arith.remui %i, %c2 : index
        memref.store %f, %b[%r, %t] : memref<2x64xf32, 3>
        memref.store %v, %c[%t] : memref<64xf32, 3>
        gpu.barrier
        %w = memref.load %c[%u] : memref<64xf32, 3>
        memref.store %w, %out[%t] : memref<64xf32>
        gpu.barrier
      }
    }
    gpu.return
  }
}
