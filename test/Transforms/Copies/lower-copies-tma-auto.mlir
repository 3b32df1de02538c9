// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{chip=sm_90})' --remarks-filter-missed='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{chip=sm_89})' | FileCheck %s --check-prefix=OLD

// TMA where it is a gain: large tiles that each warp reads along rows.
#wg = #gpu.address_space<workgroup>

// OLD-NOT: tma

// CHECK-LABEL: func.func @rows
// CHECK:         nvgpu.tma.async.load
// CHECK-NOT:     nvgpu.device_async_copy
// CHECK-LABEL: func.func @columns
func.func @rows(%in: memref<64x64xf32> {llvm.align = 16}, %out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c64, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %bytes = memref.alloc() : memref<16384xi8, #wg>
    %buffer = memref.view %bytes[%c0][] : memref<16384xi8, #wg> to memref<64x64xf32, #wg>
    memref.copy %in, %buffer : memref<64x64xf32> to memref<64x64xf32, #wg>
    // The threads of a warp have one y.
    %half = memref.subview %buffer[%ty, %c32] [1, 32] [1, 1] : memref<64x64xf32, #wg> to memref<1x32xf32, strided<[64, 1], offset: ?>, #wg>
    %x = memref.load %half[%c0, %tx] : memref<1x32xf32, strided<[64, 1], offset: ?>, #wg>
    %y = vector.load %buffer[%ty, %tx] : memref<64x64xf32, #wg>, vector<1xf32>
    vector.store %y, %buffer[%c4, %tx] : memref<64x64xf32, #wg>, vector<1xf32>
    memref.store %x, %buffer[%ty, %tx] : memref<64x64xf32, #wg>
    memref.dealloc %bytes : memref<16384xi8, #wg>
    gpu.terminator
  }
  return
}

// Rows could be padded against the conflicts of these, if TMA did not write them.
// CHECK-NOT:     nvgpu.tma.async.load
// CHECK:         nvgpu.device_async_copy
func.func @columns(%in: memref<64x64xf32> {llvm.align = 16}, %out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c64, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %buffer = memref.alloc() : memref<64x64xf32, #wg>
    // expected-remark @+1 {{TMA not used: it could not pad rows against bank conflicts of accesses across them}}
    memref.copy %in, %buffer : memref<64x64xf32> to memref<64x64xf32, #wg>
    %x = memref.load %buffer[%tx, %ty] : memref<64x64xf32, #wg>
    memref.store %x, %out[%c0] : memref<64xf32>
    gpu.terminator
  }
  return
}

// So could they by the slices of these, and nobody knows of the call.
func.func @others(%in: memref<64x64xf32> {llvm.align = 16}, %out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c64, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %first = memref.alloc() : memref<64x64xf32, #wg>
    %second = memref.alloc() : memref<64x64xf32, #wg>
    // expected-remark @+1 {{TMA not used: it could not pad rows}}
    memref.copy %in, %first : memref<64x64xf32> to memref<64x64xf32, #wg>
    // expected-remark @+1 {{TMA not used: it could not pad rows}}
    memref.copy %in, %second : memref<64x64xf32> to memref<64x64xf32, #wg>
    %row = memref.subview %first[%tx, 0] [1, 64] [1, 1] : memref<64x64xf32, #wg> to memref<64xf32, strided<[1], offset: ?>, #wg>
    %x = memref.load %row[%ty] : memref<64xf32, strided<[1], offset: ?>, #wg>
    memref.store %x, %out[%c0] : memref<64xf32>
    %flat = memref.collapse_shape %second [[0, 1]] : memref<64x64xf32, #wg> into memref<4096xf32, #wg>
    %y = memref.load %flat[%ty] : memref<4096xf32, #wg>
    memref.store %y, %out[%c0] : memref<64xf32>
    gpu.terminator
  }
  return
}

// What is small, or takes several loads, is not worth it.
func.func @small(%in: memref<1024x64xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %first = memref.alloc() : memref<8x64xf32, #wg>
    %second = memref.alloc() : memref<512x8xf32, #wg>
    %s = memref.subview %in[0, 0] [8, 64] [1, 1] : memref<1024x64xf32> to memref<8x64xf32, strided<[64, 1]>>
    // expected-remark @+1 {{TMA not used: it would copy 2048 bytes, which is not worth it}}
    memref.copy %s, %first : memref<8x64xf32, strided<[64, 1]>> to memref<8x64xf32, #wg>
    %t = memref.subview %in[0, 0] [512, 8] [1, 1] : memref<1024x64xf32> to memref<512x8xf32, strided<[64, 1]>>
    // expected-remark @+1 {{TMA not used: it would take 2 loads, which is not worth it}}
    memref.copy %t, %second : memref<512x8xf32, strided<[64, 1]>> to memref<512x8xf32, #wg>
    gpu.terminator
  }
  return
}
