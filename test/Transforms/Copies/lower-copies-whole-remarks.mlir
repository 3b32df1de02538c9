// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma chip=sm_90 insert-barriers=false})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics | FileCheck %s

#wg = #gpu.address_space<workgroup>

// Nothing is left of a fill that a copy overwrites: TMA can do it.
// CHECK-LABEL: func.func @overwritten
// CHECK-NOT: linalg.fill
// CHECK: nvgpu.tma.async.load
func.func @overwritten(%a: memref<64x64xf32> {llvm.align = 16}) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %w = memref.alloc() : memref<32x32xf32, #wg>
    %one = arith.constant 1.0 : f32
    // expected-remark @+1 {{[Passed] ErasedFill | Category:workgroup-lower-copies | Function=overwritten | Remark="fill erased: a copy overwrites all of it"}}
    linalg.fill ins(%one : f32) outs(%w : memref<32x32xf32, #wg>)
    %s = memref.subview %a[8, 16] [32, 32] [1, 1] : memref<64x64xf32> to memref<32x32xf32, strided<[64, 1], offset: 528>>
    // expected-remark @+1 {{[Passed] LoweredCopy | Category:workgroup-lower-copies | Function=overwritten | Bytes=4096, Loads=1, Remark="copy done by TMA"}}
    memref.copy %s, %w : memref<32x32xf32, strided<[64, 1], offset: 528>> to memref<32x32xf32, #wg>
    gpu.terminator
  }
  return
}

// A ragged tile is filled by the copy, which TMA cannot do.
// CHECK-LABEL: func.func @ragged
// CHECK: nvgpu.device_async_copy
func.func @ragged(%a: memref<64x64xf32> {llvm.align = 16}, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %w = memref.alloc() : memref<32x32xf32, #wg>
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%w : memref<32x32xf32, #wg>)
    %s = memref.subview %a[8, 16] [%n, 32] [1, 1] : memref<64x64xf32> to memref<?x32xf32, strided<[64, 1], offset: 528>>
    %t = memref.subview %w[0, 0] [%n, 32] [1, 1] : memref<32x32xf32, #wg> to memref<?x32xf32, strided<[32, 1]>, #wg>
    // expected-remark @+2 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=ragged | Reason="TMA not used: the tile is ragged, and the copy fills it with zeros"}}
    // expected-remark @+1 {{LoweredCopy}}
    memref.copy %s, %t : memref<?x32xf32, strided<[64, 1], offset: 528>> to memref<?x32xf32, strided<[32, 1]>, #wg>
    gpu.terminator
  }
  return
}

// Conversions are for the threads, by loads and stores.
gpu.module @kernels {
  gpu.func @converted(%a: memref<64x32xf16> {llvm.align = 16}) workgroup(%w: memref<64x32xf32, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+3 {{[Missed] NotAsync | Category:workgroup-lower-copies | Function=converted | Reason="cp.async not used: elements are converted"}}
    // expected-remark @+2 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=converted | Reason="TMA not used: elements are converted"}}
    // expected-remark @+1 {{LoweredCopy}}
    linalg.copy ins(%a : memref<64x32xf16>) outs(%w : memref<64x32xf32, #wg>)
    gpu.return
  }

  // Nothing that could be stated would make the target aligned; ...
  gpu.func @misplaced(%a: memref<62x30xf32> {llvm.align = 16}) workgroup(%w: memref<64x32xf32, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = memref.subview %w[1, 1] [62, 30] [1, 1] : memref<64x32xf32, #wg> to memref<62x30xf32, strided<[32, 1], offset: 33>, #wg>
    // expected-remark @+3 {{NotTMA}}
    // expected-remark @+2 {{LoweredCopy}}
    // expected-remark @+1 {{[Missed] NarrowCopy | Category:workgroup-lower-copies | Function=misplaced | Reason="the target begins at a byte of its buffer that is no multiple of 8"}}
    memref.copy %a, %t : memref<62x30xf32> to memref<62x30xf32, strided<[32, 1], offset: 33>, #wg>
    gpu.return
  }
  // ... here, something would of the source.
  gpu.func @unaligned(%a: memref<64x32xf32>) workgroup(%w: memref<64x32xf32, #wg>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+3 {{NotTMA}}
    // expected-remark @+2 {{LoweredCopy}}
    // expected-remark @+1 {{Reason="only the unknown alignment of the source prevents accesses of 16 bytes", Suggestion="state it by memref.assume_alignment, or by the option assume-alignment"}}
    memref.copy %a, %w : memref<64x32xf32> to memref<64x32xf32, #wg>
    gpu.return
  }
}
