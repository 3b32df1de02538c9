// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s

// Every barrier here is needed: thread t fills A[t], which another thread reads,
// mostly by another name. MLIR 22.1's gpu-eliminate-barriers deletes all but the
// first; docs/measurements/peers.md tells how to see it, with this file.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @direct(
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  gpu.func @direct(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    gpu.barrier
    %r = memref.load %A[%u] : memref<128xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @reinterpret_cast(
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  gpu.func @reinterpret_cast(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %v = memref.reinterpret_cast %A to offset: [0], sizes: [1, 128], strides: [128, 1]
        : memref<128xf32, 3> to memref<1x128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    gpu.barrier
    %r = memref.load %v[%c0, %u] : memref<1x128xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @select(
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  gpu.func @select(%out: memref<128xf32>, %x: f32, %c: i1) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %B = memref.alloc() : memref<128xf32, 3>
    %v = arith.select %c, %A, %B : memref<128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    gpu.barrier
    %r = memref.load %v[%u] : memref<128xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @memory_space_cast(
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  gpu.func @memory_space_cast(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %v = memref.memory_space_cast %A : memref<128xf32, 3> to memref<128xf32>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    gpu.barrier
    %r = memref.load %v[%u] : memref<128xf32>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @extract_strided_metadata(
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  gpu.func @extract_strided_metadata(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %A = memref.alloc() : memref<128xf32, 3>
    %v, %offset, %size, %stride = memref.extract_strided_metadata %A
        : memref<128xf32, 3> -> memref<f32, 3>, index, index, index
    memref.store %x, %A[%t] : memref<128xf32, 3>
    gpu.barrier
    %r = memref.load %v[] : memref<f32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @assume_alignment(
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  gpu.func @assume_alignment(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %v = memref.assume_alignment %A, 16 : memref<128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    gpu.barrier
    %r = memref.load %v[%u] : memref<128xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @if_result(
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  gpu.func @if_result(%out: memref<128xf32>, %x: f32, %c: i1) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %B = memref.alloc() : memref<128xf32, 3>
    %v = scf.if %c -> memref<128xf32, 3> {
      scf.yield %A : memref<128xf32, 3>
    } else {
      scf.yield %B : memref<128xf32, 3>
    }
    memref.store %x, %A[%t] : memref<128xf32, 3>
    gpu.barrier
    %r = memref.load %v[%u] : memref<128xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // The barrier orders what the caller wrote.
  // CHECK-LABEL: func.func @device_helper(
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  func.func @device_helper(%A: memref<128xf32, 3>, %u: index) -> f32 {
    gpu.barrier
    %r = memref.load %A[%u] : memref<128xf32, 3>
    return %r : f32
  }

  gpu.func @calls_device_helper(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %r = func.call @device_helper(%A, %u) : (memref<128xf32, 3>, index) -> f32
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }
}
