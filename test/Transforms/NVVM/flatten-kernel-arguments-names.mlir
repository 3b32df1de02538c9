// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-flatten-kernel-arguments)' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-flatten-kernel-arguments)' -o %t.once
// RUN: mlir-opt %t.once --split-input-file --pass-pipeline='builtin.module(workgroup-flatten-kernel-arguments)' -o %t.twice
// RUN: diff %t.once %t.twice

// One PTX text holds all kernels: names become unique, and launches follow. A name
// that something else in the module has is not taken.
// CHECK-LABEL: module attributes {gpu.container_module}
module attributes {gpu.container_module} {
  // CHECK:      gpu.module @a
  // CHECK:        gpu.func @main_kernel(
  // CHECK:        gpu.func @main_kernel_0(
  gpu.module @a {
    gpu.func @main_kernel(%a: memref<4xf32>) kernel {
      gpu.return
    }
    gpu.func @main_kernel_0() kernel {
      gpu.return
    }
  }
  // CHECK:      gpu.module @b
  // CHECK:        memref.global "private" constant @main_kernel_1
  // CHECK:        gpu.func @main_kernel_2(
  gpu.module @b {
    memref.global "private" constant @main_kernel_1 : memref<4xf32> = dense<0.0>
    gpu.func @main_kernel(%a: memref<?xf32>) kernel {
      gpu.return
    }
  }
  // CHECK:      gpu.module @c
  // CHECK:        gpu.func @main_kernel_3(
  gpu.module @c {
    gpu.func @main_kernel(%x: f32) kernel {
      gpu.return
    }
  }
  // CHECK:      func.func @main
  // CHECK:        gpu.launch_func @a::@main_kernel blocks
  // CHECK:        gpu.launch_func @b::@main_kernel_2 blocks
  // CHECK:        gpu.launch_func @c::@main_kernel_3 blocks
  func.func @main(%a: memref<4xf32>, %b: memref<?xf32>, %x: f32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @a::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
    gpu.launch_func @b::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<?xf32>)
    gpu.launch_func @c::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : f32)
    return
  }
}

// -----

// A new name is none that any symbol of the modules has.
// CHECK-LABEL: gpu.module @first
// CHECK:         gpu.func @k()
// CHECK:       gpu.module @second
// CHECK:         gpu.func @k_1()
module attributes {gpu.container_module} {
  gpu.module @first {
    gpu.func @k() kernel { gpu.return }
  }
  gpu.module @second {
    memref.global "private" constant @k_0 : memref<4xf32> = dense<0.0>
    gpu.func @k() kernel { gpu.return }
  }
}
