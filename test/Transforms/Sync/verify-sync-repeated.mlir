// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Copies in loops that each thread iterates on its own, waited for behind them.

// Copied over what is still being copied, in the iteration before.
gpu.module @m {
  gpu.func @twice(%G: memref<64xf32> {llvm.noalias}, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<4096xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %t step %c1 {
      // expected-error @+2 {{cannot synchronize 'nvgpu.device_async_copy' and 'nvgpu.device_async_copy' on workgroup memory}}
      // expected-note @+1 {{the other access}}
      %token = nvgpu.device_async_copy %G[%t], %S[%t], 1 : memref<64xf32> to memref<4096xf32, 3>
      nvvm.cp.async.commit.group
    }
    nvvm.cp.async.wait.group 0
    gpu.return
  }
}

// -----

// Read in the next iteration.
gpu.module @m {
  gpu.func @read(%G: memref<64xf32> {llvm.noalias}, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<4096xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %t step %c1 {
      %row = arith.muli %i, %c64 : index
      %from = arith.addi %row, %t : index
      %to = arith.addi %from, %c64 : index
      // expected-error @+1 {{cannot synchronize 'nvgpu.device_async_copy' and 'memref.load' on workgroup memory}}
      %v = memref.load %S[%from] : memref<4096xf32, 3>
      memref.store %v, %out[%t] : memref<64xf32>
      // expected-note @+1 {{the other access}}
      %token = nvgpu.device_async_copy %G[%t], %S[%to], 1 : memref<64xf32> to memref<4096xf32, 3>
      nvvm.cp.async.commit.group
    }
    nvvm.cp.async.wait.group 0
    gpu.return
  }
}

// -----

// Each iteration has a place of its own.
gpu.module @m {
  gpu.func @apart(%G: memref<64xf32> {llvm.noalias}, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<4096xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %t step %c1 {
      %row = arith.muli %i, %c64 : index
      %to = arith.addi %row, %t : index
      %token = nvgpu.device_async_copy %G[%t], %S[%to], 1 : memref<64xf32> to memref<4096xf32, 3>
      nvvm.cp.async.commit.group
    }
    nvvm.cp.async.wait.group 0
    gpu.return
  }
}
