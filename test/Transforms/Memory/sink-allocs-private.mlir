// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file --verify-diagnostics -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file | diff %t.once -

// Private memory of the host around a launch is a buffer of each thread: on its
// stack, where `memref.alloc` would be a call of `malloc`.
// CHECK-LABEL: func.func @around_launch
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch
// CHECK:           %[[A:.+]] = memref.alloca() {alignment = 32 : i64} : memref<4x4xf32, #gpu.address_space<private>>
// CHECK:           %[[ROW:.+]] = memref.subview %[[A]][1, 0] [1, 4] [1, 1]
// CHECK:           %[[B:.+]] = memref.alloca() : memref<f32, #gpu.address_space<private>>
// CHECK:           memref.load %[[ROW]]
// CHECK:           memref.store %{{.+}}, %[[B]]
// CHECK-NOT:     memref.dealloc
func.func @around_launch() {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() {alignment = 32 : i64} : memref<4x4xf32, #gpu.address_space<private>>
  %b = memref.alloca() : memref<f32, #gpu.address_space<private>>
  %row = memref.subview %a[1, 0] [1, 4] [1, 1] : memref<4x4xf32, #gpu.address_space<private>> to memref<4xf32, strided<[1], offset: 4>, #gpu.address_space<private>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %row[%tx] : memref<4xf32, strided<[1], offset: 4>, #gpu.address_space<private>>
    memref.store %x, %b[] : memref<f32, #gpu.address_space<private>>
    gpu.terminator
  }
  memref.dealloc %a : memref<4x4xf32, #gpu.address_space<private>>
  return
}

// -----

// The same where the kernel is outlined.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @outlined
  // CHECK-SAME:    (%[[I:.+]]: index)
  // CHECK-NOT:     memref.alloc
  // CHECK:         gpu.launch_func @kernels::@kernel
  // CHECK-SAME:      args(%[[I]] : index)
  func.func @outlined(%i: index) {
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<16xf32, #gpu.address_space<private>>
    %part = memref.subview %a[%i] [4] [1] : memref<16xf32, #gpu.address_space<private>> to memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<private>>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%part : memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<private>>)
    return
  }
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @kernel
    // CHECK-SAME:    (%[[I:.+]]: index) kernel
    // CHECK:         %[[A:.+]] = memref.alloca() : memref<16xf32, #gpu.address_space<private>>
    // CHECK:         memref.subview %[[A]][%[[I]]]
    gpu.func @kernel(%part: memref<4xf32, strided<[1], offset: ?>, #gpu.address_space<private>>) kernel {
      gpu.return
    }
  }
}

// -----

// Two launches have nothing of each other's threads.
func.func @two_launches() {
  %c1 = arith.constant 1 : index
  // expected-warning @+1 {{buffer used by 2 launches does not keep its contents between them}}
  %a = memref.alloca() : memref<f32, #gpu.address_space<private>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = arith.constant 0.0 : f32
    memref.store %x, %a[] : memref<f32, #gpu.address_space<private>>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[] : memref<f32, #gpu.address_space<private>>
    memref.store %x, %a[] : memref<f32, #gpu.address_space<private>>
    gpu.terminator
  }
  return
}

// -----

// Private memory that no launch uses may be of use to whom it belongs.
// CHECK-LABEL: func.func @not_launched
// CHECK:         memref.alloc() : memref<4xf32, #gpu.address_space<private>>
// CHECK:         memref.dealloc
func.func @not_launched(%i: index) -> f32 {
  %a = memref.alloc() : memref<4xf32, #gpu.address_space<private>>
  %x = memref.load %a[%i] : memref<4xf32, #gpu.address_space<private>>
  memref.dealloc %a : memref<4xf32, #gpu.address_space<private>>
  return %x : f32
}

// -----

// A number is no name: who means this memory by 5 says so in `from-spaces`.
// CHECK-LABEL: func.func @number
// CHECK:         memref.alloca() : memref<4xf32, 5>
// CHECK:         gpu.launch
// CHECK-NOT:       memref.alloca
// CHECK:           gpu.terminator
func.func @number(%x: f32) {
  %c1 = arith.constant 1 : index
  %a = memref.alloca() : memref<4xf32, 5>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %x, %a[%tx] : memref<4xf32, 5>
    gpu.terminator
  }
  return
}
