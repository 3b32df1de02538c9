// Threads with bounds of their own that iterate as often as the others take a loop together: barriers in it are for all.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s

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
