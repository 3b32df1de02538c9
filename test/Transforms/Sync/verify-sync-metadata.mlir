// What memref.extract_strided_metadata tells of a memref is known: extents, and strides of rows that follow each other.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync{assume-distinct-arguments})' --verify-diagnostics -o /dev/null

gpu.module @kernels {
  gpu.func @flat(%y: memref<?x?xf32>, %v: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %y : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
    %all = arith.muli %sizes#0, %sizes#1 : index
    %z = memref.reinterpret_cast %base to offset: [%offset], sizes: [%all], strides: [1] : memref<f32> to memref<?xf32, strided<[1], offset: ?>>
    %in = arith.cmpi ult, %t, %sizes#1 : index
    scf.if %in {
      scf.for %i = %c0 to %sizes#0 step %c1 {
        %row = arith.muli %i, %strides#0 : index
        %place = arith.addi %row, %t : index
        memref.store %v, %z[%place] : memref<?xf32, strided<[1], offset: ?>>
      }
    }
    gpu.return
  }

  // Of static ones all is.
  gpu.func @static(%y: memref<4x32xf32, strided<[40, 1], offset: 8>>, %v: f32) kernel attributes {known_block_size = array<i32: 40, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %y : memref<4x32xf32, strided<[40, 1], offset: 8>> -> memref<f32>, index, index, index, index, index
    %z = memref.reinterpret_cast %base to offset: [%offset], sizes: [160], strides: [1] : memref<f32> to memref<160xf32, strided<[1], offset: ?>>
    scf.for %i = %c0 to %sizes#0 step %c1 {
      %row = arith.muli %i, %strides#0 : index
      %place = arith.addi %row, %t : index
      memref.store %v, %z[%place] : memref<160xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }
}

// -----

// How far apart rows of a strided memref are only the launch knows.
gpu.module @kernels {
  gpu.func @strided(%y: memref<4x32xf32, strided<[?, 1]>>, %x: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %y : memref<4x32xf32, strided<[?, 1]>> -> memref<f32>, index, index, index, index, index
    %z = memref.reinterpret_cast %base to offset: [%offset], sizes: [160], strides: [1] : memref<f32> to memref<160xf32, strided<[1], offset: ?>>
    scf.for %i = %c0 to %sizes#0 step %c1 {
      %row = arith.muli %i, %strides#0 : index
      %place = arith.addi %row, %t : index
      %v = memref.load %x[%t] : memref<32xf32>
      // expected-note @below {{the other access}}
      // expected-warning @below {{possible data race on global memory %arg0}}
      memref.store %v, %z[%place] : memref<160xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }
}
