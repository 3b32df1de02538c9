// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers{named-barriers},workgroup-verify-sync)' --verify-diagnostics -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-insert-barriers{named-barriers})' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' -o %t.least
// RUN: diff %t.once %t.least

// Warps that take a path of their own meet at a barrier of their own, if that is allowed.

!S = memref<128xf32, #gpu.address_space<workgroup>>
!S8 = memref<8x128xf32, #gpu.address_space<workgroup>>

gpu.module @m {
  // Two warps, and none of the others.
  // CHECK-LABEL: gpu.func @two_warps(
  // CHECK:         scf.if
  // CHECK:           memref.store
  // CHECK-NEXT:      %[[ID:.+]] = arith.constant 1 : i32
  // CHECK-NEXT:      %[[COUNT:.+]] = arith.constant 64 : i32
  // CHECK-NEXT:      nvvm.barrier id = %[[ID]] number_of_threads = %[[COUNT]]
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @two_warps(%out: memref<128xf32>, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %is_low = arith.cmpi ult, %t, %c64 : index
    scf.if %is_low {
      memref.store %x, %S[%t] : !S
      %y = memref.load %S[%u] : !S
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // Each branch region has its own number. What lanes of a warp do to each other is ordered by it, too. A
  // loop iterates in a branch region; what is read of it in the next iteration is one hazard more.
  // CHECK-LABEL: gpu.func @both_arms(
  // CHECK:         scf.if
  // CHECK:           scf.for
  // CHECK:             arith.constant 1 : i32
  // CHECK:             arith.constant 64 : i32
  // CHECK:             nvvm.barrier
  // CHECK:             memref.store
  // CHECK:             arith.constant 1 : i32
  // CHECK:             arith.constant 64 : i32
  // CHECK:             nvvm.barrier
  // CHECK:             memref.load
  // CHECK:         } else {
  // CHECK:           memref.store
  // CHECK:           arith.constant 2 : i32
  // CHECK:           arith.constant 64 : i32
  // CHECK:           nvvm.barrier
  // CHECK:           memref.load
  // CHECK-NOT:       barrier
  // CHECK:         gpu.return
  gpu.func @both_arms(%out: memref<128xf32>, %x: f32, %n: index) workgroup(%A: !S, %B: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %t1 = arith.addi %t, %c1 : index
    %next = arith.remui %t1, %c64 : index
    %u = arith.subi %c127, %t : index
    %v = arith.addi %u, %c64 : index
    %is_low = arith.cmpi ult, %t, %c64 : index
    scf.if %is_low {
      scf.for %i = %c0 to %n step %c1 {
        memref.store %x, %A[%t] : !S
        %y = memref.load %A[%next] : !S
        memref.store %y, %out[%t] : memref<128xf32>
      }
    } else {
      memref.store %x, %B[%t] : !S
      %y = memref.load %B[%v] : !S
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // What comes in a later iteration of a loop around is ordered by a barrier of the block, around the
  // branch; numbers that are taken are left alone.
  // CHECK-LABEL: gpu.func @around(
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      scf.if
  // CHECK:             memref.store
  // CHECK:             arith.constant 1 : i32
  // CHECK:             arith.constant 96 : i32
  // CHECK:             nvvm.barrier
  gpu.func @around(%out: memref<128xf32>, %x: f32, %n: index) workgroup(%S: !S, %T: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c95 = arith.constant 95 : index
    %c96 = arith.constant 96 : index
    %i2 = arith.constant 2 : i32
    %i32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c95, %t : index
    %is_low = arith.cmpi ult, %t, %c96 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.if %is_low {
        memref.store %x, %S[%t] : !S
        %y = memref.load %S[%u] : !S
        memref.store %y, %out[%t] : memref<128xf32>
      } else {
        nvvm.barrier id = %i2 number_of_threads = %i32
      }
    }
    gpu.return
  }

  // What is read in one iteration of the loop around and written in the next is no matter of the part,
  // even if its barrier orders the same in one iteration.
  // CHECK-LABEL: gpu.func @next_iteration(
  // CHECK:         memref.store
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      scf.if
  // CHECK:             nvvm.barrier
  // CHECK-NOT:       barrier
  // CHECK:         gpu.return
  gpu.func @next_iteration(%x: f32, %out: memref<128xf32>) workgroup(%S: !S8) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %p = arith.cmpi ult, %t, %c64 : index
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %x, %S[%i, %t] : !S8
    }
    scf.for %i = %c0 to %c4 step %c1 {
      scf.if %p {
        scf.for %j = %c0 to %c2 step %c1 {
          %is1 = arith.cmpi eq, %j, %c1 : index
          %is0 = arith.cmpi eq, %j, %c0 : index
          scf.if %is1 {
            %odd = arith.remui %t, %c2 : index
            %r = arith.addi %i, %odd : index
            %y = memref.load %S[%r, %u] : !S8
            memref.store %y, %out[%t] : memref<128xf32>
          }
          scf.if %is0 {
            memref.store %x, %S[%i, %t] : !S8
          }
        }
      }
    }
    gpu.return
  }

  // The same warps may use the same number again.
  // CHECK-LABEL: gpu.func @twice(
  // CHECK:         arith.constant 1 : i32
  // CHECK:         nvvm.barrier
  // CHECK:         gpu.barrier
  // CHECK:         arith.constant 1 : i32
  // CHECK:         nvvm.barrier
  gpu.func @twice(%out: memref<128xf32>, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %is_low = arith.cmpi ult, %t, %c64 : index
    scf.if %is_low {
      memref.store %x, %S[%t] : !S
      %y = memref.load %S[%u] : !S
      memref.store %y, %out[%t] : memref<128xf32>
    }
    scf.if %is_low {
      memref.store %x, %S[%t] : !S
      %y = memref.load %S[%u] : !S
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }
}
