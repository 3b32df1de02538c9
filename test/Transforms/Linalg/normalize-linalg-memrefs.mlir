// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg{assume-distinct-arguments})' -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-normalize-linalg{assume-distinct-arguments})' | diff %t.once -

// What works on buffers of the host comes to work on what they hold.

// The memory that the result is for may be computed in.
// CHECK-LABEL: func.func @apart(
// CHECK:         %[[A:.+]] = bufferization.to_tensor %arg0 restrict writable
// CHECK:         %[[B:.+]] = bufferization.to_tensor %arg1 restrict writable
// CHECK:         %[[R:.+]] = linalg.generic {{.+}} ins(%[[A]] :
// CHECK:         %[[D:.+]] = bufferization.materialize_in_destination %[[R]] in %[[B]] :
// CHECK:         bufferization.materialize_in_destination %[[D]] in restrict writable %arg1
func.func @apart(%a: memref<8x8xf32>, %b: memref<8x8xf32>) {
  linalg.transpose ins(%a : memref<8x8xf32>) outs(%b : memref<8x8xf32>) permutation = [1, 0]
  return
}

// Not so if it is read by another name: the result is put there when it is done.
// CHECK-LABEL: func.func @view(
// CHECK:         %[[V:.+]] = memref.subview %arg0
// CHECK:         %[[S:.+]] = bufferization.to_tensor %[[V]] restrict :
// CHECK:         %[[R:.+]] = linalg.generic {{.+}} ins(%[[S]] :
// CHECK:         bufferization.materialize_in_destination %[[R]] in writable %arg0
func.func @view(%a: memref<8x8xf32>) {
  %v = memref.subview %a[0, 0] [8, 8] [1, 1] : memref<8x8xf32> to memref<8x8xf32, strided<[8, 1]>>
  linalg.transpose ins(%v : memref<8x8xf32, strided<[8, 1]>>) outs(%a : memref<8x8xf32>) permutation = [1, 0]
  return
}
