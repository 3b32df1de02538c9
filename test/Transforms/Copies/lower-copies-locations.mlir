// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies)' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// What becomes of a copy stands where the copy stood, its barriers and what it does
// to the elements included: errors of later passes then point at the program.
// CHECK-LABEL: gpu.func @kernel
// CHECK:         gpu.barrier loc("the copy")
// CHECK:         gpu.thread_id x loc("the copy")
// CHECK:         vector.load {{.*}} loc("the copy")
// CHECK:         arith.extf {{.*}} loc("the copy")
// CHECK:         vector.store {{.*}} loc("the copy")
// CHECK:         gpu.barrier loc("the copy")
gpu.module @kernels {
  gpu.func @kernel(%in: memref<256xf16> {llvm.align = 16}, %out: memref<256xf32> {llvm.align = 16}, %x: f16, %i: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.store %x, %in[%i] : memref<256xf16>
    linalg.copy ins(%in : memref<256xf16>) outs(%out : memref<256xf32>) loc("the copy")
    memref.store %x, %in[%i] : memref<256xf16>
    gpu.return
  }
}
