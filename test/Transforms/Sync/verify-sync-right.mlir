// RUN: mlir-opt %s --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null

// Nothing is wrong here, and all of it is proved.

#map_lane = affine_map<(d0) -> (d0 mod 32)>

gpu.module @m {
  gpu.func @global_id(%f: f32, %G: memref<?xf32>) kernel {
    %i = gpu.global_id x
    memref.store %f, %G[%i] : memref<?xf32>
    %v = memref.load %G[%i] : memref<?xf32>
    gpu.return
  }
  // The linear id in a block of unknown shape: y * size + x.
  gpu.func @linear_id(%f: f32, %G: memref<?xf32>) kernel {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %size = gpu.block_dim x
    %row = arith.muli %y, %size : index
    %i = arith.addi %row, %x : index
    memref.store %f, %G[%i] : memref<?xf32>
    %v = memref.load %G[%i] : memref<?xf32>
    gpu.return
  }
  // Threads in rows of a dynamic tensor, each in iterations of the block's size.
  gpu.func @grid_stride(%f: f32, %G: memref<?xf32>, %n: index) kernel {
    %t = gpu.thread_id x
    %size = gpu.block_dim x
    scf.for %i = %t to %n step %size {
      memref.store %f, %G[%i] : memref<?xf32>
    }
    gpu.return
  }
  gpu.func @lanes(%f: f32) workgroup(%S: memref<4x32xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c31 = arith.constant 31 : index
    %all = arith.constant -1 : i32
    %lane = gpu.lane_id
    %warp = gpu.subgroup_id : index
    %other = arith.subi %c31, %lane : index
    memref.store %f, %S[%warp, %lane] : memref<4x32xf32, 3>
    nvvm.bar.warp.sync %all : i32
    %v = memref.load %S[%warp, %other] : memref<4x32xf32, 3>
    gpu.return
  }
  // Narrow integers, as frontends write them.
  gpu.func @narrow(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : i32
    %t = gpu.thread_id x
    %id = arith.index_cast %t : index to i32
    %masked = arith.andi %id, %c127 : i32
    %i = arith.index_cast %masked : i32 to index
    memref.store %f, %S[%i] : memref<128xf32, 3>
    %v = memref.load %S[%t] : memref<128xf32, 3>
    gpu.return
  }
  gpu.func @ptx_id(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %id = nvvm.read.ptx.sreg.tid.x : i32
    %i = arith.index_cast %id : i32 to index
    memref.store %f, %S[%i] : memref<128xf32, 3>
    %t = gpu.thread_id x
    %v = memref.load %S[%t] : memref<128xf32, 3>
    gpu.return
  }
  // One thread writes, all read behind a barrier.
  gpu.func @leader(%f: f32) workgroup(%S: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      memref.store %f, %S[%c0] : memref<1xf32, 3>
    }
    gpu.barrier
    %v = memref.load %S[%c0] : memref<1xf32, 3>
    gpu.return
  }
  // Three slots; the one that is filled was read two iterations ago, and a barrier of
  // the iteration before lies between.
  gpu.func @ring(%f: f32, %n: index) workgroup(%S: memref<3x128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%c0, %t] : memref<3x128xf32, 3>
    scf.for %i = %c0 to %n step %c1 {
      %ahead = arith.addi %i, %c1 : index
      %fill = arith.remui %ahead, %c3 : index
      %use = arith.remui %i, %c3 : index
      memref.store %f, %S[%fill, %t] : memref<3x128xf32, 3>
      gpu.barrier
      %v = memref.load %S[%use, %u] : memref<3x128xf32, 3>
    }
    gpu.return
  }
  // All warps load matrices of 8 x 8 that each warp stored for itself.
  gpu.func @matrices(%f: f16) workgroup(%S: memref<4x8x8xf16, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %lane = affine.apply #map_lane(%t)
    %c32 = arith.constant 32 : index
    %warp = arith.divui %t, %c32 : index
    %row = arith.remui %lane, %c8 : index
    %quarter = arith.divui %lane, %c8 : index
    %c2 = arith.constant 2 : index
    %column = arith.muli %quarter, %c2 : index
    %pair = vector.broadcast %f : f16 to vector<2xf16>
    vector.store %pair, %S[%warp, %row, %column] : memref<4x8x8xf16, 3>, vector<2xf16>
    nvvm.bar.warp.sync %all : i32
    %v = nvgpu.ldmatrix %S[%warp, %row, %c0] {numTiles = 1 : i32, transpose = false} : memref<4x8x8xf16, 3> -> vector<1x2xf16>
    gpu.return
  }

  // In the iteration that reads what was stored before the loop, a barrier has been passed, whether
  // the branch is taken or not.
  gpu.func @branch_in_loop(%f: f32, %is: i1, %out: memref<?xf32> {llvm.noalias})
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%c2, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
    scf.for %i = %c0 to %c2 step %c1 {
      scf.if %is {
        %slot = arith.addi %i, %c1 : index
        %x = memref.load %S[%slot, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
        memref.store %x, %out[%t] : memref<?xf32>
      }
      gpu.barrier
    }
    gpu.return
  }

  // Half as many threads each iteration: that the number is never negative follows by induction.
  gpu.func @tree() workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %last = scf.while (%half = %c64) : (index) -> index {
      gpu.barrier
      %more = arith.cmpi ugt, %half, %c0 : index
      scf.condition(%more) %half : index
    } do {
    ^bb0(%half: index):
      %few = arith.cmpi ult, %t, %half : index
      scf.if %few {
        %other = arith.addi %t, %half : index
        %x = memref.load %S[%t] : memref<128xf32, 3>
        %y = memref.load %S[%other] : memref<128xf32, 3>
        %sum = arith.addf %x, %y : f32
        memref.store %sum, %S[%t] : memref<128xf32, 3>
      }
      %next = arith.shrui %half, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }

  // One slot is written while the other one is read.
  gpu.func @toggles(%f: f32, %n: index, %out: memref<?x128xf32> {llvm.noalias}) workgroup(%S: memref<2x128xf32, 3>, %T: memref<4x128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c1, %q = %c1) -> (index, index) {
      memref.store %f, %S[%s, %t] : memref<2x128xf32, 3>
      memref.store %f, %T[%q, %t] : memref<4x128xf32, 3>
      gpu.barrier
      %x = memref.load %S[%s, %u] : memref<2x128xf32, 3>
      %y = memref.load %T[%q, %u] : memref<4x128xf32, 3>
      %z = arith.addf %x, %y : f32
      memref.store %z, %out[%i, %t] : memref<?x128xf32>
      %next = arith.subi %c1, %s : index
      %flipped = arith.xori %q, %c2 : index
      scf.yield %next, %flipped : index, index
    }
    gpu.return
  }

  // A slot comes again two iterations later. Who stores then has met the barrier of the iteration between,
  // as it is the same in all iterations who takes the branch.
  gpu.func @iteration_between(%f: f32, %is: i1, %n: index, %out: memref<?x128xf32> {llvm.noalias}) workgroup(%S: memref<2x128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      scf.if %is {
        %slot = arith.remui %i, %c2 : index
        memref.store %f, %S[%slot, %t] : memref<2x128xf32, 3>
        gpu.barrier
        %x = memref.load %S[%slot, %u] : memref<2x128xf32, 3>
        memref.store %x, %out[%i, %t] : memref<?x128xf32>
      }
    }
    gpu.return
  }

  // The inner branch would part the second warp, which never gets to it.
  gpu.func @parts_no_warp(%f: f32, %out: memref<?xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %c40 = arith.constant 40 : index
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %low = arith.cmpi ult, %t, %c32 : index
    scf.if %low {
      %some = arith.cmpi ult, %t, %c40 : index
      scf.if %some {
        %u = arith.subi %c31, %t : index
        memref.store %f, %S[%t] : memref<128xf32, 3>
        nvvm.bar.warp.sync %all : i32
        %x = memref.load %S[%u] : memref<128xf32, 3>
        memref.store %x, %out[%t] : memref<?xf32>
      }
    }
    gpu.return
  }

  // A loop that compares without signs has no other iterations for other threads.
  gpu.func @unsigned(%x: f32, %n: i32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for unsigned %i = %c0 to %n step %c1 : i32 {
      memref.store %x, %S[%t] : memref<128xf32, 3>
      gpu.barrier
      %y = memref.load %S[%u] : memref<128xf32, 3>
      memref.store %y, %out[%t] : memref<128xf32>
      gpu.barrier
    }
    gpu.return
  }

  // All threads enter the scope of an allocation.
  gpu.func @scope(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.alloca_scope {
      memref.store %x, %S[%t] : memref<128xf32, 3>
      gpu.barrier
      %y = memref.load %S[%u] : memref<128xf32, 3>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // Each lane gets to one of the two (PTX ISA, bar.warp.sync).
  gpu.func @one_in_each_arm(%x: f32, %out: memref<32xf32> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c16 = arith.constant 16 : index
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %is_low = arith.cmpi ult, %t, %c16 : index
    scf.if %is_low {
      nvvm.bar.warp.sync %all : i32
      memref.store %x, %out[%t] : memref<32xf32>
    } else {
      nvvm.bar.warp.sync %all : i32
    }
    gpu.return
  }
  // A number below another one does not wrap where one is added: three slots in turn.
  gpu.func @narrow_counter(%f: f32, %n: i32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<3x128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %end = scf.while (%i = %zero) : (i32) -> i32 {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      %slot = arith.remsi %i, %three : i32
      %row = arith.index_cast %slot : i32 to index
      memref.store %f, %S[%row, %t] : memref<3x128xf32, 3>
      gpu.barrier
      %v = memref.load %S[%row, %u] : memref<3x128xf32, 3>
      memref.store %v, %out[%t] : memref<128xf32>
      %next = arith.addi %i, %one : i32
      scf.yield %next : i32
    }
    gpu.return
  }
  gpu.func @narrow_counter_of_blocks(%f: f32, %n: i32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<3x128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    cf.br ^test(%zero : i32)
  ^test(%i: i32):
    %done = arith.cmpi sle, %n, %i : i32
    cf.cond_br %done, ^end, ^body
  ^body:
    %slot = arith.remsi %i, %three : i32
    %row = arith.index_cast %slot : i32 to index
    memref.store %f, %S[%row, %t] : memref<3x128xf32, 3>
    gpu.barrier
    %v = memref.load %S[%row, %u] : memref<3x128xf32, 3>
    memref.store %v, %out[%t] : memref<128xf32>
    %next = arith.addi %i, %one : i32
    cf.br ^test(%next : i32)
  ^end:
    gpu.return
  }
  // A counter of which only one value passes the test.
  gpu.func @counter_of_one(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0 : i8
    %one = arith.constant 1 : i8
    %t = gpu.thread_id x
    %end = scf.while (%i = %zero) : (i8) -> i8 {
      %more = arith.cmpi ult, %i, %one : i8
      scf.condition(%more) %i : i8
    } do {
    ^bb0(%i: i8):
      memref.store %f, %S[%t] : memref<128xf32, 3>
      %next = arith.addi %i, %one : i8
      scf.yield %next : i8
    }
    gpu.return
  }
}
