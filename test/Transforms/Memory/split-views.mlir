// RUN: mlir-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(workgroup-split-views)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --allow-unregistered-dialect --pass-pipeline='builtin.module(workgroup-split-views)' -o %t.twice
// RUN: diff %t.once %t.twice
// What upstream crashes on otherwise.
// RUN: mlir-opt %t.once --allow-unregistered-dialect --pass-pipeline='builtin.module(canonicalize,expand-strided-metadata)' | FileCheck %s --check-prefix=EXPANDED
// RUN: mlir-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(workgroup-memory,workgroup-to-nvvm)' | FileCheck %s --check-prefix=KERNEL

// CHECK-LABEL: func.func @steps(
// CHECK:         %[[STEPS:.*]] = memref.subview %{{.*}}[1, 0, 0] [1, 4, 1] [1, 2, 1] : memref<2x8x1xf32> to memref<1x4x1xf32, strided<[8, 2, 1], offset: 8>>
// CHECK-NEXT:    %[[VIEW:.*]] = memref.subview %[[STEPS]][0, 0, 0] [1, 4, 1] [1, 1, 1] : memref<1x4x1xf32, strided<[8, 2, 1], offset: 8>> to memref<4x1xf32, strided<[2, 1], offset: 8>>
// CHECK-NEXT:    return %[[VIEW]]
// EXPANDED-LABEL: func.func @steps(
// EXPANDED:         memref.reinterpret_cast {{.*}} to offset: [8], sizes: [4, 1], strides: [2, 1]
func.func @steps(%a: memref<2x8x1xf32>) -> memref<4x1xf32, strided<[2, 1], offset: 8>> {
  %view = memref.subview %a[1, 0, 0] [1, 4, 1] [1, 2, 1] : memref<2x8x1xf32> to memref<4x1xf32, strided<[2, 1], offset: 8>>
  return %view : memref<4x1xf32, strided<[2, 1], offset: 8>>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[STEPS:.*]] = memref.subview %{{.*}}[%[[I:.*]], 0, 0] [1, %[[N:.*]], 1] [1, %[[S:.*]], 1] : memref<?x?x1xf32, 3> to memref<1x?x1xf32, strided<[?, ?, 1], offset: ?>, 3>
// CHECK-NEXT:    %[[VIEW:.*]] = memref.subview %[[STEPS]][0, 0, 0] [1, %[[N]], 1] [1, 1, 1] : {{.*}} to memref<?x1xf32, strided<[?, 1], offset: ?>, 3>
// EXPANDED-LABEL: func.func @dynamic(
func.func @dynamic(%a: memref<?x?x1xf32, 3>, %i: index, %n: index, %s: index) -> index {
  %c0 = arith.constant 0 : index
  %view = memref.subview %a[%i, 0, 0] [1, %n, 1] [1, %s, 1] : memref<?x?x1xf32, 3> to memref<?x1xf32, strided<[?, 1], offset: ?>, 3>
  %size = memref.dim %view, %c0 : memref<?x1xf32, strided<[?, 1], offset: ?>, 3>
  return %size : index
}

// No step, no dimension left out, and all of one element left out: these are clear.
// CHECK-LABEL: func.func @clear(
// CHECK-COUNT-3: memref.subview %arg0
// CHECK-NOT:     memref.subview
// EXPANDED-LABEL: func.func @clear(
func.func @clear(%a: memref<2x8x1xf32>) {
  %x = memref.subview %a[1, 0, 0] [1, 4, 1] [1, 1, 1] : memref<2x8x1xf32> to memref<4x1xf32, strided<[1, 1], offset: 8>>
  %y = memref.subview %a[1, 0, 0] [1, 4, 1] [1, 2, 1] : memref<2x8x1xf32> to memref<1x4x1xf32, strided<[8, 2, 1], offset: 8>>
  %z = memref.subview %a[1, 0, 0] [1, 4, 1] [1, 2, 1] : memref<2x8x1xf32> to memref<4xf32, strided<[2], offset: 8>>
  "test.use"(%x, %y, %z) : (memref<4x1xf32, strided<[1, 1], offset: 8>>, memref<1x4x1xf32, strided<[8, 2, 1], offset: 8>>, memref<4xf32, strided<[2], offset: 8>>) -> ()
  return
}

// CHECK-LABEL: func.func @in_a_kernel(
// KERNEL-LABEL: llvm.func @in_a_kernel_kernel(
// KERNEL:         llvm.load
// KERNEL:         llvm.store
func.func @in_a_kernel(%a: memref<2x8x1xf32>, %b: memref<4x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1) {
    %view = memref.subview %a[1, 0, 0] [1, 4, 1] [1, 2, 1] : memref<2x8x1xf32> to memref<4x1xf32, strided<[2, 1], offset: 8>>
    %x = memref.load %view[%tx, %c0] : memref<4x1xf32, strided<[2, 1], offset: 8>>
    memref.store %x, %b[%tx, %c0] : memref<4x1xf32>
    gpu.terminator
  }
  return
}
