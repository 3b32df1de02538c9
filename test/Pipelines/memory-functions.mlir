// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory)' | FileCheck %s

// Functions that kernels call, as they stand on the host: each is copied into the
// kernel's module, and what is left of it there serves nobody.

// CHECK-NOT:   func.func private @move
// CHECK-NOT:   func.func private @stage
// CHECK-LABEL: gpu.module @main_kernel
// CHECK:         gpu.func @main_kernel
// CHECK:           func.call @move
// Both are spread over the threads in the same way, so that nothing is between them: each
// copies what it has copied before. It reads what another one has.
// CHECK-NOT:       gpu.barrier
// CHECK:           func.call @stage
// CHECK:         func.func private @move
// CHECK-NOT:       memref.copy
// CHECK:         func.func private @stage
// CHECK-NOT:       memref.copy
// CHECK:           gpu.barrier
func.func private @move(%a: memref<64xf32>, %b: memref<64xf32>) {
  memref.copy %a, %b : memref<64xf32> to memref<64xf32>
  return
}
func.func private @stage(%a: memref<64xf32>, %i: index) -> f32 {
  %w = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
  memref.copy %a, %w : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
  %v = memref.load %w[%i] : memref<64xf32, #gpu.address_space<workgroup>>
  memref.dealloc %w : memref<64xf32, #gpu.address_space<workgroup>>
  return %v : f32
}
func.func @main(%a: memref<64xf32>, %b: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    func.call @move(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
    %other = arith.subi %c63, %tx : index
    %v = func.call @stage(%b, %other) : (memref<64xf32>, index) -> f32
    memref.store %v, %a[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}
