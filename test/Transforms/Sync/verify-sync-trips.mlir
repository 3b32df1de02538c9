// Threads with bounds of their own that iterate as often as the others take a loop together: barriers in it are for all.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s

// Of three barriers two are needed: one between the load and the next iteration's store, one between
// the store and the load.
// CHECK-LABEL: gpu.func @from_thread
// CHECK:         scf.for
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      memref.store
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      memref.store
// CHECK-NEXT:    }
gpu.module @kernels {
  gpu.func @from_thread(%x: memref<256xf32> {llvm.noalias}, %y: memref<256xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %u = arith.subi %c63, %t : index
    scf.for %i = %t to %c256 step %c64 {
      %v = memref.load %x[%i] : memref<256xf32>
      gpu.barrier
      memref.store %v, %S[%t] : memref<64xf32, 3>
      gpu.barrier
      gpu.barrier
      %w = memref.load %S[%u] : memref<64xf32, 3>
      memref.store %w, %y[%i] : memref<256xf32>
    }
    gpu.return
  }

  // To a multiple of the step that only the launch knows; by affine.for, too.
  gpu.func @dynamic(%x: memref<?xf32> {llvm.noalias}, %n: index) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %u = arith.subi %c63, %t : index
    %end = arith.muli %n, %c64 : index
    scf.for %i = %t to %end step %c64 {
      %v = memref.load %x[%i] : memref<?xf32>
      gpu.barrier
      memref.store %v, %S[%t] : memref<64xf32, 3>
      gpu.barrier
      %w = memref.load %S[%u] : memref<64xf32, 3>
      memref.store %w, %x[%i] : memref<?xf32>
    }
    gpu.return
  }

  gpu.func @affine(%x: memref<256xf32> {llvm.noalias}) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c63 = arith.constant 63 : index
    %u = arith.subi %c63, %t : index
    affine.for %i = affine_map<(d0) -> (d0)>(%t) to 256 step 64 {
      %v = memref.load %x[%i] : memref<256xf32>
      gpu.barrier
      memref.store %v, %S[%t] : memref<64xf32, 3>
      gpu.barrier
      %w = memref.load %S[%u] : memref<64xf32, 3>
      memref.store %w, %x[%i] : memref<256xf32>
    }
    gpu.return
  }
}

// -----

// One iteration more in some threads.
// CHECK-LABEL: gpu.func @uneven
// CHECK:         gpu.barrier
gpu.module @kernels {
  gpu.func @uneven(%x: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %c200 = arith.constant 200 : index
    scf.for %i = %t to %c200 step %c64 {
      // expected-error @below {{barrier in divergent control flow}}
      gpu.barrier
    }
    gpu.return
  }

  // A step that is too short, and a size of which nothing is known.
  gpu.func @short(%x: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    scf.for %i = %t to %c256 step %c32 {
      // expected-error @below {{barrier in divergent control flow}}
      gpu.barrier
    }
    gpu.return
  }

  gpu.func @unknown(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    scf.for %i = %t to %n step %c64 {
      // expected-error @below {{barrier in divergent control flow}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Loops that test what they carry: in blocks, and as scf.while.
// CHECK-LABEL: gpu.func @blocks
// CHECK:         gpu.barrier
gpu.module @kernels {
  gpu.func @blocks(%x: memref<256xf32> {llvm.noalias}, %n: index) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %u = arith.subi %c63, %t : index
    %end = arith.muli %n, %c64 : index
    cf.br ^test(%t : index)
  ^test(%i: index):
    %more = arith.cmpi slt, %i, %end : index
    cf.cond_br %more, ^body, ^end
  ^body:
    %v = memref.load %x[%i] : memref<256xf32>
    gpu.barrier
    memref.store %v, %S[%t] : memref<64xf32, 3>
    gpu.barrier
    %w = memref.load %S[%u] : memref<64xf32, 3>
    memref.store %w, %x[%i] : memref<256xf32>
    %next = arith.addi %i, %c64 : index
    cf.br ^test(%next : index)
  ^end:
    gpu.return
  }

  // From the warp on, over eight rows.
  gpu.func @while() workgroup(%S: memref<64xi32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c63 = arith.constant 63 : index
    %u = arith.subi %c63, %t : index
    %warp = arith.divui %t, %c32 : index
    %last = scf.while (%i = %warp) : (index) -> index {
      %more = arith.cmpi slt, %i, %c8 : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      %v = arith.index_cast %i : index to i32
      memref.store %v, %S[%t] : memref<64xi32, 3>
      gpu.barrier
      %w = memref.load %S[%u] : memref<64xi32, 3>
      gpu.barrier
      %next = arith.addi %i, %c2 : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// One iteration more in some threads: the bound, and the step, are not multiples.
// CHECK-LABEL: gpu.func @uneven_blocks
// CHECK:         gpu.barrier
gpu.module @kernels {
  gpu.func @uneven_blocks(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %whole = arith.muli %n, %c64 : index
    %end = arith.addi %whole, %c1 : index
    cf.br ^test(%t : index)
  ^test(%i: index):
    %more = arith.cmpi slt, %i, %end : index
    cf.cond_br %more, ^body, ^end
  ^body:
    // expected-error @below {{barrier in divergent control flow}}
    gpu.barrier
    %next = arith.addi %i, %c64 : index
    cf.br ^test(%next : index)
  ^end:
    gpu.return
  }

  gpu.func @short_while() kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %last = scf.while (%i = %t) : (index) -> index {
      %more = arith.cmpi slt, %i, %c256 : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      // expected-error @below {{barrier in divergent control flow}}
      gpu.barrier
      %next = arith.addi %i, %c32 : index
      scf.yield %next : index
    }
    gpu.return
  }
}
