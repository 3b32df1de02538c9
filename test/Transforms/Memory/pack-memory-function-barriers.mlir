// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory,workgroup-hoist-allocs{insert-barriers=true})' | FileCheck %s

// A second call must not fill the buffer while others still read what the first
// one left, nor an iteration of a loop of blocks: a barrier stands where the allocation
// did, whether hoisting puts it or packing. What follows such a buffer in its bytes
// comes after another one.
// CHECK-LABEL: func.func private @function(
// CHECK:         memref.view
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.load
// CHECK-LABEL: gpu.func @kernel(
// CHECK:         memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    func.call
// CHECK-NEXT:    func.call
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.store
// CHECK-LABEL: gpu.func @loop(
// CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
// CHECK:       ^[[LOOP:bb[0-9]+]]:
// CHECK-NEXT:    memref.view
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.load
// CHECK:       ^[[NEXT:bb[0-9]+]]:
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.store
gpu.module @kernels {
  func.func private @function(%thread: index, %i: index, %v: f32, %out: memref<64xf32>) {
    %buffer = memref.alloc() : memref<64xf32, 3>
    memref.store %v, %buffer[%thread] : memref<64xf32, 3>
    gpu.barrier
    %x = memref.load %buffer[%i] : memref<64xf32, 3>
    memref.store %x, %out[%thread] : memref<64xf32>
    return
  }
  gpu.func @kernel(%i: index, %v: f32, %out: memref<64xf32>)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %thread = gpu.thread_id x
    memref.store %v, %a[%thread] : memref<64xf32, 3>
    func.call @function(%thread, %i, %v, %out) : (index, index, f32, memref<64xf32>) -> ()
    func.call @function(%thread, %i, %v, %out) : (index, index, f32, memref<64xf32>) -> ()
    memref.store %v, %b[%thread] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @loop(%i: index, %v: f32, %c: i1, %out: memref<64xf32>)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    %thread = gpu.thread_id x
    memref.store %v, %a[%thread] : memref<64xf32, 3>
    cf.br ^loop
  ^loop:
    %buffer = memref.alloc() : memref<64xf32, 3>
    memref.store %v, %buffer[%thread] : memref<64xf32, 3>
    gpu.barrier
    %x = memref.load %buffer[%i] : memref<64xf32, 3>
    memref.store %x, %out[%thread] : memref<64xf32>
    cf.cond_br %c, ^loop, ^next
  ^next:
    memref.store %v, %b[%thread] : memref<64xf32, 3>
    gpu.return
  }
}
