// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-prepare-bufferization)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-bufferize)' | FileCheck %s --check-prefix=BUFFERS

!T = tensor<8xf32>

// What callers keep is not written: the result is a value of its own.
// CHECK-LABEL:   func.func @kept(
// CHECK-NOT:       materialize_in_destination
// BUFFERS-LABEL: func.func @kept(
// BUFFERS:         %[[NEW:.*]] = memref.alloc()
// BUFFERS:         return %[[NEW]]
func.func @kept(%a: !T, %d: !T {bufferization.writable = false}) -> !T {
  %e = tensor.empty() : !T
  %s = linalg.add ins(%a, %a : !T, !T) outs(%e : !T) -> !T
  %r = bufferization.materialize_in_destination %s in %d : (!T, !T) -> !T
  return %r : !T
}

// An argument that may be written is, as upstream does it.
// CHECK-LABEL:   func.func @given(
// CHECK:           materialize_in_destination
// BUFFERS-LABEL: func.func @given(
// BUFFERS-SAME:      %{{.*}}: memref<8xf32>, %[[D:.*]]: memref<8xf32>)
// BUFFERS:         linalg.add {{.*}} outs(%[[D]] :
// BUFFERS:         return %[[D]]
func.func @given(%a: !T, %d: !T) -> !T {
  %e = tensor.empty() : !T
  %s = linalg.add ins(%a, %a : !T, !T) outs(%e : !T) -> !T
  %r = bufferization.materialize_in_destination %s in %d : (!T, !T) -> !T
  return %r : !T
}

// A part of what callers keep.
// CHECK-LABEL:   func.func @part(
// CHECK-NOT:       materialize_in_destination
func.func @part(%a: tensor<4xf32>, %d: !T {bufferization.writable = false}) -> !T {
  %p = tensor.extract_slice %d[2] [4] [1] : !T to tensor<4xf32>
  %s = linalg.add ins(%a, %p : tensor<4xf32>, tensor<4xf32>) outs(%p : tensor<4xf32>) -> tensor<4xf32>
  %m = bufferization.materialize_in_destination %s in %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %m into %d[2] [4] [1] : tensor<4xf32> into !T
  return %r : !T
}

// What is read later, or is a constant, keeps its value.
// CHECK-LABEL:   func.func @read(
// CHECK-NOT:       materialize_in_destination
// CHECK:           return
func.func @read(%a: !T) -> (!T, !T, !T) {
  %k = arith.constant dense<1.0> : !T
  %e = tensor.empty() : !T
  %x = linalg.exp ins(%a : !T) outs(%e : !T) -> !T
  %s = linalg.add ins(%a, %x : !T, !T) outs(%e : !T) -> !T
  %m = bufferization.materialize_in_destination %s in %x : (!T, !T) -> !T
  %l = bufferization.materialize_in_destination %s in %k : (!T, !T) -> !T
  return %m, %x, %l : !T, !T, !T
}

// What a loop carries is updated in place.
// CHECK-LABEL:   func.func @carried(
// CHECK:           materialize_in_destination
// BUFFERS-LABEL: func.func @carried(
// BUFFERS:         scf.for
// BUFFERS-NOT:       memref.alloc
// BUFFERS:         return
func.func @carried(%a: !T, %d: !T {bufferization.writable = false}, %n: index) -> !T {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %d) -> (!T) {
    %e = tensor.empty() : !T
    %s = linalg.exp ins(%a : !T) outs(%e : !T) -> !T
    %m = bufferization.materialize_in_destination %s in %t : (!T, !T) -> !T
    scf.yield %m : !T
  }
  return %r : !T
}

// What memory is read as is that memory, which is written.
// CHECK-LABEL:   func.func @memory(
// CHECK:           materialize_in_destination
// BUFFERS-LABEL: func.func @memory(
// BUFFERS-SAME:      %{{.*}}: memref<8xf32>, %[[M:.*]]: memref<8xf32>)
// BUFFERS:         linalg.add {{.*}} outs(%[[M]] :
func.func @memory(%a: !T, %m: memref<8xf32>) {
  %d = bufferization.to_tensor %m restrict writable : memref<8xf32> to !T
  %s = linalg.add ins(%a, %d : !T, !T) outs(%d : !T) -> !T
  %r = bufferization.materialize_in_destination %s in %d : (!T, !T) -> !T
  return
}
