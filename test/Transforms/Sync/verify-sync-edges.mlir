// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Edges between blocks that go to places of their own: the header of a loop, a block that several
// paths lead to, a case.

// Lanes of one warp race in a loop that the other warp does not enter.
gpu.module @m {
  gpu.func @loop_of_one_warp(%n: index, %x: i32) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %u = arith.subi %c31, %t : index
    %low = arith.cmpi ult, %t, %c32 : index
    cf.cond_br %low, ^head(%c0 : index), ^end
  ^head(%i: index):
    // expected-note @+1 {{the other access}}
    memref.store %x, %A[%t] : memref<64xi32, #gpu.address_space<workgroup>>
    // expected-error @+1 {{data race on workgroup memory}}
    memref.store %x, %A[%u] : memref<64xi32, #gpu.address_space<workgroup>>
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi slt, %next, %n : index
    cf.cond_br %more, ^head(%next : index), ^end
  ^end:
    gpu.return
  }
}

// -----

// Left in two places, that loop has no order that is understood. Nor has what else the warp does.
gpu.module @m {
  gpu.func @loop_of_one_warp_with_two_ways_out(%n: index, %x: i32, %stop: i1) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %u = arith.subi %c31, %t : index
    %low = arith.cmpi ult, %t, %c32 : index
    cf.cond_br %low, ^head(%c0 : index), ^end
  ^head(%i: index):
    // expected-warning @+1 {{possible data race on memory that threads share: the branches between these blocks are no nest of loops}}
    memref.store %x, %A[%t] : memref<64xi32, #gpu.address_space<workgroup>>
    cf.cond_br %stop, ^end, ^rest
  ^rest:
    memref.store %x, %A[%u] : memref<64xi32, #gpu.address_space<workgroup>>
    %more = arith.cmpi ult, %i, %n : index
    %next = arith.addi %i, %c1 : index
    cf.cond_br %more, ^head(%next : index), ^end
  ^end:
    gpu.return
  }
}

// -----

// Only thread 0 gets to the store, by either way.
gpu.module @m {
  gpu.func @either_way(%x: i32) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %a = arith.cmpi eq, %t, %c0 : index
    cf.cond_br %a, ^store, ^other
  ^other:
    %b = arith.cmpi slt, %t, %c0 : index
    cf.cond_br %b, ^store, ^end
  ^store:
    memref.store %x, %A[%c0] : memref<64xi32, #gpu.address_space<workgroup>>
    cf.br ^end
  ^end:
    gpu.return
  }
}

// -----

// Threads 0 and 1 get there.
gpu.module @m {
  gpu.func @each_its_way(%x: i32) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %y = arith.index_cast %t : index to i32
    %a = arith.cmpi eq, %t, %c0 : index
    cf.cond_br %a, ^store, ^other
  ^other:
    %b = arith.cmpi eq, %t, %c1 : index
    cf.cond_br %b, ^store, ^end
  ^store:
    // expected-error @+2 {{cannot synchronize}}
    // expected-note @+1 {{the other access}}
    memref.store %y, %A[%c0] : memref<64xi32, #gpu.address_space<workgroup>>
    cf.br ^end
  ^end:
    gpu.return
  }
}

// -----

// One thread for each case.
gpu.module @m {
  gpu.func @cases(%x: i32) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %flag = arith.index_cast %t : index to i32
    cf.switch %flag : i32, [
      default: ^end,
      0: ^first,
      7: ^second
    ]
  ^first:
    memref.store %x, %A[%c0] : memref<64xi32, #gpu.address_space<workgroup>>
    cf.br ^end
  ^second:
    memref.store %x, %A[%c1] : memref<64xi32, #gpu.address_space<workgroup>>
    cf.br ^end
  ^end:
    gpu.return
  }
}

// -----

// All the others are more than one.
gpu.module @m {
  gpu.func @default(%x: i32) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %flag = arith.index_cast %t : index to i32
    cf.switch %flag : i32, [
      default: ^others,
      0: ^end,
      7: ^end
    ]
  ^others:
    // expected-error @+2 {{cannot synchronize}}
    // expected-note @+1 {{the other access}}
    memref.store %flag, %A[%c0] : memref<64xi32, #gpu.address_space<workgroup>>
    cf.br ^end
  ^end:
    gpu.return
  }
}

// -----

// The edge to the header of the loop tells who is in it.
gpu.module @m {
  gpu.func @loop_of_one_thread(%x: i32) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %t = gpu.thread_id x
    %low = arith.cmpi eq, %t, %c0 : index
    cf.cond_br %low, ^head(%c0 : index), ^end
  ^head(%i: index):
    memref.store %x, %A[%i] : memref<64xi32, #gpu.address_space<workgroup>>
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi ult, %next, %c2 : index
    cf.cond_br %more, ^head(%next : index), ^end
  ^end:
    gpu.return
  }
}

// -----

// A loop that all threads take or leave out, as canonicalization leaves it of scf.if and scf.for.
gpu.module @m {
  gpu.func @loop_at_once(%x: i32, %u: i1, %out: memref<64xi32> {llvm.noalias}) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %r = arith.subi %c63, %t : index
    cf.cond_br %u, ^head(%c0 : index), ^end
  ^head(%i: index):
    memref.store %x, %A[%t] : memref<64xi32, #gpu.address_space<workgroup>>
    gpu.barrier
    %v = memref.load %A[%r] : memref<64xi32, #gpu.address_space<workgroup>>
    memref.store %v, %out[%t] : memref<64xi32>
    gpu.barrier
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi ult, %next, %c2 : index
    cf.cond_br %more, ^head(%next : index), ^end
  ^end:
    gpu.return
  }
}

// -----

// A branch of some right before a loop, the header of which is where they meet: all start at the same.
gpu.module @m {
  gpu.func @before_a_loop(%x: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %some = arith.cmpi ult, %t, %c64 : index
    cf.cond_br %some, ^store, ^head(%c0 : index)
  ^store:
    memref.store %x, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    cf.br ^head(%c0 : index)
  ^head(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^body, ^end
  ^body:
    gpu.barrier
    %y = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %y, %out[%t] : memref<128xf32>
    %next = arith.addi %i, %c1 : index
    cf.br ^head(%next : index)
  ^end:
    gpu.return
  }
}

// -----

// Some start later.
gpu.module @m {
  gpu.func @later(%n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %some = arith.cmpi ult, %t, %c64 : index
    cf.cond_br %some, ^store, ^head(%c0 : index)
  ^store:
    cf.br ^head(%c1 : index)
  ^head(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^body, ^end
  ^body:
    // expected-error @+1 {{barrier in divergent control flow}}
    gpu.barrier
    %next = arith.addi %i, %c1 : index
    cf.br ^head(%next : index)
  ^end:
    gpu.return
  }
}
