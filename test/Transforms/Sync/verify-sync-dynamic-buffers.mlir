// A buffer of dynamic size is the same in each iteration of a loop that allocates it if its extents are: its elements are told apart by their indices.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

gpu.module @kernels {
  gpu.func @in_loop(%n: index, %k: index, %v: f32) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    scf.for %q = %c0 to %c3 step %c1 {
      %rows = arith.minui %n, %c16 : index
      %columns = arith.minsi %k, %c16 : index
      %S = memref.alloc(%rows, %columns) : memref<?x?xf32, 3>
      memref.store %v, %S[%tx, %ty] : memref<?x?xf32, 3>
      %w = memref.load %S[%tx, %ty] : memref<?x?xf32, 3>
    }
    gpu.return
  }
}

// -----

// Not if they change: the bytes of one element are those of another.
gpu.module @kernels {
  gpu.func @growing(%n: index, %v: f32) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    scf.for %q = %c1 to %n step %c1 {
      %S = memref.alloc(%c16, %q) : memref<?x?xf32, 3>
      // expected-note @below {{the other access}}
      memref.store %v, %S[%tx, %ty] : memref<?x?xf32, 3>
      // expected-warning @below {{possible data race on workgroup memory}}
      %w = memref.load %S[%tx, %ty] : memref<?x?xf32, 3>
    }
    gpu.return
  }
}
