// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync)' --split-input-file --verify-diagnostics -o /dev/null

// The wait leaves as many copies under way as there were started since: what is
// read has not arrived, whatever the barrier.
gpu.module @m {
  gpu.func @loose(%in: memref<?x128xi32> {llvm.noalias}, %out: memref<?x128xi32> {llvm.noalias}, %n: index) workgroup(%S: memref<2x128xi32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %t = gpu.thread_id x
    // expected-note @+1 {{the other access: 'nvgpu.device_async_copy' writes}}
    %first = nvgpu.device_async_copy %in[%c0, %t], %S[%c0, %t], 1 : memref<?x128xi32> to memref<2x128xi32, 3>
    nvvm.cp.async.commit.group
    scf.for %i = %c0 to %n step %c1 {
      nvvm.cp.async.wait.group 1
      gpu.barrier
      %next = arith.addi %i, %c1 : index
      %live = arith.cmpi ult, %next, %n : index
      scf.if %live {
        %to = arith.remui %next, %c2 : index
        // expected-note @+1 {{the other access: 'nvgpu.device_async_copy' writes}}
        %token = nvgpu.device_async_copy %in[%next, %t], %S[%to, %t], 1 : memref<?x128xi32> to memref<2x128xi32, 3>
      }
      nvvm.cp.async.commit.group
      %slot = arith.remui %i, %c2 : index
      // expected-error @+1 {{cannot synchronize 'nvgpu.device_async_copy' and 'memref.load' on workgroup memory %arg3}}
      %x = memref.load %S[%slot, %t] : memref<2x128xi32, 3>
      memref.store %x, %out[%i, %t] : memref<?x128xi32>
    }
    gpu.return
  }
}
