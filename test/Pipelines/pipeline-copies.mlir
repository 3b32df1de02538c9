// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pipeline-copies)' | FileCheck %s --check-prefix=SAME
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pipeline-copies{assume-distinct-arguments})' | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pipeline-copies{assume-distinct-arguments slots=3 assume-alignment=16 chip=sm_90 engine=cp-async})' | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pipeline-copies{assume-distinct-arguments chip=sm_75})' | FileCheck %s --check-prefix=REGISTERS
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pipeline-copies{assume-distinct-arguments engine=registers})' | FileCheck %s --check-prefix=REGISTERS

// The store may change what later iterations copy, unless the arguments are distinct.
// SAME:          scf.for
// SAME:            memref.copy

// Then each copy is started as many iterations ahead as there are slots, less one, by
// accesses as wide as arguments are aligned.
// TWO:           memref.alloc() {{.*}} : memref<512xi8, 3>
// THREE:         memref.alloc() {{.*}} : memref<768xi8, 3>
// TWO:           nvgpu.device_async_copy {{.+}}, 1 :
// THREE-COUNT-2: nvgpu.device_async_copy {{.+}}, 4 {bypassL1} :
// CHECK:         scf.for
// TWO:             nvvm.cp.async.wait.group 0
// THREE:           nvvm.cp.async.wait.group 1
// REGISTERS-NOT: nvgpu.device_async_copy
// REGISTERS:     memref.alloc() {{.*}} : memref<512xi8, 3>
// REGISTERS-NOT: nvgpu.device_async_copy
// REGISTERS:     scf.for
// REGISTERS-NOT: nvgpu.device_async_copy
gpu.module @kernels {
  gpu.func @rows(%a: memref<512xf32>, %b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, 3>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, 3>
      %v = memref.load %w[%x] : memref<64xf32, 3>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }
}
