// Copies that nothing waits for: who touches what they write is wrong, however
// many barriers are between. Where something may wait, it is only possible.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics --split-input-file -o /dev/null
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' --split-input-file -o /dev/null 2>%t.errors
// RUN: grep -E "(error|warning): (cannot|data|possible)" %t.errors | FileCheck %s
// RUN: grep -cE "(error|warning): (cannot|data|possible)" %t.errors | FileCheck %s --check-prefix=COUNT

// Insertion puts waits for copies of threads, but none for stores by TMA.
// CHECK: error: cannot synchronize 'nvgpu.tma.async.store' and 'memref.store'
// COUNT: 1

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  gpu.func @no_wait(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // expected-note @+1 {{the other access: 'nvgpu.device_async_copy' writes in thread (0, 0, 0)}}
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    %group = nvgpu.device_async_create_group %copy
    gpu.barrier
    // expected-error @+1 {{cannot synchronize 'nvgpu.device_async_copy' and 'memref.load' on workgroup memory %arg1: thread (0, 0, 0) reads what thread (0, 0, 0) writes, and nothing waits for the copy; wait for the asynchronous copy before, and then for all threads}}
    %x = memref.load %S[%t] : !shared
    gpu.return
  }
}

// -----

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // A wait that leaves as many groups under way as there are.
  gpu.func @wait_for_none(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access}}
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    gpu.barrier
    // expected-error @+1 {{reads what thread (0, 0, 0) writes, and nothing waits for the copy}}
    %x = memref.load %S[%u] : !shared
    gpu.return
  }
}

// -----

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // Only groups are waited for.
  gpu.func @no_commit(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // expected-note @+1 {{the other access}}
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    nvvm.cp.async.wait.group 0
    // expected-error @+1 {{and nothing waits for the copy}}
    %x = memref.load %S[%t] : !shared
    gpu.return
  }
}

// -----

!shared = memref<2x128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // Of each iteration.
  gpu.func @in_loop(%in: memref<?x128xf32>, %n: index) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    scf.for %i = %c0 to %n step %c1 {
      %slot = arith.remsi %i, %c2 : index
      // expected-warning @+3 {{it is not known when the asynchronous operation is done}}
      // expected-note @+2 {{the other access: 'nvgpu.device_async_copy' writes in thread (0, 0, 0)}}
      // expected-note @+1 {{the other access: 'nvgpu.device_async_copy' writes}}
      %copy = nvgpu.device_async_copy %in[%i, %t], %S[%slot, %t], 1 : memref<?x128xf32> to !shared
      // expected-error @+1 {{and nothing waits for the copy}}
      %x = memref.load %S[%slot, %t] : !shared
    }
    gpu.return
  }
}

// -----

!shared = memref<128xf32, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = !shared, swizzle = none, l2promo = none, oob = zero, interleave = none>

gpu.module @kernels {
  // TMA may not have read yet what is overwritten.
  gpu.func @store(%map: !map, %x: f32) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %elected = arith.cmpi eq, %t, %c0 : index
    memref.store %x, %S[%t] : !shared
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    scf.if %elected {
      // expected-note @+1 {{the other access}}
      nvgpu.tma.async.store %S to %map[%c0], predicate = %elected : !shared -> !map
    }
    gpu.barrier
    // expected-error @+1 {{cannot synchronize 'nvgpu.tma.async.store' and 'memref.store'}}
    memref.store %x, %S[%t] : !shared
    gpu.return
  }
}

// -----

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // It may be waited for.
  gpu.func @maybe(%in: memref<128xf32>, %is: i1) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // expected-note @+1 {{the other access}}
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    %group = nvgpu.device_async_create_group %copy
    scf.if %is {
      nvgpu.device_async_wait %group {numGroups = 0 : i32}
    }
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %x = memref.load %S[%t] : !shared
    gpu.return
  }

  // What comes before the copy is in order.
  gpu.func @before(%in: memref<128xf32>, %x: f32, %out: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %x, %S[%t] : !shared
    %y = memref.load %S[%t] : !shared
    memref.store %y, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // Groups that a loop commits are as many as it has iterations: the copy is done.
  gpu.func @committed_in_loop(%in: memref<128xf32>, %more: memref<128xf32>) workgroup(%S: !shared, %T: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-note @+1 {{the other access}}
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    nvvm.cp.async.commit.group
    scf.for %i = %c0 to %c4 step %c1 {
      nvvm.cp.async.commit.group
    }
    nvvm.cp.async.wait.group 2
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %x = memref.load %S[%t] : !shared
    gpu.return
  }
}

// -----

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // Some threads wait for what they started.
  gpu.func @waited_for_by_some(%in: memref<128xf32>, %is: i1) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %some = arith.cmpi ult, %t, %c32 : index
    scf.if %some {
      // expected-note @+1 {{the other access}}
      %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
      nvvm.cp.async.commit.group
      scf.if %is {
        nvvm.cp.async.wait.group 0
      }
    }
    scf.if %some {
      // expected-warning @+1 {{possible data race on workgroup memory}}
      %x = memref.load %S[%t] : !shared
    }
    gpu.return
  }
}
