// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Barriers in loops and behind branches that all threads take alike, though that is not plain to see.

// The bounds differ between threads, the numbers of iterations do not.
gpu.module @m {
  gpu.func @bounds(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %from = arith.addi %t, %c1 : index
    %to = arith.addi %t, %n : index
    scf.for %i = %from to %to step %c1 {
      gpu.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @lengths(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %to = arith.addi %t, %n : index
    scf.for %i = %c1 to %to step %c1 {
      // expected-error @+1 {{barrier in divergent control flow}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Without a sign the end may be below the begin for some threads only.
gpu.module @m {
  gpu.func @without_sign(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %from = arith.addi %t, %n : index
    %to = arith.addi %from, %c1 : index
    scf.for unsigned %i = %from to %to step %c1 {
      // expected-error @+1 {{barrier in divergent control flow}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Threads part and meet again in each iteration. What is asked in the next one was there before.
gpu.module @m {
  gpu.func @behind_a_branch(%n: index, %x: i32) workgroup(%A: memref<64xi32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    cf.br ^head(%c0 : index)
  ^head(%i: index):
    %more = arith.cmpi slt, %i, %c3 : index
    cf.cond_br %more, ^body(%i : index), ^end
  ^body(%j: index):
    %r = arith.remui %n, %c3 : index
    %f = arith.index_cast %r : index to i32
    cf.switch %f : i32, [
      default: ^part,
      1: ^wait
    ]
  ^wait:
    gpu.barrier
    cf.br ^latch
  ^part:
    %low = arith.cmpi ult, %t, %c16 : index
    cf.cond_br %low, ^store, ^latch
  ^store:
    memref.store %x, %A[%t] : memref<64xi32, 3>
    cf.br ^latch
  ^latch:
    %next = arith.addi %j, %c1 : index
    cf.br ^head(%next : index)
  ^end:
    gpu.return
  }
}

// -----

// What is asked comes of how they parted.
gpu.module @m {
  gpu.func @of_a_branch(%n: index, %x: i32) workgroup(%A: memref<64xi32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    cf.br ^head(%c0, %n : index, index)
  ^head(%i: index, %m: index):
    %more = arith.cmpi slt, %i, %c3 : index
    cf.cond_br %more, ^body(%i : index), ^end
  ^body(%j: index):
    %r = arith.remui %m, %c3 : index
    %f = arith.index_cast %r : index to i32
    cf.switch %f : i32, [
      default: ^part,
      1: ^wait
    ]
  ^wait:
    // expected-error @+1 {{barrier in divergent control flow}}
    gpu.barrier
    cf.br ^latch(%m : index)
  ^part:
    %low = arith.cmpi ult, %t, %c16 : index
    cf.cond_br %low, ^store, ^latch(%m : index)
  ^store:
    memref.store %x, %A[%t] : memref<64xi32, 3>
    cf.br ^latch(%c1 : index)
  ^latch(%k: index):
    %next = arith.addi %j, %c1 : index
    cf.br ^head(%next, %k : index, index)
  ^end:
    gpu.return
  }
}
