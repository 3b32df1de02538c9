// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts{chip=sm_90})' | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts{chip=sm_120})' | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,workgroup-attach-target{chip=sm_90},workgroup-resolve-bank-conflicts)' | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,workgroup-attach-target{chip=sm_120},workgroup-resolve-bank-conflicts)' | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts{chip=sm_1})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// A swizzle by TMA aligns its buffer, for which there is room in the 227 KiB of one
// chip and not in the 99 KiB of another.

// UNKNOWN: error: 'gpu.launch' op cannot be compiled for unknown chip 'sm_1'

#wg = #gpu.address_space<workgroup>
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<16x32xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>

module attributes {gpu.container_module} {
// CHECK-LABEL: func.func @full
// LARGE:         nvgpu.tma.create.descriptor %{{.+}} -> <{{.*}}swizzle = swizzle_128b
// SMALL:         nvgpu.tma.create.descriptor %{{.+}} -> <{{.*}}swizzle = none
func.func @full(%a: memref<64x64xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %cast = memref.cast %a : memref<64x64xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %cast box[%c16, %c32] : memref<*xf32> -> !map
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %barrier = nvgpu.mbarrier.create -> !bar
    %tile = memref.alloc() : memref<16x32xf32, #wg>
    %rest = memref.alloc() : memref<24768xf32, #wg>
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %tile : !map, !bar -> memref<16x32xf32, #wg>
    %0 = memref.load %tile[%tx, %c0] : memref<16x32xf32, #wg>
    memref.store %0, %rest[%tx] : memref<24768xf32, #wg>
    %1 = memref.load %rest[%tx] : memref<24768xf32, #wg>
    memref.store %1, %a[%tx, %c0] : memref<64x64xf32>
    gpu.terminator
  }
  return
}

// CHECK-LABEL: func.func @less
// CHECK:         nvgpu.tma.create.descriptor %{{.+}} -> <{{.*}}swizzle = swizzle_128b
func.func @less(%a: memref<64x64xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %cast = memref.cast %a : memref<64x64xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %cast box[%c16, %c32] : memref<*xf32> -> !map
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %barrier = nvgpu.mbarrier.create -> !bar
    %tile = memref.alloc() : memref<16x32xf32, #wg>
    %rest = memref.alloc() : memref<24000xf32, #wg>
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %tile : !map, !bar -> memref<16x32xf32, #wg>
    %0 = memref.load %tile[%tx, %c0] : memref<16x32xf32, #wg>
    memref.store %0, %rest[%tx] : memref<24000xf32, #wg>
    %1 = memref.load %rest[%tx] : memref<24000xf32, #wg>
    memref.store %1, %a[%tx, %c0] : memref<64x64xf32>
    gpu.terminator
  }
  return
}
}
