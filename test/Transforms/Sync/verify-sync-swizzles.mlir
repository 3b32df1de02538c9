// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

// Rows that are swizzled by an exclusive or, and are no power of two long; how many there are only the launch knows.

gpu.module @m {
  // The key is a bit, and of the columns the lowest bit is known: even ones and odd ones do not meet.
  gpu.func @pairs(%x: vector<1xf32>, %n: index) workgroup(%v: memref<128x10xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    scf.for %i = %t to %n step %c128 {
      %half = arith.remui %i, %c5 : index
      %row = arith.divui %i, %c5 : index
      %column = arith.muli %half, %c2 : index
      %rows = arith.divui %row, %c16 : index
      %key = arith.remui %rows, %c2 : index
      %first = arith.xori %column, %key : index
      vector.store %x, %v[%row, %first] : memref<128x10xf32, #gpu.address_space<workgroup>>, vector<1xf32>
      %next = arith.addi %column, %c1 : index
      %second = arith.xori %next, %key : index
      vector.store %x, %v[%row, %second] : memref<128x10xf32, #gpu.address_space<workgroup>>, vector<1xf32>
    }
    gpu.return
  }

  // The key is of two bits; elements 0 and 1 of four.
  gpu.func @quads(%x: f32, %n: index) workgroup(%v: memref<64x20xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    scf.for %i = %t to %n step %c128 {
      %part = arith.remui %i, %c5 : index
      %row = arith.divui %i, %c5 : index
      %column = arith.muli %part, %c4 : index
      %key = arith.remui %row, %c4 : index
      %first = arith.xori %column, %key : index
      memref.store %x, %v[%row, %first] : memref<64x20xf32, #gpu.address_space<workgroup>>
      %next = arith.addi %column, %c1 : index
      %second = arith.xori %next, %key : index
      memref.store %x, %v[%row, %second] : memref<64x20xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // Four elements at a time: columns and keys are multiples of four.
  gpu.func @vectors(%x: vector<4xf32>, %n: index) workgroup(%v: memref<16x336xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c75 = arith.constant 75 : index
    %t = gpu.thread_id x
    scf.for %i = %t to %n step %c64 {
      %part = arith.remui %i, %c75 : index
      %row = arith.divui %i, %c75 : index
      %column = arith.muli %part, %c4 : index
      %number = arith.remui %row, %c4 : index
      %key = arith.muli %number, %c4 : index
      %at = arith.xori %column, %key : index
      vector.store %x, %v[%row, %at] : memref<16x336xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    }
    gpu.return
  }

  // The key is of the row and of the upper bits of the column, which it does not change.
  gpu.func @of_columns(%x: vector<2xf32>) workgroup(%v: memref<10x2000xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %c500 = arith.constant 500 : index
    %c5000 = arith.constant 5000 : index
    %t = gpu.thread_id x
    scf.for %i = %t to %c5000 step %c128 {
      %part = arith.remui %i, %c500 : index
      %row = arith.divui %i, %c500 : index
      %rows = arith.divui %row, %c2 : index
      %column = arith.muli %part, %c4 : index
      %lines = arith.divui %column, %c32 : index
      %mixed = arith.xori %rows, %lines : index
      %number = arith.remui %mixed, %c8 : index
      %key = arith.muli %number, %c2 : index
      %first = arith.xori %column, %key : index
      vector.store %x, %v[%row, %first] : memref<10x2000xf32, #gpu.address_space<workgroup>>, vector<2xf32>
      %next = arith.addi %column, %c2 : index
      %nextLines = arith.divui %next, %c32 : index
      %nextMixed = arith.xori %rows, %nextLines : index
      %nextNumber = arith.remui %nextMixed, %c8 : index
      %nextKey = arith.muli %nextNumber, %c2 : index
      %second = arith.xori %next, %nextKey : index
      vector.store %x, %v[%row, %second] : memref<10x2000xf32, #gpu.address_space<workgroup>>, vector<2xf32>
    }
    gpu.return
  }

  // The first lane of each warp, by a key of what is the same for all: the warp is told by the place, the thread by the warp.
  gpu.func @of_warps(%x: f32, %n: index) workgroup(%v: memref<30x2xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %n step %c1 {
      %lane = arith.remui %t, %c32 : index
      %isFirst = arith.cmpi eq, %lane, %c0 : index
      scf.if %isFirst {
        %warp = arith.divui %t, %c32 : index
        %rows = arith.divui %i, %c16 : index
        %key = arith.remui %rows, %c2 : index
        %at = arith.xori %warp, %key : index
        memref.store %x, %v[%i, %at] : memref<30x2xf32, #gpu.address_space<workgroup>>
      }
    }
    gpu.return
  }

  // A key of the column's own bits takes two columns to one place, 0 and 1 to 0.
  gpu.func @of_itself() workgroup(%v: memref<16xi32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %x = arith.index_cast %t : index to i32
    %isIn = arith.cmpi ult, %t, %c16 : index
    scf.if %isIn {
      %key = arith.remui %t, %c2 : index
      %at = arith.xori %t, %key : index
      // expected-error @+2 {{cannot synchronize}}
      // expected-note @+1 {{the other access}}
      memref.store %x, %v[%at] : memref<16xi32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // Keys of two rows differ, and so do those of two columns: where both do, places may be the same.
  gpu.func @two_keys(%n: index) workgroup(%v: memref<64xi32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %x = arith.index_cast %t : index to i32
    %column = arith.remui %t, %c8 : index
    %row = arith.divui %t, %c8 : index
    %at = arith.xori %column, %row : index
    // expected-error @+2 {{cannot synchronize}}
    // expected-note @+1 {{the other access}}
    memref.store %x, %v[%at] : memref<64xi32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // An odd number and a bit: 1 and 2 in iterations meet where the key of one is 1, of the other 0.
  gpu.func @other_keys(%k: index) workgroup(%v: memref<128xi32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %x = arith.index_cast %t : index to i32
    %even = arith.muli %t, %c2 : index
    %odd = arith.addi %even, %c1 : index
    %key = arith.divui %t, %c32 : index
    %first = arith.xori %odd, %key : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %v[%first] : memref<128xi32, #gpu.address_space<workgroup>>
    %back = arith.constant 63 : index
    %other = arith.subi %back, %t : index
    %evenBack = arith.muli %other, %c2 : index
    %oddBack = arith.addi %evenBack, %c1 : index
    %second = arith.xori %oddBack, %c1 : index
    // expected-error @+1 {{data race on}}
    memref.store %x, %v[%second] : memref<128xi32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // The key is of the row and of a bit of the column above that of the key, which the columns have in common.
  gpu.func @folded(%x: f32) workgroup(%v: memref<32x64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c2048 = arith.constant 2048 : index
    %t = gpu.thread_id x
    scf.for %i = %t to %c2048 step %c16 {
      %column = arith.remui %i, %c64 : index
      %row = arith.divui %i, %c64 : index
      %half = arith.divui %column, %c32 : index
      %mixed = arith.xori %row, %half : index
      %bit = arith.remui %mixed, %c2 : index
      %key = arith.muli %bit, %c4 : index
      %place = arith.xori %column, %key : index
      memref.store %x, %v[%row, %place] : memref<32x64xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }
}
