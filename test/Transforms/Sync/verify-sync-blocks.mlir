// What threads of different blocks do to each other in global memory.

// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// All of it is right, and proved.
gpu.module @right {
  gpu.func @own(%G: memref<?xindex>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %start = arith.muli %b, %c128 : index
    %i = arith.addi %start, %t : index
    memref.store %t, %G[%i] : memref<?xindex>
    gpu.return
  }

  // It never asks which block it is of: it is taken for the only one.
  gpu.func @alone(%G: memref<?xindex>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %t, %G[%t] : memref<?xindex>
    gpu.return
  }

  // Nothing is known but that the arguments are the same for all.
  gpu.func @strided(%G: memref<?xindex>, %n: index) kernel {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %threads = gpu.block_dim x
    %blocks = gpu.grid_dim x
    %start = arith.muli %b, %threads : index
    %i = arith.addi %start, %t : index
    %step = arith.muli %threads, %blocks : index
    scf.for %k = %i to %n step %step {
      memref.store %t, %G[%k] : memref<?xindex>
    }
    gpu.return
  }

  gpu.func @global_id(%G: memref<?xindex>) kernel {
    %i = gpu.global_id x
    memref.store %i, %G[%i] : memref<?xindex>
    gpu.return
  }

  gpu.func @tiles(%G: memref<?x?xf32, strided<[?, 1]>>, %n: index) kernel
      attributes {known_block_size = array<i32: 8, 8, 1>} {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %tile = memref.subview %G[%row, %column] [64, 64] [1, 1] : memref<?x?xf32, strided<[?, 1]>> to memref<64x64xf32, strided<[?, 1], offset: ?>>
    scf.for %i = %ty to %c64 step %c8 {
      scf.for %j = %tx to %c64 step %c8 {
        %x = memref.load %tile[%i, %j] : memref<64x64xf32, strided<[?, 1], offset: ?>>
        %y = arith.addf %x, %x : f32
        memref.store %y, %tile[%i, %j] : memref<64x64xf32, strided<[?, 1], offset: ?>>
      }
    }
    gpu.return
  }

  // Who adds, or all write the same, does no harm; nor does memory of the block, or what one
  // block does alone.
  gpu.func @harmless(%G: memref<1024xf32> {llvm.noalias}, %H: memref<1024xf32> {llvm.noalias}, %x: f32)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 2, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %old = memref.atomic_rmw addf %x, %G[%c0] : (f32, memref<1024xf32>) -> f32
    memref.store %zero, %G[%c1] : memref<1024xf32>
    memref.store %x, %G[%c2] : memref<1024xf32>
    memref.store %old, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %is3 = arith.cmpi eq, %bx, %c2 : index
    %is1 = arith.cmpi eq, %by, %c1 : index
    %is = arith.andi %is3, %is1 : i1
    scf.if %is {
      memref.store %old, %H[%t] : memref<1024xf32>
    }
    gpu.return
  }
}

// -----

func.func @host(%G: memref<8x128xindex>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1) {
    %row = memref.subview %G[%bx, 0] [1, 128] [1, 1] : memref<8x128xindex> to memref<128xindex, strided<[1], offset: ?>>
    memref.store %tx, %row[%tx] : memref<128xindex, strided<[1], offset: ?>>
    gpu.terminator
  }
  return
}

// -----

gpu.module @wrong {
  gpu.func @all(%G: memref<?xindex>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %t = gpu.thread_id x
    // expected-error @+2 {{cannot synchronize 'memref.store' and 'memref.store' on global memory %arg0: thread (}}
    // expected-note @+1 {{the other access: 'memref.store' writes in thread (}}
    memref.store %t, %G[%t] : memref<?xindex>
    gpu.return
  }

  // A barrier is of one block: what another one reads is not ordered.
  gpu.func @neighbour(%G: memref<?xindex>, %H: memref<?xindex> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %start = arith.muli %b, %c128 : index
    %i = arith.addi %start, %t : index
    // expected-note @+1 {{the other access: 'memref.store' writes in thread (0, 0, 0) of block (}}
    memref.store %t, %G[%i] : memref<?xindex>
    gpu.barrier
    %j = arith.addi %i, %c1 : index
    // expected-error @+1 {{thread (127, 0, 0) of block}}
    %x = memref.load %G[%j] : memref<?xindex>
    memref.store %x, %H[%i] : memref<?xindex>
    gpu.return
  }

  // Whether there are so many blocks is not known.
  gpu.func @overlap(%G: memref<?xindex>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %start = arith.muli %b, %c64 : index
    %i = arith.addi %start, %t : index
    // expected-warning @+2 {{threads of different blocks may touch the same bytes, and blocks do not wait for each other; it takes several blocks along x, and known_grid_size does not tell}}
    // expected-note @+1 {{the other access}}
    memref.store %t, %G[%i] : memref<?xindex>
    gpu.return
  }

  // One of two coordinates tells the blocks apart, the other one does not.
  gpu.func @column(%G: memref<?x?xindex>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 4, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    // expected-error @+2 {{cannot synchronize}}
    // expected-note @+1 {{the other access}}
    memref.store %t, %G[%b, %t] : memref<?x?xindex>
    gpu.return
  }

  // Atomic updates and plain reads.
  gpu.func @count(%G: memref<16xi32>, %H: memref<?xi32> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %c16 = arith.constant 16 : index
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %start = arith.muli %b, %c16 : index
    %i = arith.addi %start, %t : index
    // expected-note @+1 {{the other access: 'memref.atomic_rmw' updates in thread}}
    %old = memref.atomic_rmw addi %one, %G[%t] : (i32, memref<16xi32>) -> i32
    // expected-error @+1 {{cannot synchronize 'memref.atomic_rmw' and 'memref.load'}}
    %x = memref.load %G[%t] : memref<16xi32>
    memref.store %x, %H[%i] : memref<?xi32>
    gpu.return
  }

  // Arguments that may overlap.
  gpu.func @arguments(%G: memref<1024xindex>, %H: memref<1024xindex>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %start = arith.muli %b, %c32 : index
    %i = arith.addi %start, %t : index
    // expected-note @+1 {{the other access}}
    %x = memref.load %G[%i] : memref<1024xindex>
    // expected-warning @+2 {{threads of different blocks may touch the same bytes, and blocks do not wait for each other; they may be of different buffers that overlap}}
    // expected-warning @+1 {{possible data race on global memory: different threads may touch the same bytes}}
    memref.store %x, %H[%i] : memref<1024xindex>
    gpu.return
  }

  // Blocks may wait for each other by flags.
  gpu.func @flag(%G: memref<1xi32>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %b = gpu.block_id x
    %i = arith.index_cast %b : index to i32
    nvvm.memory.barrier <gpu>
    // expected-warning @+2 {{fences and flags between blocks are not followed}}
    // expected-note @+1 {{the other access}}
    memref.store %i, %G[%c0] : memref<1xi32>
    gpu.return
  }
}
