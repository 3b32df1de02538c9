// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Threads that touch the same place have equal digits of its coordinates: so
// blocks, rows and columns of tiles are told apart, whatever their sizes are.
// Each right kernel is followed by wrong ones that differ from it in a number.

// The tiles of a matrix of known shape are one number: block row, row in the
// tile, block column and column in the tile.

gpu.module @tiles {
  gpu.func @store(%c: memref<1024x1024xf32> {llvm.noalias}, %v: vector<4xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 8, 8, 1>} {
    %x = gpu.block_id x
    %y = gpu.block_id y
    %t = gpu.thread_id x
    %i = affine.apply affine_map<(y, t) -> (y * 128 + (t floordiv 64) * 4 + ((t mod 32) floordiv 16) * 2 + t mod 2)>(%y, %t)
    %j = affine.apply affine_map<(x, t) -> (x * 128 + ((t floordiv 32) mod 2) * 32 + (((t mod 32) floordiv 2) mod 8) * 4)>(%x, %t)
    %i1 = affine.apply affine_map<(i) -> (i + 16)>(%i)
    %i7 = affine.apply affine_map<(i) -> (i + 112)>(%i)
    %j1 = affine.apply affine_map<(j) -> (j + 64)>(%j)
    vector.store %v, %c[%i, %j] : memref<1024x1024xf32>, vector<4xf32>
    vector.store %v, %c[%i, %j1] : memref<1024x1024xf32>, vector<4xf32>
    vector.store %v, %c[%i1, %j] : memref<1024x1024xf32>, vector<4xf32>
    vector.store %v, %c[%i1, %j1] : memref<1024x1024xf32>, vector<4xf32>
    vector.store %v, %c[%i7, %j] : memref<1024x1024xf32>, vector<4xf32>
    vector.store %v, %c[%i7, %j1] : memref<1024x1024xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

// Rows of a tile that reach into the next tile.

gpu.module @tiles {
  gpu.func @too_many_rows(%c: memref<1024x1024xf32> {llvm.noalias}, %v: vector<4xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 8, 7, 1>} {
    %x = gpu.block_id x
    %y = gpu.block_id y
    %t = gpu.thread_id x
    %i = affine.apply affine_map<(y, t) -> (y * 128 + (t floordiv 64) * 4 + ((t mod 32) floordiv 16) * 2 + t mod 2)>(%y, %t)
    %j = affine.apply affine_map<(x, t) -> (x * 128 + ((t floordiv 32) mod 2) * 32 + (((t mod 32) floordiv 2) mod 8) * 4)>(%x, %t)
    %i8 = affine.apply affine_map<(i) -> (i + 128)>(%i)
    // expected-note @+1 {{the other access}}
    vector.store %v, %c[%i, %j] : memref<1024x1024xf32>, vector<4xf32>
    // expected-error @+1 {{cannot synchronize 'vector.store' and 'vector.store' on global memory %arg0: thread (0, 0, 0) of block (0, 0, 0) writes what thread (0, 0, 0) of block (0, 1, 0) writes}}
    vector.store %v, %c[%i8, %j] : memref<1024x1024xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

// Threads of a row that overlap.

gpu.module @tiles {
  gpu.func @too_wide(%c: memref<1024x1024xf32> {llvm.noalias}, %v: vector<4xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 7, 8, 1>} {
    %x = gpu.block_id x
    %y = gpu.block_id y
    %t = gpu.thread_id x
    %i = affine.apply affine_map<(y, t) -> (y * 128 + (t floordiv 64) * 4 + ((t mod 32) floordiv 16) * 2 + t mod 2)>(%y, %t)
    %j = affine.apply affine_map<(x, t) -> (x * 64 + ((t floordiv 32) mod 2) * 32 + (((t mod 32) floordiv 2) mod 8) * 4)>(%x, %t)
    %j1 = affine.apply affine_map<(j) -> (j + 64)>(%j)
    // expected-note @+1 {{the other access}}
    vector.store %v, %c[%i, %j] : memref<1024x1024xf32>, vector<4xf32>
    // expected-error @+1 {{cannot synchronize 'vector.store' and 'vector.store' on global memory %arg0: thread (0, 0, 0) of block (0, 0, 0) writes what thread (0, 0, 0) of block (1, 0, 0) writes}}
    vector.store %v, %c[%i, %j1] : memref<1024x1024xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

// A copy to a tile of a number of columns that is known at run time only, with
// its rows swizzled: n -> (n / c, n mod c).

gpu.module @ragged {
  gpu.func @copy(%in: memref<64x?xf32>)
      workgroup(%S: memref<64x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 16, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %from = arith.muli %b, %c64 overflow<nsw> : index
    %c = affine.min affine_map<()[s0] -> (-s0 + 1000, 64)>()[%from]
    %count = arith.muli %c, %c64 overflow<nsw, nuw> : index
    scf.for %n = %t to %count step %c256 {
      %j = arith.remui %n, %c : index
      %i = arith.divui %n, %c : index
      %quarter = arith.divui %i, %c4 : index
      %key = arith.remui %quarter, %c16 : index
      %shift = arith.muli %key, %c2 overflow<nsw, nuw> : index
      %place = arith.xori %j, %shift : index
      %x = memref.load %in[%i, %j] : memref<64x?xf32>
      memref.store %x, %S[%i, %place] : memref<64x64xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// The rest by another number: several elements of a row get to one place.

gpu.module @ragged {
  gpu.func @other_divisor(%in: memref<64x?xf32>)
      workgroup(%S: memref<64x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 16, 1, 1>} {
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %from = arith.muli %b, %c64 overflow<nsw> : index
    %c = affine.min affine_map<()[s0] -> (-s0 + 1000, 64)>()[%from]
    %count = arith.muli %c, %c64 overflow<nsw, nuw> : index
    scf.for %n = %t to %count step %c256 {
      %j = arith.remui %n, %c32 : index
      %i = arith.divui %n, %c : index
      %x = memref.load %in[%i, %j] : memref<64x?xf32>
      // expected-warning @+2 {{possible data race on workgroup memory %arg1}}
      // expected-note @+1 {{the other access}}
      memref.store %x, %S[%i, %j] : memref<64x64xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// Counters that overlap: the threads take fewer steps than they are.

gpu.module @ragged {
  gpu.func @short_step(%in: memref<64x?xf32>)
      workgroup(%S: memref<64x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 16, 1, 1>} {
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %from = arith.muli %b, %c64 overflow<nsw> : index
    %c = affine.min affine_map<()[s0] -> (-s0 + 1000, 64)>()[%from]
    %count = arith.muli %c, %c64 overflow<nsw, nuw> : index
    scf.for %n = %t to %count step %c128 {
      %j = arith.remui %n, %c : index
      %i = arith.divui %n, %c : index
      %x = memref.load %in[%i, %j] : memref<64x?xf32>
      // expected-warning @+2 {{possible data race on workgroup memory %arg1}}
      // expected-note @+1 {{the other access}}
      memref.store %x, %S[%i, %j] : memref<64x64xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// A tile of which neither rows nor columns are known, in a grid of one
// dimension: vectors, and what is left of each row.

gpu.module @unknown {
  gpu.func @rows(%out: memref<?x?xf32> {llvm.noalias}, %grid: index, %v: vector<4xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %m = memref.dim %out, %c0 : memref<?x?xf32>
    %n = memref.dim %out, %c1 : memref<?x?xf32>
    %g = arith.maxsi %grid, %c1 : index
    %bx = arith.remui %b, %g : index
    %by = arith.divui %b, %g : index
    %row = affine.apply affine_map<(b) -> (b * 32)>(%by)
    %column = affine.apply affine_map<(b) -> (b * 64)>(%bx)
    %rows = affine.min affine_map<()[s0, s1] -> (32, s0 - s1)>()[%m, %row]
    %columns = affine.min affine_map<()[s0, s1] -> (64, s0 - s1)>()[%n, %column]
    %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%columns]
    %least = arith.maxsi %rows, %c0 : index
    %vectors = arith.maxsi %groups, %c0 : index
    %count = arith.muli %least, %vectors overflow<nsw> : index
    scf.for %k = %t to %count step %c256 {
      %q = arith.remui %k, %vectors : index
      %i = arith.divui %k, %vectors : index
      %j = arith.muli %q, %c4 overflow<nsw, nuw> : index
      %end = arith.addi %j, %c4 overflow<nsw, nuw> : index
      %isWhole = arith.cmpi sle, %end, %columns : index
      %r = arith.addi %i, %row : index
      scf.if %isWhole {
        %s = arith.addi %j, %column : index
        vector.store %v, %out[%r, %s] : memref<?x?xf32>, vector<4xf32>
      } else {
        scf.for %l = %j to %columns step %c1 {
          %s = arith.addi %l, %column : index
          memref.store %x, %out[%r, %s] : memref<?x?xf32>
        }
      }
    }
    gpu.return
  }
}

// -----

// Tiles of 31 rows that store 32.

gpu.module @unknown {
  gpu.func @too_many_rows(%out: memref<?x?xf32> {llvm.noalias}, %grid: index, %v: vector<4xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %m = memref.dim %out, %c0 : memref<?x?xf32>
    %n = memref.dim %out, %c1 : memref<?x?xf32>
    %g = arith.maxsi %grid, %c1 : index
    %bx = arith.remui %b, %g : index
    %by = arith.divui %b, %g : index
    %row = affine.apply affine_map<(b) -> (b * 31)>(%by)
    %column = affine.apply affine_map<(b) -> (b * 64)>(%bx)
    %rows = affine.min affine_map<()[s0, s1] -> (32, s0 - s1)>()[%m, %row]
    %columns = affine.min affine_map<()[s0, s1] -> (64, s0 - s1)>()[%n, %column]
    %least = arith.maxsi %rows, %c0 : index
    %most = arith.maxsi %columns, %c0 : index
    %count = arith.muli %least, %most overflow<nsw> : index
    scf.for %k = %t to %count step %c256 {
      %j = arith.remui %k, %most : index
      %i = arith.divui %k, %most : index
      %r = arith.addi %i, %row : index
      %s = arith.addi %j, %column : index
      %x = arith.index_cast %k : index to i32
      %y = arith.sitofp %x : i32 to f32
      // expected-warning @+2 {{possible data race on global memory %arg0: threads of different blocks}}
      // expected-note @+1 {{the other access}}
      memref.store %y, %out[%r, %s] : memref<?x?xf32>
    }
    gpu.return
  }
}

// -----

// What is left of a row, and one element before.

gpu.module @unknown {
  gpu.func @wide_rest(%out: memref<64x64xf32> {llvm.noalias}, %n: index, %v: vector<4xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %t = gpu.thread_id x
    %columns = affine.min affine_map<()[s0] -> (64, s0)>()[%n]
    %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%columns]
    %vectors = arith.maxsi %groups, %c0 : index
    %count = arith.muli %c64, %vectors overflow<nsw> : index
    scf.for %k = %t to %count step %c256 {
      %q = arith.remui %k, %vectors : index
      %i = arith.divui %k, %vectors : index
      %j = arith.muli %q, %c4 overflow<nsw, nuw> : index
      %end = arith.addi %j, %c4 overflow<nsw, nuw> : index
      %isWhole = arith.cmpi sle, %end, %columns : index
      scf.if %isWhole {
        // expected-note @+1 {{the other access}}
        vector.store %v, %out[%i, %j] : memref<64x64xf32>, vector<4xf32>
      } else {
        %before = affine.max affine_map<(j) -> (j - 1, 0)>(%j)
        scf.for %l = %before to %columns step %c1 {
          // expected-warning @+1 {{possible data race on global memory %arg0: different threads}}
          memref.store %x, %out[%i, %l] : memref<64x64xf32>
        }
      }
    }
    gpu.return
  }
}

// -----

// Edges that may be negative, as far as the size and the block tell: no thread
// gets to the division then.

gpu.module @edges {
  gpu.func @copy(%in: memref<?x?xf32>)
      workgroup(%S: memref<64x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %m = memref.dim %in, %c0 : memref<?x?xf32>
    %n = memref.dim %in, %c1 : memref<?x?xf32>
    %from = arith.muli %b, %c64 overflow<nsw> : index
    %rows = affine.min affine_map<()[s0] -> (64, s0)>()[%m]
    %columns = affine.min affine_map<()[s0, s1] -> (64, s0 - s1)>()[%n, %from]
    %tile = memref.subview %S[0, 0] [%rows, %columns] [1, 1] : memref<64x64xf32, #gpu.address_space<workgroup>> to memref<?x?xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
    %count = arith.muli %rows, %columns overflow<nsw, nuw> : index
    scf.for %k = %t to %count step %c256 {
      %j = arith.remui %k, %columns : index
      %i = arith.divui %k, %columns : index
      %x = memref.load %in[%i, %j] : memref<?x?xf32>
      memref.store %x, %tile[%i, %j] : memref<?x?xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}

// -----

// The quotient by another number than the rest.

gpu.module @edges {
  gpu.func @other_divisor(%in: memref<?x?xf32>)
      workgroup(%S: memref<64x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %m = memref.dim %in, %c0 : memref<?x?xf32>
    %n = memref.dim %in, %c1 : memref<?x?xf32>
    %from = arith.muli %b, %c64 overflow<nsw> : index
    %rows = affine.min affine_map<()[s0] -> (64, s0)>()[%m]
    %columns = affine.min affine_map<()[s0, s1] -> (64, s0 - s1)>()[%n, %from]
    %tile = memref.subview %S[0, 0] [%rows, %columns] [1, 1] : memref<64x64xf32, #gpu.address_space<workgroup>> to memref<?x?xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
    %count = arith.muli %rows, %columns overflow<nsw, nuw> : index
    scf.for %k = %t to %count step %c256 {
      %j = arith.remui %k, %columns : index
      %i = arith.divui %k, %rows : index
      %x = memref.load %in[%i, %j] : memref<?x?xf32>
      // expected-warning @+2 {{possible data race on workgroup memory %arg1}}
      // expected-note @+1 {{the other access}}
      memref.store %x, %tile[%i, %j] : memref<?x?xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}
