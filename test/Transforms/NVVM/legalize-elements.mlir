// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' | FileCheck %s

// LLVM has vectors of one dimension: elements of others are those of its rows.

// CHECK-LABEL: gpu.func @rows
// CHECK-DAG:     %[[FIRST:.+]] = vector.extract %arg0[0] : vector<2xi32> from vector<2x2xi32>
// CHECK-DAG:     %[[SECOND:.+]] = vector.extract %arg0[1] : vector<2xi32> from vector<2x2xi32>
// CHECK-DAG:     %[[LOW:.+]]:2 = vector.to_elements %[[FIRST]] : vector<2xi32>
// CHECK-DAG:     %[[HIGH:.+]]:2 = vector.to_elements %[[SECOND]] : vector<2xi32>
// CHECK-NOT:     vector<2x2xi32>
// CHECK:         memref.store %[[LOW]]#1
// CHECK:         memref.store %[[HIGH]]#0
gpu.module @kernels {
  gpu.func @rows(%x: vector<2x2xi32>, %out: memref<2xi32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0:4 = vector.to_elements %x : vector<2x2xi32>
    memref.store %0#1, %out[%c0] : memref<2xi32>
    memref.store %0#2, %out[%c1] : memref<2xi32>
    gpu.return
  }

  // Nothing has sines and cosines of a vector.

  // CHECK-LABEL: gpu.func @sincos
  // CHECK-COUNT-2: math.sincos %{{.+}} fastmath<afn> : f32
  // CHECK-NOT:     math.sincos
  // CHECK-COUNT-2: vector.from_elements
  gpu.func @sincos(%x: vector<2xf32>, %out: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %0, %1 = math.sincos %x fastmath<afn> : vector<2xf32>
    vector.store %0, %out[%c0] : memref<4xf32>, vector<2xf32>
    vector.store %1, %out[%c2] : memref<4xf32>, vector<2xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @scalar
  // CHECK:         math.sincos %{{.+}} : f32
  gpu.func @scalar(%x: f32, %out: memref<2xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0, %1 = math.sincos %x : f32
    memref.store %0, %out[%c0] : memref<2xf32>
    memref.store %1, %out[%c1] : memref<2xf32>
    gpu.return
  }
}
