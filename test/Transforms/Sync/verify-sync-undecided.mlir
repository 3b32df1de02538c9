// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// What a loop that is left leaves behind: each thread has left in an iteration of its own.

gpu.module @m {
  gpu.func @branch() kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    cf.br ^loop(%c0 : index)
  ^loop(%i: index):
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi slt, %next, %t : index
    cf.cond_br %more, ^loop(%next : index), ^behind
  ^behind:
    %some = arith.cmpi eq, %i, %c4 : index
    cf.cond_br %some, ^meet, ^end
  ^meet:
    // expected-error @+1 {{barrier in divergent control flow: 'gpu.barrier' is not known to be reached by all threads of the block together}}
    gpu.barrier
    cf.br ^end
  ^end:
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @bound() kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    cf.br ^loop(%c0 : index)
  ^loop(%i: index):
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi slt, %next, %t : index
    cf.cond_br %more, ^loop(%next : index), ^behind
  ^behind:
    scf.for %j = %c0 to %i step %c1 {
      // expected-error @+1 {{barrier in divergent control flow}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// All of them in the same iteration.
gpu.module @m {
  gpu.func @together(%n: index, %x: f32, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    memref.store %x, %S[%t] : memref<64xf32, 3>
    cf.br ^loop(%c0 : index)
  ^loop(%i: index):
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi slt, %next, %n : index
    cf.cond_br %more, ^loop(%next : index), ^behind
  ^behind:
    %some = arith.cmpi eq, %i, %c4 : index
    cf.cond_br %some, ^meet, ^end
  ^meet:
    gpu.barrier
    %v = memref.load %S[%u] : memref<64xf32, 3>
    memref.store %v, %out[%t] : memref<64xf32>
    cf.br ^end
  ^end:
    gpu.return
  }
}

// -----

// To blocks that no branch goes to no thread gets.
gpu.module @m {
  gpu.func @unreachable(%x: f32, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c63 = arith.constant 63 : index
    %true = arith.constant true
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    memref.store %x, %S[%t] : memref<64xf32, 3>
    cf.br ^end
  ^loop:
    scf.if %true {
      memref.store %x, %S[%u] : memref<64xf32, 3>
    }
    cf.cond_br %true, ^loop, ^end
  ^end:
    %v = memref.load %S[%t] : memref<64xf32, 3>
    memref.store %v, %out[%t] : memref<64xf32>
    gpu.return
  }
}
