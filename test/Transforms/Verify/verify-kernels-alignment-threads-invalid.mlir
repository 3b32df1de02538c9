// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --split-input-file --verify-diagnostics

// The place of each thread of the known block counts.
gpu.module @kernels {
  gpu.func @rows_of_132_bytes(%v: vector<4xf32>)
      workgroup(%a: memref<33x33xf32, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{'vector.store' op has to be aligned to 16 bytes, but accesses byte 132 of its buffer in thread (1, 0, 0); pad the rows to a multiple of it, or promise less}}
    vector.store %v, %a[%t, %c0] {alignment = 16 : i64} : memref<33x33xf32, 3>, vector<4xf32>
    gpu.return
  }

  gpu.func @rows_of_144_bytes(%v: vector<4xf32>)
      workgroup(%a: memref<32x36xf32, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    vector.store %v, %a[%t, %c0] {alignment = 16 : i64} : memref<32x36xf32, 3>, vector<4xf32>
    gpu.return
  }

  // Only some threads get here.
  gpu.func @behind_a_condition(%v: vector<4xf32>)
      workgroup(%a: memref<33x33xf32, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      vector.store %v, %a[%t, %c0] {alignment = 16 : i64} : memref<33x33xf32, 3>, vector<4xf32>
    }
    gpu.return
  }

  // A fragment of a matrix begins at a multiple of 32 bytes.
  gpu.func @fragment()
      workgroup(%a: memref<16x24xf16, 3> {llvm.align = 32 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    // expected-error @+1 {{'gpu.subgroup_mma_load_matrix' op needs an alignment of 32 bytes, but accesses byte 16 of its buffer}}
    %m = gpu.subgroup_mma_load_matrix %a[%c0, %c8] {leadDimension = 24 : index} : memref<16x24xf16, 3> -> !gpu.mma_matrix<16x16xf16, "AOp">
    gpu.return
  }
}
