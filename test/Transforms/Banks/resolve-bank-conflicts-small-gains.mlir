// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts{swizzle=auto max-bytes=4096})' | FileCheck %s --check-prefix=AUTO
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts{swizzle=always max-bytes=4096})' | FileCheck %s --check-prefix=ALWAYS

// One of very many wavefronts could be saved, by arithmetic for each access.

// AUTO-LABEL:   gpu.func @rows
// AUTO-NOT:       arith.xori
// AUTO:           gpu.return
// ALWAYS-LABEL: gpu.func @rows
// ALWAYS:         arith.xori
// ALWAYS:         gpu.return
gpu.module @kernels {
  gpu.func @rows(%to: memref<64x32xf32>)
      workgroup(%w: memref<32x32xf32, 3>)
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    // Two rows of 16 elements, in the same banks.
    %i = arith.remui %x, %c2 : index
    %j = arith.divui %x, %c2 : index
    %0 = memref.load %w[%i, %j] : memref<32x32xf32, 3>
    memref.store %0, %to[%c0, %x] : memref<64x32xf32>
    scf.for %k = %c0 to %c32 step %c1 {
      %1 = memref.load %w[%k, %x] : memref<32x32xf32, 3>
      memref.store %1, %to[%k, %x] : memref<64x32xf32>
      %2 = memref.load %w[%k, %x] : memref<32x32xf32, 3>
      memref.store %2, %to[%k, %x] : memref<64x32xf32>
    }
    gpu.return
  }
}
