// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory)' | FileCheck %s --check-prefix=NONE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{swizzle=always resolve-bank-conflicts=false})' | FileCheck %s --check-prefix=NONE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{swizzle=always})' | FileCheck %s

// Rows that take all of static memory, and cannot be padded. One of very many
// wavefronts could be saved, by arithmetic for each access.
// NONE-NOT: arith.xori
// CHECK:    arith.xori
gpu.module @kernels {
  gpu.func @rows(%from: memref<384x32xf32> {llvm.noalias}, %to: memref<64x32xf32> {llvm.noalias})
      workgroup(%w: memref<384x32xf32, 3>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c384 = arith.constant 384 : index
    scf.for %k = %c0 to %c384 step %c1 {
      %0 = memref.load %from[%k, %x] : memref<384x32xf32>
      memref.store %0, %w[%k, %x] : memref<384x32xf32, 3>
    }
    // Two rows of 16 elements, in the same banks.
    %i = arith.remui %x, %c2 : index
    %j = arith.divui %x, %c2 : index
    %1 = memref.load %w[%i, %j] : memref<384x32xf32, 3>
    memref.store %1, %to[%c0, %x] : memref<64x32xf32>
    gpu.return
  }
}
