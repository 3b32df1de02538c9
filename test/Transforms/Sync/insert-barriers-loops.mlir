// What barriers in one loop order says nothing of the paths around it.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-eliminate-barriers)' | FileCheck %s

// The slot comes again three iterations later: the barrier in each iteration orders that.
// From the last iteration to the first one of the next time around there is none.
// CHECK-LABEL: gpu.func @far
// CHECK:         scf.for
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      scf.for
// CHECK:             memref.store
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        memref.load
// CHECK-NOT:         gpu.barrier
// CHECK:         gpu.return
gpu.module @m {
  gpu.func @far(%n: index, %x: f32, %out: memref<?xf32> {llvm.noalias})
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    scf.for %o = %c0 to %n step %c1 {
      scf.for %i = %c0 to %c4 step %c1 {
        %slot = arith.remui %i, %c3 : index
        memref.store %x, %S[%slot, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
        %y = memref.load %S[%slot, %c127] : memref<3x128xf32, #gpu.address_space<workgroup>>
        memref.store %y, %out[%t] : memref<?xf32>
      }
    }
    gpu.return
  }
}

// -----

// Who leaves the inner loop at its test does not get to the barrier behind it.
// CHECK-LABEL: gpu.func @left
// CHECK:         scf.for
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      scf.while
// CHECK-NEXT:        memref.store
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        memref.load
// CHECK-NOT:         gpu.barrier
// CHECK:             scf.condition
// CHECK:           } do {
// CHECK:             gpu.barrier
// CHECK:             scf.yield
gpu.module @m {
  gpu.func @left(%n: index, %x: f32, %out: memref<?xf32> {llvm.noalias})
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %o = %c0 to %n step %c1 {
      %r = scf.while (%i = %c0) : (index) -> index {
        memref.store %x, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
        %y = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
        memref.store %y, %out[%t] : memref<?xf32>
        %more = arith.cmpi slt, %i, %c4 : index
        scf.condition(%more) %i : index
      } do {
      ^bb0(%i: index):
        gpu.barrier
        %next = arith.addi %i, %c1 : index
        scf.yield %next : index
      }
    }
    gpu.return
  }
}
