// RUN: mlir-opt %s --verify-diagnostics --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers)'

// Copies for which no wait helps, or that are waited for in ways that are not followed: what is wrong is told.

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // All threads copy to one place.
  gpu.func @one_place(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    // expected-error @+2 {{cannot synchronize 'nvgpu.device_async_copy' and 'nvgpu.device_async_copy' on workgroup memory %arg1: thread (32, 0, 0) writes what thread (0, 0, 0) writes}}
    // expected-note @+1 {{the other access}}
    %copy = nvgpu.device_async_copy %in[%t], %S[%c0], 1 : memref<128xf32> to !shared
    gpu.return
  }
}

// -----

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // The wait can stand there, but no barrier can.
  gpu.func @of_others(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c39 = arith.constant 39 : index
    %few = arith.cmpi ule, %t, %c39 : index
    %u = arith.subi %c39, %t : index
    scf.if %few {
      // expected-note @+1 {{the other access: 'nvgpu.device_async_copy' writes in thread (0, 0, 0)}}
      %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
      // expected-error @+1 {{thread (39, 0, 0) reads what thread (0, 0, 0) writes, and there is no place between for a barrier}}
      %x = memref.load %S[%u] : !shared
    }
    gpu.return
  }
}

// -----

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // An mbarrier tracks the copy: whoever waits for that needs no other wait.
  gpu.func @tracked(%in: memref<128xf32>) workgroup(%S: !shared, %B: memref<1xi64, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %b = memref.extract_aligned_pointer_as_index %B : memref<1xi64, #gpu.address_space<workgroup>> -> index
    %b64 = arith.index_cast %b : index to i64
    %bar = llvm.inttoptr %b64 : i64 to !llvm.ptr<3>
    // expected-note @+1 {{the other access: 'nvgpu.device_async_copy' writes}}
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    nvvm.cp.async.mbarrier.arrive %bar : !llvm.ptr<3>
    // expected-warning @+1 {{it is not known when the asynchronous operation is done}}
    %x = memref.load %S[%t] : !shared
    gpu.return
  }
}
