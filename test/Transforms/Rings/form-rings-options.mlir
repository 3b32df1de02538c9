// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=8 chip=sm_75})' | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=8 chip=sm_90 assume-distinct-arguments})' | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{chip=sm_1})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: cannot be compiled for unknown chip 'sm_1'

// 64 KiB of workgroup memory have four slots of 16 KiB, 227 KiB have eight.
// CHECK-LABEL: gpu.func @memory
// SMALL:         workgroup.ring : !workgroup.ring<4 slots of memref<4096xf32, 3>>
// LARGE:         workgroup.ring : !workgroup.ring<8 slots of memref<4096xf32, 3>>

// The store may change what later iterations copy, unless the arguments are distinct.
// CHECK-LABEL: gpu.func @written_source
// SMALL-NOT:     workgroup.ring
// LARGE:         workgroup.ring : !workgroup.ring<8 slots of memref<64xf32, 3>>
gpu.module @kernels {
  gpu.func @memory(%a: memref<65536xf32>, %b: memref<4096xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c4096 = arith.constant 4096 : index
    %c65536 = arith.constant 65536 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<4096xf32, 3>
    scf.for %k = %c0 to %c65536 step %c4096 {
      %s = memref.subview %a[%k] [4096] [1] : memref<65536xf32> to memref<4096xf32, strided<[1], offset: ?>>
      memref.copy %s, %w : memref<4096xf32, strided<[1], offset: ?>> to memref<4096xf32, 3>
      %v = memref.load %w[%x] : memref<4096xf32, 3>
      memref.store %v, %b[%x] : memref<4096xf32>
    }
    gpu.return
  }
  gpu.func @written_source(%a: memref<512xf32>, %b: memref<64xf32>) kernel {
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
