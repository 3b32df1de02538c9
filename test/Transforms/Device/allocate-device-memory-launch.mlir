// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory{strict assume-distinct-arguments})' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory{assume-distinct-arguments})' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-allocate-device-memory{assume-distinct-arguments})' -o %t.twice
// RUN: diff %t.once %t.twice

// Before outlining: what a launch holds uses the device's memory. Workgroup
// memory, in either spelling, is none of the host's.
// CHECK-LABEL: func.func @captured(
// CHECK-SAME:      %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>)
// CHECK-DAG:     gpu.memcpy %[[DA:.*]], %[[A]]
// CHECK-DAG:     gpu.memcpy %[[DB:.*]], %[[B]]
// CHECK:         gpu.launch
// CHECK:           memref.load %[[DA]]
// CHECK:           memref.store %{{.*}}, %{{.*}} : memref<4xf32, 3>
// CHECK:           memref.store %{{.*}}, %{{.*}} : memref<4xf32, #gpu.address_space<workgroup>>
// CHECK:           memref.store %{{.*}}, %[[DB]]
// CHECK:         gpu.memcpy %[[B]], %[[DB]]
func.func @captured(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %w = memref.alloc() : memref<4xf32, 3>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %j, %k) in (%bx = %c4, %by = %c1, %bz = %c1)
             workgroup(%v : memref<4xf32, #gpu.address_space<workgroup>>) {
    %f = memref.load %a[%i] : memref<4xf32>
    memref.store %f, %w[%i] : memref<4xf32, 3>
    memref.store %f, %v[%i] : memref<4xf32, #gpu.address_space<workgroup>>
    memref.store %f, %b[%i] : memref<4xf32>
    gpu.terminator
  }
  return
}

// Views are made anew of the mirror, beside those of the host, which go on being
// used by the host.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:      %[[A:.*]]: memref<8x8xf32>, %[[O:.*]]: index, %[[X:.*]]: f32)
// CHECK:         %[[D:.*]] = gpu.alloc () : memref<8x8xf32>
// CHECK:         %[[H1:.*]] = memref.subview %[[A]]
// CHECK-NEXT:    %[[D1:.*]] = memref.subview %[[D]]
// CHECK:         linalg.fill {{.*}} outs(%[[H1]]
// CHECK:         %[[D2:.*]] = memref.cast %[[D1]]
// CHECK:         %[[D3:.*]] = memref.collapse_shape %[[D]]
// CHECK:         %[[D4:.*]] = memref.expand_shape %[[D3]]
// CHECK:         %[[D5:.*]] = memref.reinterpret_cast %[[D]]
// CHECK:         gpu.memcpy %[[D]], %[[A]]
// CHECK:         gpu.launch
// CHECK:           memref.load %[[D2]]
// CHECK:           memref.load %[[D4]]
// CHECK:           memref.store %{{.*}}, %[[D5]]
// CHECK:         gpu.memcpy %[[A]], %[[D]]
func.func @views(%a: memref<8x8xf32>, %o: index, %x: f32) {
  %c1 = arith.constant 1 : index
  %v = memref.subview %a[%o, 0] [2, 4] [1, 1] : memref<8x8xf32> to memref<2x4xf32, strided<[8, 1], offset: ?>>
  linalg.fill ins(%x : f32) outs(%v : memref<2x4xf32, strided<[8, 1], offset: ?>>)
  %w = memref.cast %v : memref<2x4xf32, strided<[8, 1], offset: ?>> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  %c = memref.collapse_shape %a [[0, 1]] : memref<8x8xf32> into memref<64xf32>
  %e = memref.expand_shape %c [[0, 1]] output_shape [4, 16] : memref<64xf32> into memref<4x16xf32>
  %r = memref.reinterpret_cast %a to offset: [%o], sizes: [4], strides: [1] : memref<8x8xf32> to memref<4xf32, strided<[1], offset: ?>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %j, %k) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %f = memref.load %w[%i, %j] : memref<?x4xf32, strided<[?, 1], offset: ?>>
    %g = memref.load %e[%i, %j] : memref<4x16xf32>
    %s = arith.addf %f, %g : f32
    memref.store %s, %r[%i] : memref<4xf32, strided<[1], offset: ?>>
    gpu.terminator
  }
  return
}

// Memory with gaps goes by way of contiguous memory of the host: without the gaps
// if the type allows it.
// CHECK-LABEL: func.func @strided(
// CHECK-SAME:      %[[A:.*]]: memref<?x4xf32, strided<[?, 1], offset: ?>>, %[[B:.*]]: memref<4x4xf32, strided<[8, 1], offset: 3>>)
// CHECK:         %[[N:.*]] = memref.dim %[[A]]
// CHECK:         %[[DA:.*]] = gpu.alloc (%[[N]]) : memref<?x4xf32>
// CHECK:         %[[VA:.*]] = memref.cast %[[DA]]
// CHECK:         %[[T:.*]] = memref.alloc(%{{.*}}) : memref<?x4xf32>
// CHECK:         %[[TV:.*]] = memref.cast %[[T]]
// CHECK:         memref.copy %[[A]], %[[TV]]
// CHECK:         gpu.memcpy %[[DA]], %[[T]]
// CHECK:         memref.dealloc %[[T]]
// CHECK:         %[[DB:.*]] = gpu.alloc () : memref<31xf32>
// CHECK:         %[[VB:.*]] = memref.reinterpret_cast %[[DB]] to offset: [3], sizes: [4, 4], strides: [8, 1]
// CHECK:         gpu.launch
// CHECK:           memref.load %[[VA]]
// CHECK:           memref.store %{{.*}}, %[[VB]]
// CHECK:         %[[U:.*]] = memref.alloc() : memref<31xf32>
// CHECK:         %[[UV:.*]] = memref.reinterpret_cast %[[U]]
// CHECK:         gpu.memcpy %[[U]], %[[DB]]
// CHECK:         memref.copy %[[UV]], %[[B]]
func.func @strided(%a: memref<?x4xf32, strided<[?, 1], offset: ?>>, %b: memref<4x4xf32, strided<[8, 1], offset: 3>>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %j, %k) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %f = memref.load %a[%i, %j] : memref<?x4xf32, strided<[?, 1], offset: ?>>
    memref.store %f, %b[%i, %j] : memref<4x4xf32, strided<[8, 1], offset: 3>>
    gpu.terminator
  }
  return
}

// Globals: a constant one comes in once, one that is written goes out again.
// CHECK-LABEL: func.func @globals(
// CHECK:         %[[C:.*]] = memref.get_global @constant
// CHECK:         gpu.memcpy %[[DC:.*]], %[[C]]
// CHECK:         %[[V:.*]] = memref.get_global @variable
// CHECK:         gpu.memcpy %[[DV:.*]], %[[V]]
// CHECK:         scf.for
// CHECK-NOT:       gpu.memcpy
// CHECK:           memref.load %[[DC]]
// CHECK:           memref.store %{{.*}}, %[[DV]]
// CHECK-NOT:     gpu.memcpy %[[C]]
// CHECK:         gpu.memcpy %[[V]], %[[DV]]
// CHECK-NOT:     gpu.memcpy %[[C]]
memref.global "private" constant @constant : memref<2xf32> = dense<[1.0, 2.0]>
memref.global "private" @variable : memref<2xf32> = dense<0.0>
func.func @globals(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %s = %c0 to %n step %c1 {
    %c = memref.get_global @constant : memref<2xf32>
    %v = memref.get_global @variable : memref<2xf32>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%i, %j, %k) in (%tx = %c1, %ty = %c1, %tz = %c1) {
      %f = memref.load %c[%i] : memref<2xf32>
      memref.store %f, %v[%i] : memref<2xf32>
      gpu.terminator
    }
  }
  return
}

// Of rank 0.
// CHECK-LABEL: func.func @scalar(
// CHECK:         gpu.alloc () : memref<f32>
func.func @scalar(%a: memref<f32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %j, %k) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %f = memref.load %a[] : memref<f32>
    memref.store %f, %a[] : memref<f32>
    gpu.terminator
  }
  return
}
