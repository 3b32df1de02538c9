// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync{strict})' -o /dev/null

// What one hazard implies of others, and what it does not. 128 threads; t is the thread, u = 127 - t
// one of another warp, w = t xor 1 one of the same warp.

!line = memref<128xf32, 3>

gpu.module @m {
  // What warps need between the store and the first load does not order the block's threads with the
  // second one.
  // CHECK-LABEL: gpu.func @warp_inside(
  // CHECK:         memref.store
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @warp_inside(%f: f32, %out: !line {llvm.noalias}) workgroup(%A: !line) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %w = arith.xori %t, %c1 : index
    memref.store %f, %A[%t] : !line
    %a = memref.load %A[%w] : !line
    %b = memref.load %A[%u] : !line
    gpu.return
  }

  // Nor the other way round: the barrier of the block behind B is too late for the warps.
  // CHECK-LABEL: gpu.func @block_behind(
  // CHECK:         memref.store %{{.*}}, %[[A:.*]][
  // CHECK:         nvvm.bar.warp.sync
  // CHECK:         memref.load %[[A]]
  // CHECK:         memref.store
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @block_behind(%f: f32) workgroup(%A: !line, %B: !line) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %w = arith.xori %t, %c1 : index
    memref.store %f, %A[%t] : !line
    %a = memref.load %A[%w] : !line
    memref.store %f, %B[%t] : !line
    %b = memref.load %B[%u] : !line
    gpu.return
  }

  // The hazard in the branch implies nothing for who does not take it.
  // CHECK-LABEL: gpu.func @in_branch(
  // CHECK:         memref.store %{{.*}}, %[[A:.*]][
  // CHECK:         scf.if
  // CHECK:           memref.store
  // CHECK:           gpu.barrier
  // CHECK:           memref.load
  // CHECK:         }
  // CHECK:         gpu.barrier
  // CHECK:         memref.load %[[A]]
  // CHECK:         gpu.return
  gpu.func @in_branch(%f: f32, %c: i1) workgroup(%A: !line, %B: !line) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %A[%t] : !line
    scf.if %c {
      memref.store %f, %B[%t] : !line
      %b = memref.load %B[%u] : !line
    }
    %a = memref.load %A[%u] : !line
    gpu.return
  }

  // It does for who comes from inside of the branch, and goes on behind.
  // CHECK-LABEL: gpu.func @from_branch(
  // CHECK:         scf.if
  // CHECK:           memref.store
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @from_branch(%f: f32, %c: i1) workgroup(%A: !line, %B: !line) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.if %c {
      memref.store %f, %A[%t] : !line
      memref.store %f, %B[%t] : !line
      %b = memref.load %B[%u] : !line
    }
    %a = memref.load %A[%u] : !line
    gpu.return
  }

  // The loop may have no iteration: what it needs in it does not do for what is around.
  // CHECK-LABEL: gpu.func @no_iteration(
  // CHECK:         memref.store %{{.*}}, %[[A:.*]][
  // CHECK:         scf.for
  // CHECK-COUNT-2:   gpu.barrier
  // CHECK:         }
  // CHECK:         gpu.barrier
  // CHECK:         memref.load %[[A]]
  // CHECK:         gpu.return
  gpu.func @no_iteration(%f: f32, %n: index) workgroup(%A: !line, %B: !line) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %A[%t] : !line
    scf.for %i = %c0 to %n step %c1 {
      memref.store %f, %B[%t] : !line
      %b = memref.load %B[%u] : !line
    }
    %a = memref.load %A[%u] : !line
    gpu.return
  }

  // With four iterations it does; and what the inner loop needs from iteration to iteration does for the outer one.
  // CHECK-LABEL: gpu.func @iterations(
  // CHECK:         memref.store
  // CHECK:         scf.for
  // CHECK:           scf.for
  // CHECK-COUNT-2:     gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @iterations(%f: f32) workgroup(%A: !line, %B: !line) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %A[%t] : !line
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        memref.store %f, %B[%t] : !line
        %b = memref.load %B[%u] : !line
      }
    }
    %a = memref.load %A[%u] : !line
    gpu.return
  }

  // Of a loop that is left in its middle, what comes behind the test does not do for who leaves it:
  // that takes a barrier before the test, which does from iteration to iteration.
  // CHECK-LABEL: gpu.func @left_early(
  // CHECK:         scf.while
  // CHECK-NEXT:      memref.store %{{.*}}, %[[A:.*]][
  // CHECK:           gpu.barrier
  // CHECK-NEXT:      scf.condition
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @left_early(%f: f32, %n: index) workgroup(%A: !line, %B: !line) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %end = scf.while (%i = %c0) : (index) -> index {
      memref.store %f, %A[%t] : !line
      %go = arith.cmpi ult, %i, %n : index
      scf.condition(%go) %i : index
    } do {
    ^bb0(%j: index):
      memref.store %f, %B[%t] : !line
      %b = memref.load %B[%u] : !line
      %next = arith.addi %j, %c1 : index
      scf.yield %next : index
    }
    %a = memref.load %A[%u] : !line
    gpu.return
  }
}
