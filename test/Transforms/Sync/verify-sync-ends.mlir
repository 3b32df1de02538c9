// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Loops with other tests than `<` of numbers with a sign: an iteration has all those before it, in which the
// test held as well.

// Rows 0 to 3 are written.
#wg = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @not_that_far(%out: memref<64xi32> {llvm.noalias}, %x: i32) workgroup(%F: memref<512xi32, #wg>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c383 = arith.constant 383 : index
    %t = gpu.thread_id x
    %h = arith.subi %c383, %t : index
    %v = memref.load %F[%h] : memref<512xi32, #wg>
    memref.store %v, %out[%t] : memref<64xi32>
    %r = scf.while (%a = %c0) : (index) -> index {
      %more = arith.cmpi ne, %a, %c4 : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%b: index):
      %row = arith.muli %b, %c64 : index
      %i = arith.addi %row, %t : index
      memref.store %x, %F[%i] : memref<512xi32, #wg>
      %next = arith.addi %b, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// The same by twos, and in branches: rows 0, 2, 4 and 6.
#wg = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @by_twos(%out: memref<64xi32> {llvm.noalias}, %x: i32) workgroup(%F: memref<1024xi32, #wg>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c575 = arith.constant 575 : index
    %t = gpu.thread_id x
    %h = arith.subi %c575, %t : index
    %v = memref.load %F[%h] : memref<1024xi32, #wg>
    memref.store %v, %out[%t] : memref<64xi32>
    cf.br ^head(%c0 : index)
  ^head(%a: index):
    %more = arith.cmpi ne, %a, %c8 : index
    cf.cond_br %more, ^body, ^end
  ^body:
    %row = arith.muli %a, %c64 : index
    %i = arith.addi %row, %t : index
    memref.store %x, %F[%i] : memref<1024xi32, #wg>
    %next = arith.addi %a, %c2 : index
    cf.br ^head(%next : index)
  ^end:
    gpu.return
  }
}

// -----

// Row 3 is one of those.
#wg = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @that_far(%out: memref<64xi32> {llvm.noalias}, %x: i32) workgroup(%F: memref<512xi32, #wg>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %t = gpu.thread_id x
    %h = arith.subi %c255, %t : index
    // expected-note @+1 {{the other access}}
    %v = memref.load %F[%h] : memref<512xi32, #wg>
    memref.store %v, %out[%t] : memref<64xi32>
    %r = scf.while (%a = %c0) : (index) -> index {
      %more = arith.cmpi ne, %a, %c4 : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%b: index):
      %row = arith.muli %b, %c64 : index
      %i = arith.addi %row, %t : index
      // expected-error @+1 {{data race on workgroup memory}}
      memref.store %x, %F[%i] : memref<512xi32, #wg>
      %next = arith.addi %b, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// It does so for some numbers only that are not known.
#wg = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @may_be_passed_by(%out: memref<64xi32> {llvm.noalias}, %x: i32, %n: index) workgroup(%F: memref<1024xi32, #wg>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c575 = arith.constant 575 : index
    %t = gpu.thread_id x
    %h = arith.subi %c575, %t : index
    // expected-note @+1 {{the other access}}
    %v = memref.load %F[%h] : memref<1024xi32, #wg>
    memref.store %v, %out[%t] : memref<64xi32>
    %r = scf.while (%a = %c0) : (index) -> index {
      %more = arith.cmpi ne, %a, %n : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%b: index):
      %row = arith.muli %b, %c64 : index
      %i = arith.addi %row, %t : index
      // expected-warning @+1 {{possible data race on workgroup memory}}
      memref.store %x, %F[%i] : memref<1024xi32, #wg>
      %next = arith.addi %b, %c2 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// There is no first iteration, so that there is no second one.
#wg = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @no_iteration(%x: i32) workgroup(%A: memref<64xi32, #wg>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %y = arith.index_cast %t : index to i32
    %r = scf.while (%a = %c0) : (index) -> index {
      %more = arith.cmpi ugt, %a, %c0 : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%b: index):
      memref.store %y, %A[%c0] : memref<64xi32, #wg>
      %next = arith.subi %b, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// Without a sign -1 is the largest number: whether there are iterations is not known.
#wg = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @without_sign(%n: index, %m: index) workgroup(%A: memref<64xi32, #wg>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %y = arith.index_cast %t : index to i32
    scf.for unsigned %i = %n to %m step %c1 {
      // expected-warning @+2 {{possible data race on workgroup memory}}
      // expected-note @+1 {{the other access}}
      memref.store %y, %A[%c0] : memref<64xi32, #wg>
    }
    gpu.return
  }
}
