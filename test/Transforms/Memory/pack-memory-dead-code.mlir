// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.twice
// RUN: diff %t.once %t.twice

// Code that nothing reaches: what uses a buffer there is no reason to fail.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @dead(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.return
  gpu.func @dead(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.return
  ^dead:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    cf.br ^next
  ^next:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @only_dead(
  // CHECK:         gpu.return
  gpu.func @only_dead(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  ^dead:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    cf.br ^next
  ^next:
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.return
  }
}
