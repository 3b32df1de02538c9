// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-rings)' | FileCheck %s --check-prefix=SAME
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-rings{assume-distinct-arguments})' | FileCheck %s

// The store may change what later iterations copy, unless the arguments are distinct:
// then the copies run ahead, and the first ones are started before the loop.
// SAME:      memref.alloc() {{.*}} : memref<256xi8, 3>
// SAME-NOT:  nvvm.cp.async.wait.group
// SAME:      scf.for
// CHECK:     memref.alloc() {{.*}} : memref<768xi8, 3>
// CHECK:     nvgpu.device_async_copy
// CHECK:     scf.for
// CHECK:       nvvm.cp.async.wait.group 1

!tile = memref<64xf32, 3>
!ring = !workgroup.ring<3 slots of !tile>
gpu.module @kernels {
  gpu.func @written(%a: memref<512xf32>, %b: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %ring = workgroup.ring : !ring
    scf.for %k = %c0 to %c512 step %c64 {
      %source = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      %empty = workgroup.put %ring : !ring -> !tile
      workgroup.copy %source to %empty : memref<64xf32, strided<[1], offset: ?>> to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %value = memref.load %full[%x] : !tile
      memref.store %value, %b[%x] : memref<64xf32>
      workgroup.release %ring : !ring
    }
    gpu.return
  }
}
