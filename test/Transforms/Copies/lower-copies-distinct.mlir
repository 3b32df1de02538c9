// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma chip=sm_90})' | FileCheck %s --check-prefix=SAME
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma chip=sm_90 assume-distinct-arguments})' | FileCheck %s

// The kernel writes to %out before it copies from %in, which TMA would not see if
// they were the same memory.
// SAME-NOT: nvgpu.tma.async.load
// SAME:     nvgpu.device_async_copy
// SAME-NOT: nvgpu.tma.async.load
// CHECK:    nvgpu.tma.async.load
func.func @written(%in: memref<64x32xf32> {llvm.align = 16}, %out: memref<64x32xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    memref.store %f, %out[%tx, %c0] : memref<64x32xf32>
    %tile = memref.alloc() : memref<64x32xf32, #gpu.address_space<workgroup>>
    memref.copy %in, %tile : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
    %v = memref.load %tile[%tx, %c1] : memref<64x32xf32, #gpu.address_space<workgroup>>
    memref.store %v, %out[%tx, %c1] : memref<64x32xf32>
    gpu.terminator
  }
  return
}
