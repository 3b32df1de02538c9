// Assembly may wait for copies: what others do behind it is only possible to race.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null 2>&1 | FileCheck %s

// CHECK-NOT: error
// CHECK: warning: possible data race on workgroup memory
// CHECK-NOT: error

!shared = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @kernels {
  // Assembly may wait.
  gpu.func @assembly(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    %group = nvgpu.device_async_create_group %copy
    llvm.inline_asm has_side_effects "cp.async.wait_all;", "" : () -> ()
    %x = memref.load %S[%t] : !shared
    gpu.return
  }
}
