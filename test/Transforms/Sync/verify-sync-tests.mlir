// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Loops end when their test fails, whether it would hold again behind that or not. 64 threads; t is the
// thread, u = 63 - t.

// Rows 0 to 3 are written, not 5.
!m = memref<512xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @not_equal(%x: i32, %out: memref<64xi32> {llvm.noalias}) workgroup(%F: !m) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c320 = arith.constant 320 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %h = arith.addi %u, %c320 : index
    %v = memref.load %F[%h] : !m
    memref.store %v, %out[%t] : memref<64xi32>
    scf.while (%a = %c0) : (index) -> index {
      %more = arith.cmpi ne, %a, %c4 : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%b: index):
      %row = arith.muli %b, %c64 : index
      %i = arith.addi %row, %t : index
      memref.store %x, %F[%i] : !m
      %next = arith.addi %b, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// And row 3.
!m = memref<512xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @not_equal_yet(%x: i32, %out: memref<64xi32> {llvm.noalias}) workgroup(%F: !m) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c192 = arith.constant 192 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %h = arith.addi %u, %c192 : index
    // expected-note @+1 {{the other access}}
    %v = memref.load %F[%h] : !m
    memref.store %v, %out[%t] : memref<64xi32>
    cf.br ^head(%c0 : index)
  ^head(%a: index):
    %more = arith.cmpi ne, %a, %c4 : index
    cf.cond_br %more, ^body, ^end
  ^body:
    %row = arith.muli %a, %c64 : index
    %i = arith.addi %row, %t : index
    // expected-error @+1 {{data race on workgroup memory}}
    memref.store %x, %F[%i] : !m
    %next = arith.addi %a, %c1 : index
    cf.br ^head(%next : index)
  ^end:
    gpu.return
  }
}

// -----

// 0 > 0 does not hold. Behind it, -1 > 0 as unsigned numbers would.
gpu.module @m {
  gpu.func @never(%x: i32) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.while (%a = %c0) : (index) -> index {
      %more = arith.cmpi ugt, %a, %c0 : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%b: index):
      memref.store %x, %A[%c0] : memref<64xi32, #gpu.address_space<workgroup>>
      %next = arith.subi %b, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// Less than 2 of three: holds in iterations 3 and 4 again, which there are not. So it is not certain.
!m = memref<512xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @again(%x: i32, %out: memref<64xi32> {llvm.noalias}) workgroup(%F: !m) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %h = arith.addi %u, %c256 : index
    // expected-note @+1 {{the other access}}
    %v = memref.load %F[%h] : !m
    memref.store %v, %out[%t] : memref<64xi32>
    scf.while (%a = %c0) : (index) -> index {
      %part = arith.remui %a, %c3 : index
      %more = arith.cmpi slt, %part, %c2 : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%b: index):
      %row = arith.muli %b, %c64 : index
      %i = arith.addi %row, %t : index
      // expected-warning @+1 {{possible data race on workgroup memory}}
      memref.store %x, %F[%i] : !m
      %next = arith.addi %b, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// Each thread counts from where it stands; how often is the same for all.
gpu.module @m {
  gpu.func @from_own_place(%x: i32, %n: index, %out: memref<?xi32> {llvm.noalias}) workgroup(%A: memref<64xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %first = arith.addi %t, %c1 : index
    %last = arith.addi %t, %n : index
    scf.for %i = %first to %last step %c1 {
      memref.store %x, %A[%t] : memref<64xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      %v = memref.load %A[%u] : memref<64xi32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<?xi32>
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Not so if only the end is the same.
gpu.module @m {
  gpu.func @to_one_place(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    scf.for %i = %t to %n step %c1 {
      // expected-error @+1 {{barrier in divergent control flow}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Halved by whatever division, a number stays at zero or above.
!m = memref<256xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @floored() workgroup(%S: !m) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c256 = arith.constant 256 : index
    %last = scf.while (%a = %c256) : (index) -> index {
      %more = arith.cmpi ugt, %a, %c1 : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%b: index):
      %half = arith.floordivsi %b, %c2 : index
      %is = arith.cmpi ult, %t, %half : index
      scf.if %is {
        %other = arith.addi %t, %half : index
        %x = memref.load %S[%other] : !m
        memref.store %x, %S[%t] : !m
      }
      gpu.barrier
      scf.yield %half : index
    }
    gpu.return
  }
}

// -----

// Halved by whatever division, a number stays at zero or above.
!m = memref<256xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @affine() workgroup(%S: !m) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c256 = arith.constant 256 : index
    %last = scf.while (%a = %c256) : (index) -> index {
      %more = arith.cmpi ugt, %a, %c1 : index
      scf.condition(%more) %a : index
    } do {
    ^bb0(%b: index):
      %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%b)
      %is = arith.cmpi ult, %t, %half : index
      scf.if %is {
        %other = arith.addi %t, %half : index
        %x = memref.load %S[%other] : !m
        memref.store %x, %S[%t] : !m
      }
      gpu.barrier
      scf.yield %half : index
    }
    gpu.return
  }
}
