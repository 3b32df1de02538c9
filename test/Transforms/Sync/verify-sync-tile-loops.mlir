// Blocks that go through tiles: different numbers of tiles, taken apart by
// divisions one after the other, are different rows or columns.

// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// All of it is right, and proved.
gpu.module @right {
  // 33 x 24 tiles of 128 x 256 in groups of 11 rows. The number of blocks is a
  // multiple of 11, too, so that the quotient of a tile is a sum; and the last
  // tiles of a row are not whole.
  gpu.func @ragged(%G: memref<4224x6000xindex>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 132, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c11 = arith.constant 11 : index
    %c24 = arith.constant 24 : index
    %c128 = arith.constant 128 : index
    %c132 = arith.constant 132 : index
    %c256 = arith.constant 256 : index
    %c792 = arith.constant 792 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    scf.for %tile = %b to %c792 step %c132 {
      %within = arith.remui %tile, %c11 : index
      %rest = arith.divui %tile, %c11 : index
      %column = arith.remui %rest, %c24 : index
      %group = arith.divui %rest, %c24 : index
      %first = arith.muli %group, %c11 : index
      %row = arith.addi %first, %within : index
      %i = arith.muli %row, %c128 : index
      %j = arith.muli %column, %c256 : index
      %size = affine.min affine_map<()[s0] -> (256, 6000 - s0)>()[%j]
      %isIn = arith.cmpi ult, %t, %size : index
      scf.if %isIn {
        %k = arith.addi %j, %t : index
        scf.for %r = %c0 to %c128 step %c1 {
          %l = arith.addi %i, %r : index
          memref.store %tile, %G[%l, %k] : memref<4224x6000xindex>
        }
      }
    }
    gpu.return
  }

  // 24 x 24 tiles in groups of 8 rows, which the number of blocks is no
  // multiple of; neither the last rows nor the last columns are whole.
  gpu.func @both(%G: memref<3000x6000xindex>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 132, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c24 = arith.constant 24 : index
    %c128 = arith.constant 128 : index
    %c132 = arith.constant 132 : index
    %c256 = arith.constant 256 : index
    %c576 = arith.constant 576 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    scf.for %tile = %b to %c576 step %c132 {
      %within = arith.remui %tile, %c8 : index
      %rest = arith.divui %tile, %c8 : index
      %column = arith.remui %rest, %c24 : index
      %group = arith.divui %rest, %c24 : index
      %first = arith.muli %group, %c8 : index
      %row = arith.addi %first, %within : index
      %i = arith.muli %row, %c128 : index
      %j = arith.muli %column, %c256 : index
      %height = affine.min affine_map<()[s0] -> (128, 3000 - s0)>()[%i]
      %width = affine.min affine_map<()[s0] -> (256, 6000 - s0)>()[%j]
      %isIn = arith.cmpi ult, %t, %width : index
      scf.if %isIn {
        %k = arith.addi %j, %t : index
        scf.for %r = %c0 to %height step %c1 {
          %l = arith.addi %i, %r : index
          memref.store %tile, %G[%l, %k] : memref<3000x6000xindex>
        }
      }
    }
    gpu.return
  }

  // The launch alone knows how many columns there are.
  gpu.func @dynamic(%G: memref<?x?xindex>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 132, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %c132 = arith.constant 132 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %rows = memref.dim %G, %c0 : memref<?x?xindex>
    %width = memref.dim %G, %c1 : memref<?x?xindex>
    %columns = arith.ceildivui %width, %c128 : index
    %tiles = arith.muli %rows, %columns : index
    scf.for %tile = %b to %tiles step %c132 {
      %row = arith.divui %tile, %columns : index
      %column = arith.remui %tile, %columns : index
      %j = arith.muli %column, %c128 : index
      %k = arith.addi %j, %t : index
      %isIn = arith.cmpi ult, %k, %width : index
      scf.if %isIn {
        memref.store %tile, %G[%row, %k] : memref<?x?xindex>
      }
    }
    gpu.return
  }

  // The last group has fewer rows, so that a divisor depends on the tile.
  gpu.func @tail(%G: memref<?x16xindex>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 5, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %b = gpu.block_id x
    %rows = memref.dim %G, %c0 : memref<?x16xindex>
    %tiles = arith.muli %rows, %c16 : index
    scf.for %tile = %b to %tiles step %c5 {
      %group = arith.divui %tile, %c128 : index
      %local = arith.remui %tile, %c128 : index
      %first = arith.muli %group, %c8 : index
      %left = arith.subi %rows, %first : index
      %some = arith.minsi %left, %c8 : index
      %height = arith.maxsi %some, %c1 : index
      %within = arith.remui %local, %height : index
      %column = arith.divui %local, %height : index
      %row = arith.addi %first, %within : index
      memref.store %tile, %G[%row, %column] : memref<?x16xindex>
    }
    gpu.return
  }

  // As many tiles further as there are blocks.
  gpu.func @grid(%G: memref<64x24xindex>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c8 = arith.constant 8 : index
    %c24 = arith.constant 24 : index
    %c1536 = arith.constant 1536 : index
    %b = gpu.block_id x
    %blocks = gpu.grid_dim x
    scf.for %tile = %b to %c1536 step %blocks {
      %within = arith.remui %tile, %c8 : index
      %rest = arith.divui %tile, %c8 : index
      %column = arith.remui %rest, %c24 : index
      %group = arith.divui %rest, %c24 : index
      %first = arith.muli %group, %c8 : index
      %row = arith.addi %first, %within : index
      memref.store %tile, %G[%row, %column] : memref<64x24xindex>
    }
    gpu.return
  }
}

// -----

// One block less is counted with than there are.
gpu.module @step {
  gpu.func @step(%G: memref<64x24xindex>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 132, 1, 1>} {
    %c8 = arith.constant 8 : index
    %c24 = arith.constant 24 : index
    %c131 = arith.constant 131 : index
    %c1536 = arith.constant 1536 : index
    %b = gpu.block_id x
    scf.for %tile = %b to %c1536 step %c131 {
      %within = arith.remui %tile, %c8 : index
      %rest = arith.divui %tile, %c8 : index
      %column = arith.remui %rest, %c24 : index
      %group = arith.divui %rest, %c24 : index
      %first = arith.muli %group, %c8 : index
      %row = arith.addi %first, %within : index
      // expected-error @+2 {{cannot synchronize 'memref.store' and 'memref.store'}}
      // expected-note @+1 {{the other access}}
      memref.store %tile, %G[%row, %column] : memref<64x24xindex>
    }
    gpu.return
  }
}

// -----

// Columns are counted by one less than rows are.
gpu.module @divisor {
  gpu.func @divisor(%G: memref<64x24xindex>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 132, 1, 1>} {
    %c8 = arith.constant 8 : index
    %c23 = arith.constant 23 : index
    %c24 = arith.constant 24 : index
    %c132 = arith.constant 132 : index
    %c1536 = arith.constant 1536 : index
    %b = gpu.block_id x
    scf.for %tile = %b to %c1536 step %c132 {
      %within = arith.remui %tile, %c8 : index
      %rest = arith.divui %tile, %c8 : index
      %column = arith.remui %rest, %c23 : index
      %group = arith.divui %rest, %c24 : index
      %first = arith.muli %group, %c8 : index
      %row = arith.addi %first, %within : index
      // expected-error @+2 {{cannot synchronize 'memref.store' and 'memref.store'}}
      // expected-note @+1 {{the other access}}
      memref.store %tile, %G[%row, %column] : memref<64x24xindex>
    }
    gpu.return
  }
}
