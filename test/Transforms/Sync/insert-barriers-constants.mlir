// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null

// Nobody writes to the memory of a constant, whatever else is written: no barrier is needed, also
// where none could stand.
// CHECK-NOT: gpu.barrier
gpu.module @m {
  memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  gpu.func @reads(%x: memref<4xf32>) kernel attributes {known_block_size = array<i32: 4, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %g = memref.get_global @table : memref<4xf32>
    %v = memref.load %g[%t] : memref<4xf32>
    memref.store %v, %x[%t] : memref<4xf32>
    gpu.return
  }
  gpu.func @other_places(%f: f32, %x: memref<?xf32>) kernel {
    %c3 = arith.constant 3 : index
    %t = gpu.thread_id x
    %at = arith.andi %t, %c3 : index
    %i = gpu.global_id x
    %g = memref.get_global @table : memref<4xf32>
    %view = memref.subview %g[1] [3] [1] : memref<4xf32> to memref<3xf32, strided<[1], offset: 1>>
    %c2 = arith.constant 2 : index
    %near = arith.minui %at, %c2 : index
    memref.store %f, %x[%i] : memref<?xf32>
    %v = memref.load %view[%near] : memref<3xf32, strided<[1], offset: 1>>
    memref.store %v, %x[%i] : memref<?xf32>
    gpu.return
  }
  gpu.func @guarded(%x: memref<4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    %is_first = arith.cmpi ult, %t, %c4 : index
    scf.if %is_first {
      %g = memref.get_global @table : memref<4xf32>
      %v = memref.load %g[%t] : memref<4xf32>
      memref.store %v, %x[%t] : memref<4xf32>
    }
    gpu.return
  }
}
