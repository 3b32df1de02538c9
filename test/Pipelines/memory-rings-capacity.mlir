// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{slots=2 engine=tma chip=sm_90 assume-alignment=16})' --remarks-filter='workgroup-lower-rings' --remark-format=emitRemark 2>&1 | FileCheck %s

// TMA needs an mbarrier for each slot, and slots aligned to 128 bytes. Where
// only that is too much for the kernel's memory, the ring is filled by cp.async.

// CHECK:       [Passed] LoweredRing | Category:workgroup-lower-rings | Function=roomy | Engine=TMA
// CHECK:       [Missed] NotTMA | Category:workgroup-lower-rings | Function=full | Reason="TMA not used: mbarriers, and slots aligned as it needs them, take more workgroup memory than there is"
// CHECK:       [Passed] LoweredRing | Category:workgroup-lower-rings | Function=full | Engine=cp.async, Iterations=8, IterationsAhead=1, Remark="copies of a ring run ahead of their readers", Slots=2
// CHECK:       nvgpu.tma.async.load
// CHECK:       nvvm.cp.async.wait.group

#wg = #gpu.address_space<workgroup>

!tile = memref<2x8xf32, #wg>
!view = memref<2x8xf32, strided<[64, 1], offset: ?>>

// Of 232448 bytes, 384 are left, which TMA just takes: 2 * 128 for slots, 2 * 8
// for mbarriers, and up to 112 between the buffers.
func.func @roomy(%a: memref<2x64xf32>, %b: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %others = memref.alloc() : memref<232064xi8, #wg>
    %tile = memref.alloc() : !tile
    scf.for %k = %c0 to %c64 step %c8 {
      %source = memref.subview %a[0, %k] [2, 8] [1, 1] : memref<2x64xf32> to !view
      memref.copy %source, %tile : !view to !tile
      %value = memref.load %tile[%c1, %tx] : !tile
      memref.store %value, %b[%tx] : memref<64xf32>
    }
    %byte = memref.load %others[%tx] : memref<232064xi8, #wg>
    %number = arith.sitofp %byte : i8 to f32
    memref.store %number, %b[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// 128 bytes are left, which two slots take if they are aligned to 16.
func.func @full(%a: memref<2x64xf32>, %b: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %others = memref.alloc() : memref<232320xi8, #wg>
    %tile = memref.alloc() : !tile
    scf.for %k = %c0 to %c64 step %c8 {
      %source = memref.subview %a[0, %k] [2, 8] [1, 1] : memref<2x64xf32> to !view
      memref.copy %source, %tile : !view to !tile
      %value = memref.load %tile[%c1, %tx] : !tile
      memref.store %value, %b[%tx] : memref<64xf32>
    }
    %byte = memref.load %others[%tx] : memref<232320xi8, #wg>
    %number = arith.sitofp %byte : i8 to f32
    memref.store %number, %b[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}
