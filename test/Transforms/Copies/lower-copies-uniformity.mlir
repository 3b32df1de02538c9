// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{insert-barriers=false})' --remarks-filter-passed='workgroup-lower-copies' --remark-format=emitRemark --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies,workgroup-verify-kernels)' -o /dev/null

// A copy may be spread over the block only if all threads of the block execute it
// together and with the same operands. Each rule has a copy that must stay whole
// in every thread and one that need not; the remarks say which is which. The
// second command puts barriers next to those that were spread, and thereby shows
// that none of them stands in divergent code.

gpu.module @values {
  // Constants, arguments, block ids and sizes are the same in all threads.
  gpu.func @uniform_sources(%a: memref<256xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %id = gpu.block_id y
    %size = gpu.block_dim x
    %grid = gpu.grid_dim x
    %warps = gpu.num_subgroups : index
    %sum = affine.apply affine_map<()[s0, s1, s2, s3, s4] -> (s0 + s1 + s2 + s3 * 4 + s4)>()[%id, %size, %grid, %warps, %n]
    %part = memref.subview %a[%sum] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %part, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }

  // So is the thread id along a dimension of size one, and none of the others.
  gpu.func @thread_ids(%a: memref<256xf32>, %b: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %y = gpu.thread_id y
    %uniform = memref.subview %a[%y] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %uniform, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %x = gpu.thread_id x
    %divergent = memref.subview %a[%x] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %divergent, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }

  // Lanes, subgroups, and whatever threads exchange.
  gpu.func @divergent_sources(%a: memref<256xf32>, %b: memref<64xf32>, %n: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.lane_id
    %of_lane = memref.subview %a[%lane] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %of_lane, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %warp = gpu.subgroup_id : index
    %of_warp = memref.subview %a[%warp] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %of_warp, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %global = gpu.global_id x
    %of_global = memref.subview %a[%global] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %of_global, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %width = arith.constant 32 : i32
    %shuffled, %valid = gpu.shuffle xor %n, %n, %width : i32
    %distance = arith.index_cast %shuffled : i32 to index
    %of_shuffle = memref.subview %a[%distance] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %of_shuffle, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }

  // Operations that this analysis does not know may read a thread id.
  gpu.func @unknown_operation(%a: memref<256xf32>, %b: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = nvvm.read.ptx.sreg.tid.x : i32
    %i = arith.index_cast %x : i32 to index
    %part = memref.subview %a[%i] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %part, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }

  // A value from memory that the kernel writes: another thread may have changed it
  // between the loads of two.
  gpu.func @loaded(%indices: memref<4xindex>, %a: memref<256xf32>, %b: memref<64xf32>, %c: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = memref.load %indices[%c0] : memref<4xindex>
    memref.store %c0, %indices[%c0] : memref<4xindex>
    %part = memref.subview %a[%i] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %part, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %zero = arith.cmpi eq, %i, %c0 : index
    scf.if %zero {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %b, %c : memref<64xf32> to memref<64xf32>
    }
    gpu.return
  }
}

gpu.module @selected_values {
  // Both candidates are constants, but each thread gets its own.
  gpu.func @results_of_if(%a: memref<256xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %x = gpu.thread_id x
    %first = arith.cmpi ult, %x, %c16 : index
    %divergent = scf.if %first -> index {
      scf.yield %c0 : index
    } else {
      scf.yield %c1 : index
    }
    %mine = memref.subview %a[%divergent] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %mine, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %small = arith.cmpi ult, %n, %c16 : index
    %uniform = scf.if %small -> index {
      scf.yield %c0 : index
    } else {
      scf.yield %c1 : index
    }
    %ours = memref.subview %a[%uniform] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %ours, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }

  // The same for a choice between buffers.
  gpu.func @selected_buffer(%a: memref<64xf32>, %c: i1)
      workgroup(%v: memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16},
                %w: memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %first = arith.cmpi eq, %x, %c0 : index
    %mine = arith.select %first, %v, %w : memref<64xf32, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %a, %mine : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %ours = arith.select %c, %v, %w : memref<64xf32, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %a, %ours : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // The thread id enters in the second iteration, through two values that swap places.
  gpu.func @loop_carried(%a: memref<256xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0, %q = %x, %u = %n) -> (index, index, index) {
      %mine = memref.subview %a[%p] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %mine, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
      %ours = memref.subview %a[%u] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
      // expected-remark @+1 {{copy spread over the block}}
      memref.copy %ours, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
      scf.yield %q, %p, %i : index, index, index
    }
    gpu.return
  }

  // A count of iterations is as divergent as the end of its loop.
  gpu.func @results_of_loop(%a: memref<256xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    %divergent = scf.for %i = %c0 to %x step %c1 iter_args(%count = %c0) -> (index) {
      %next = arith.addi %count, %c1 : index
      scf.yield %next : index
    }
    %mine = memref.subview %a[%divergent] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %mine, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %uniform = scf.for %i = %c0 to %n step %c1 iter_args(%count = %c0) -> (index) {
      %next = arith.addi %count, %c1 : index
      scf.yield %next : index
    }
    %ours = memref.subview %a[%uniform] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %ours, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }
}

gpu.module @private_memory {
  // Each thread has its own of it, whichever way it comes.
  gpu.func @private(%a: memref<64xf32>, %b: memref<64xf32>)
      private(%p: memref<64xf32, #gpu.address_space<private>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %a, %p : memref<64xf32> to memref<64xf32, #gpu.address_space<private>>
    %q = memref.alloca() : memref<64xf32>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %a, %q : memref<64xf32> to memref<64xf32>
    %r = memref.alloca() : memref<64xf32, 5>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %r, %a : memref<64xf32, 5> to memref<64xf32>
    %s = memref.alloc() : memref<64xf32>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %s, %a : memref<64xf32> to memref<64xf32>
    cf.br ^next(%q, %b : memref<64xf32>, memref<64xf32>)
  ^next(%t: memref<64xf32>, %c: memref<64xf32>):
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %t, %a : memref<64xf32> to memref<64xf32>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %c, %a : memref<64xf32> to memref<64xf32>
    gpu.return
  }

  // Memory of the default space that comes through a loop is what went in.
  gpu.func @carried(%a: memref<64xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%m = %b) -> memref<64xf32> {
      // expected-remark @+1 {{copy spread over the block}}
      memref.copy %a, %m : memref<64xf32> to memref<64xf32>
      scf.yield %m : memref<64xf32>
    }
    %own = memref.alloca() : memref<64xf32>
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%m = %own) -> memref<64xf32> {
      // expected-remark @+1 {{copy done by each thread}}
      memref.copy %a, %m : memref<64xf32> to memref<64xf32>
      scf.yield %b : memref<64xf32>
    }
    gpu.return
  }
}

// The same before outlining, where block and thread ids are arguments of a launch.
func.func @launch(%a: memref<256xf32>, %b: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %n) {
    %of_block = memref.subview %a[%bx] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %of_block, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %of_size = memref.subview %a[%sz] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %of_size, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %of_y = memref.subview %a[%ty] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %of_y, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %of_x = memref.subview %a[%tx] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %of_x, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %of_z = memref.subview %a[%tz] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %of_z, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.terminator
  }
  return
}
