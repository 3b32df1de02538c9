// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics

// A vector that leaves its row is out of bounds, whatever the machine makes of
// it: nothing is certain of it. Two warps, each with a row of its own, of which
// the second lane stores behind the first one: two elements too many.

gpu.module @kernels {
  gpu.func @leaving(%v: vector<4xf32>) workgroup(%S: memref<2x6xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %row = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %column = arith.muli %lane, %c4 : index
    %is_one = arith.cmpi ult, %lane, %c2 : index
    scf.if %is_one {
      // expected-warning @below {{possible data race on workgroup memory %arg1: different threads may touch the same bytes, and no barrier is between; a vector has to leave its row for that}}
      // expected-note @below {{the other access: 'vector.store' writes}}
      vector.store %v, %S[%row, %column] : memref<2x6xf32, 3>, vector<4xf32>
    }
    gpu.return
  }
}

// -----

// Those that stay in their rows race for certain.

gpu.module @kernels {
  gpu.func @staying(%v: vector<4xf32>) workgroup(%S: memref<2x6xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %warp = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %column = arith.muli %warp, %c2 : index
    %is_one = arith.cmpi ult, %lane, %c1 : index
    scf.if %is_one {
      // expected-error @below {{cannot synchronize 'vector.store' and 'vector.store' on workgroup memory %arg1: thread (32, 0, 0) writes what thread (0, 0, 0) writes}}
      // expected-note @below {{the other access: 'vector.store' writes}}
      vector.store %v, %S[%c0, %column] : memref<2x6xf32, 3>, vector<4xf32>
    }
    gpu.return
  }
}

// -----

// Some leave and some stay: certain by those that stay. Lane 0 of the second
// warp stores to the row of the first one.

gpu.module @kernels {
  gpu.func @both(%v: vector<4xf32>) workgroup(%S: memref<3x6xf32, 3>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %warp = arith.divui %t, %c32 : index
    %row = arith.divui %warp, %c2 : index
    %lane = arith.remui %t, %c32 : index
    %column = arith.muli %lane, %c4 : index
    %is_one = arith.cmpi ult, %lane, %c2 : index
    scf.if %is_one {
      // expected-error @below {{cannot synchronize 'vector.store' and 'vector.store' on workgroup memory %arg1: thread (32, 0, 0) writes what thread (0, 0, 0) writes}}
      // expected-note @below {{the other access: 'vector.store' writes}}
      vector.store %v, %S[%row, %column] : memref<3x6xf32, 3>, vector<4xf32>
    }
    gpu.return
  }
}

// -----

// Of two warps it is doubtful, of lanes of the first one certain: the second
// one stores at column 4.

gpu.module @kernels {
  gpu.func @lanes(%v: vector<4xf32>) workgroup(%S: memref<8x6xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %row = arith.remui %t, %c8 : index
    %warp = arith.divui %t, %c32 : index
    %column = arith.muli %warp, %c4 : index
    %other = arith.subi %c7, %row : index
    // expected-error @below {{cannot synchronize 'vector.store' and 'vector.store' on workgroup memory %arg1: thread (8, 0, 0) writes what thread (0, 0, 0) writes}}
    // expected-note @below {{the other access: 'vector.store' writes in thread (0, 0, 0)}}
    vector.store %v, %S[%row, %column] : memref<8x6xf32, 3>, vector<4xf32>
    %is_first = arith.cmpi eq, %warp, %c0 : index
    scf.if %is_first {
      // expected-error @below {{data race on workgroup memory %arg1}}
      %l = vector.load %S[%other, %c0] : memref<8x6xf32, 3>, vector<4xf32>
    }
    gpu.return
  }
}

// -----

// It is not known whether they stay: the row is as long as memory says.

gpu.module @kernels {
  gpu.func @unknown_row(%extent: memref<1xindex, 1>) workgroup(%S: memref<2x64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %m = memref.load %extent[%c0] : memref<1xindex, 1>
    %t = gpu.thread_id x
    %n = arith.index_cast %t : index to i32
    %e = arith.sitofp %n : i32 to f32
    %own = vector.broadcast %e : f32 to vector<4xf32>
    %row = memref.subview %S[0, 0] [1, %m] [1, 1] : memref<2x64xf32, 3> to memref<1x?xf32, strided<[64, 1]>, 3>
    // expected-error @below {{cannot synchronize}}
    // expected-note @below {{the other access}}
    vector.store %own, %row[%c0, %c0] : memref<1x?xf32, strided<[64, 1]>, 3>, vector<4xf32>
    gpu.return
  }
}
