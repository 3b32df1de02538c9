// A slice lies in what it is a slice of, as an index does in its memref, whatever its length; who accesses an element of it knows that it has one.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

// Each block has a row, and threads of it as many elements as the slice has.
gpu.module @kernels {
  gpu.func @rows(%x: memref<3x8xf32>, %n: index, %v: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %row = memref.subview %x[%b, 0] [1, %n] [1, 1] : memref<3x8xf32> to memref<?xf32, strided<[1], offset: ?>>
    %in = arith.cmpi ult, %t, %n : index
    scf.if %in {
      memref.store %v, %row[%t] : memref<?xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }

  // From wherever it begins, in steps of two, by loops of each thread.
  gpu.func @steps(%x: memref<3x16xf32>, %m: index, %n: index, %v: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %row = memref.subview %x[%b, %m] [1, %n] [1, 2] : memref<3x16xf32> to memref<?xf32, strided<[2], offset: ?>>
    scf.for %i = %t to %n step %c32 {
      memref.store %v, %row[%i] : memref<?xf32, strided<[2], offset: ?>>
    }
    gpu.return
  }

  // A slice of a slice.
  gpu.func @nested(%x: memref<3x64xf32>, %m: index, %n: index, %v: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %row = memref.subview %x[%b, 0] [1, %m] [1, 1] : memref<3x64xf32> to memref<?xf32, strided<[1], offset: ?>>
    %part = memref.subview %row[%n] [%m] [1] : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %in = arith.cmpi ult, %t, %m : index
    scf.if %in {
      memref.store %v, %part[%t] : memref<?xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }
}

// -----

// The values differ. Two rows are long enough for the elements of three: not all of them are the block's.
gpu.module @kernels {
  gpu.func @joined(%x: memref<24xf32> {llvm.noalias}, %n: index, %v: memref<32xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %first = arith.muli %b, %c8 : index
    %row = memref.subview %x[%first] [%n] [1] : memref<24xf32> to memref<?xf32, strided<[1], offset: ?>>
    %in = arith.cmpi ult, %t, %n : index
    scf.if %in {
      %w = memref.load %v[%t] : memref<32xf32>
      // expected-error @below {{cannot synchronize 'memref.store' and 'memref.store' on global memory %arg0: thread (8, 0, 0) of block (0, 0, 0) writes what thread (0, 0, 0) of block (1, 0, 0) writes}}
      // expected-note @below {{the other access}}
      memref.store %w, %row[%t] : memref<?xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }

  // An empty one promises nothing of those who access another.
  gpu.func @other(%x: memref<3x8xf32> {llvm.noalias}, %n: index, %v: memref<32xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %none = memref.subview %x[%b, %t] [1, %n] [1, 1] : memref<3x8xf32> to memref<?xf32, strided<[1], offset: ?>>
    %all = memref.reinterpret_cast %x to offset: [0], sizes: [24], strides: [1] : memref<3x8xf32> to memref<24xf32, strided<[1]>>
    %w = memref.load %v[%t] : memref<32xf32>
    // expected-error @below {{cannot synchronize 'memref.store' and 'memref.store' on global memory %arg0}}
    // expected-note @below {{the other access}}
    memref.store %w, %all[%t] : memref<24xf32, strided<[1]>>
    gpu.return
  }
}

// -----

// Of a transfer no lane is outside: the row of each thread is its own. Backwards, a lane is not.
gpu.module @kernels {
  gpu.func @lanes(%v: vector<4xf32>, %pad: f32) workgroup(%S: memref<32x6xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    vector.transfer_write %v, %S[%t, %c4] : vector<4xf32>, memref<32x6xf32, 3>
    %own = vector.transfer_read %S[%t, %c4], %pad : memref<32x6xf32, 3>, vector<4xf32>
    gpu.return
  }

  gpu.func @turned(%v: vector<4xf32>, %pad: f32) workgroup(%S: memref<6x32xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    vector.transfer_write %v, %S[%c4, %t] {permutation_map = affine_map<(i, j) -> (i)>} : vector<4xf32>, memref<6x32xf32, 3>
    %own = vector.transfer_read %S[%c4, %t], %pad {permutation_map = affine_map<(i, j) -> (i)>} : memref<6x32xf32, 3>, vector<4xf32>
    gpu.return
  }

  gpu.func @inside(%v: vector<4xf32>, %pad: f32) workgroup(%S: memref<32x6xf32, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c31 = arith.constant 31 : index
    %t = gpu.thread_id x
    %u = arith.subi %c31, %t : index
    // expected-note @below {{the other access}}
    vector.transfer_write %v, %S[%t, %c1] : vector<4xf32>, memref<32x6xf32, 3>
    // expected-warning @below {{possible data race on workgroup memory %arg2}}
    %other = vector.transfer_read %S[%u, %c1], %pad : memref<32x6xf32, 3>, vector<4xf32>
    gpu.return
  }
}
