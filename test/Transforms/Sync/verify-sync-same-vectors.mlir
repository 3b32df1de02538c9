// Threads that store the same vector at the same place do no harm, as with elements; at places that overlap by a part they do, unless all its elements are the same.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

gpu.module @kernels {
  gpu.func @constant(%x: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %c31 = arith.constant 31 : index
    %lane = arith.andi %t, %c31 : index
    %i = arith.muli %lane, %c2 : index
    %v = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
    vector.store %v, %x[%i] : memref<64xf32>, vector<2xf32>
    gpu.return
  }

  // Any one that the launch passes, in rows of unknown length.
  gpu.func @given(%x: memref<?x?xf32>, %v: vector<4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %row = arith.remui %t, %c8 : index
    vector.store %v, %x[%row, %c0] : memref<?x?xf32>, vector<4xf32>
    gpu.return
  }

  // A shift by one element makes no difference if all are the same.
  gpu.func @splat(%x: memref<72xf32>, %e: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant dense<0.0> : vector<4xf32>
    vector.store %zero, %x[%t] : memref<72xf32>, vector<4xf32>
    gpu.barrier
    %v = vector.broadcast %e : f32 to vector<4xf32>
    vector.store %v, %x[%t] : memref<72xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @shifted(%x: memref<72xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %v = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
    // expected-error @below {{cannot synchronize 'vector.store' and 'vector.store' on global memory %arg0}}
    // expected-note @below {{the other access}}
    vector.store %v, %x[%t] : memref<72xf32>, vector<2xf32>
    gpu.return
  }

  // Each thread has a vector of its own.
  gpu.func @own(%x: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %n = arith.index_cast %t : index to i32
    %e = arith.sitofp %n : i32 to f32
    %v = vector.broadcast %e : f32 to vector<4xf32>
    // expected-error @below {{cannot synchronize 'vector.store' and 'vector.store' on global memory %arg0}}
    // expected-note @below {{the other access}}
    vector.store %v, %x[%c0] : memref<64xf32>, vector<4xf32>
    gpu.return
  }
}
