// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// What is told of waits and fences that are put.

!shared = memref<128xf32, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = !shared, swizzle = none, l2promo = none, oob = zero, interleave = none>

gpu.module @kernels {
  gpu.func @k(%in: memref<128xf32>, %map: !map, %x: f32) workgroup(%S: !shared, %T: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %elected = arith.cmpi eq, %t, %c0 : index
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    // CHECK: remark: {{.*}}InsertedWait{{.*}}wait inserted: nothing waits for 'nvgpu.device_async_copy' before 'memref.load' touches the same bytes
    %y = memref.load %S[%t] : !shared
    memref.store %x, %T[%t] : !shared
    // CHECK: remark: {{.*}}InsertedFence{{.*}}proxy fence inserted: nothing tells TMA of 'memref.store' before 'nvgpu.tma.async.store' has it touch the same bytes
    scf.if %elected {
      nvgpu.tma.async.store %T to %map[%c0] : !shared -> !map
    }
    gpu.return
  }
}
