// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-eliminate-barriers)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null

// What threads that meet have passed for certain counts: whole iterations of loops, regions of branches. In
// each kernel A needs a barrier somewhere, and what happens to S is in order by that. 128 threads; t
// is the thread, u = 127 - t another one.

!rows = memref<8x128xf32, 3>

gpu.module @m {
  // Stored before the loop, read in its third iteration.
  // CHECK-LABEL: gpu.func @before_loop(
  // CHECK-NOT:     barrier
  // CHECK:         scf.for
  // CHECK:           gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @before_loop(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%c2, %t] : !rows
    scf.for %i = %c0 to %c6 step %c1 {
      %s = memref.load %S[%i, %u] : !rows
      memref.store %s, %out[%t] : memref<128xf32>
      memref.store %f, %A[%i, %t] : !rows
      %a = memref.load %A[%i, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // Stored in the third iteration, read behind the loop.
  // CHECK-LABEL: gpu.func @after_loop(
  // CHECK:         scf.for
  // CHECK:           gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @after_loop(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c6 step %c1 {
      memref.store %f, %A[%i, %t] : !rows
      %a = memref.load %A[%i, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
      memref.store %f, %S[%i, %t] : !rows
    }
    %s = memref.load %S[%c2, %u] : !rows
    memref.store %s, %out[%t] : memref<128xf32>
    gpu.return
  }

  // In all iterations but the first one a barrier is met, and after the third there is one.
  // CHECK-LABEL: gpu.func @in_later_iteration(
  // CHECK:         scf.for
  // CHECK:           scf.if
  // CHECK:             gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @in_later_iteration(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c6 step %c1 {
      %is = arith.cmpi ne, %i, %c0 : index
      scf.if %is {
        memref.store %f, %A[%i, %t] : !rows
        %a = memref.load %A[%i, %u] : !rows
        memref.store %a, %out[%t] : memref<128xf32>
      }
      memref.store %f, %S[%i, %t] : !rows
    }
    %s = memref.load %S[%c2, %u] : !rows
    memref.store %s, %out[%t] : memref<128xf32>
    gpu.return
  }

  // Behind the last iteration, there is none.
  // CHECK-LABEL: gpu.func @last_iteration(
  // CHECK:         scf.for
  // CHECK:           gpu.barrier
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK:         gpu.return
  gpu.func @last_iteration(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %c5 = arith.constant 5 : index
    scf.for %i = %c0 to %c6 step %c1 {
      memref.store %f, %A[%i, %t] : !rows
      %a = memref.load %A[%i, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
      memref.store %f, %S[%i, %t] : !rows
    }
    %s = memref.load %S[%c5, %u] : !rows
    memref.store %s, %out[%t] : memref<128xf32>
    gpu.return
  }

  // Who reads has taken the branch region.
  // CHECK-LABEL: gpu.func @same_arm(
  // CHECK-NOT:     barrier
  // CHECK:         scf.if
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @same_arm(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %is = arith.cmpi eq, %n, %c6 : index
    memref.store %f, %S[%c0, %t] : !rows
    scf.if %is {
      memref.store %f, %A[%c0, %t] : !rows
      %a = memref.load %A[%c0, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
    }
    %is_more = arith.cmpi ugt, %n, %c2 : index
    %both = arith.andi %is, %is_more : i1
    scf.if %both {
      %s = memref.load %S[%c0, %u] : !rows
      memref.store %s, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // Not all have.
  // CHECK-LABEL: gpu.func @other_arm(
  // CHECK-NOT:     barrier
  // CHECK:         scf.if
  // CHECK:           gpu.barrier
  // CHECK:         }
  // CHECK:         scf.if
  // CHECK-NEXT:      gpu.barrier
  // CHECK:         gpu.return
  gpu.func @other_arm(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %is = arith.cmpi eq, %n, %c6 : index
    memref.store %f, %S[%c0, %t] : !rows
    scf.if %is {
      memref.store %f, %A[%c0, %t] : !rows
      %a = memref.load %A[%c0, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
    }
    %is_more = arith.cmpi ugt, %n, %c2 : index
    scf.if %is_more {
      %s = memref.load %S[%c0, %u] : !rows
      memref.store %s, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // No thread goes the other way.
  // CHECK-LABEL: gpu.func @always(
  // CHECK-NOT:     barrier
  // CHECK:         scf.if
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @always(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %is = arith.cmpi ult, %t, %c200 : index
    memref.store %f, %S[%c0, %t] : !rows
    scf.if %is {
      memref.store %f, %A[%c0, %t] : !rows
      %a = memref.load %A[%c0, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
    }
    %s = memref.load %S[%c0, %u] : !rows
    memref.store %s, %out[%t] : memref<128xf32>
    gpu.return
  }

  // Other spellings of it.
  // CHECK-LABEL: gpu.func @always_affine(
  // CHECK-NOT:     barrier
  // CHECK:         affine.if
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @always_affine(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%c0, %t] : !rows
    affine.if affine_set<(d0) : (199 - d0 >= 0)>(%t) {
      memref.store %f, %A[%c0, %t] : !rows
      %a = memref.load %A[%c0, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
    }
    %s = memref.load %S[%c0, %u] : !rows
    memref.store %s, %out[%t] : memref<128xf32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @switch(
  // CHECK-NOT:     barrier
  // CHECK:         scf.index_switch
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @switch(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %which = arith.divui %t, %c200 : index
    memref.store %f, %S[%c0, %t] : !rows
    scf.index_switch %which
    case 0 {
      memref.store %f, %A[%c0, %t] : !rows
      %a = memref.load %A[%c0, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
      scf.yield
    }
    default {
    }
    %s = memref.load %S[%c0, %u] : !rows
    memref.store %s, %out[%t] : memref<128xf32>
    gpu.return
  }

  // The loop has an iteration if somebody reads.
  // CHECK-LABEL: gpu.func @some_iteration(
  // CHECK-NOT:     barrier
  // CHECK:         scf.for
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @some_iteration(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%c0, %t] : !rows
    scf.for %i = %c0 to %n step %c1 {
      memref.store %f, %A[%i, %t] : !rows
      %a = memref.load %A[%i, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
    }
    %is = arith.cmpi sgt, %n, %c0 : index
    scf.if %is {
      %s = memref.load %S[%c0, %u] : !rows
      memref.store %s, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // In the first iteration, the barrier of the branch region is between. But what is read in the third iteration is of the
  // second one.
  // CHECK-LABEL: gpu.func @carried(
  // CHECK:         scf.for
  // CHECK:           scf.if
  // CHECK:             gpu.barrier
  // CHECK:           }
  // CHECK:           gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @carried(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %c200 = arith.constant 200 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c6 step %c1 {
      memref.store %f, %S[%i, %t] : !rows
      %first = arith.cmpi eq, %i, %c0 : index
      %third = arith.cmpi eq, %i, %c2 : index
      scf.if %first {
        memref.store %f, %A[%c0, %t] : !rows
        %a = memref.load %A[%c0, %u] : !rows
        memref.store %a, %out[%t] : memref<128xf32>
      }
      %other = arith.select %third, %c1, %c7 : index
      %row = arith.select %first, %c0, %other : index
      %s = memref.load %S[%row, %u] : !rows
      memref.store %s, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // A condition that is loaded stays that of all threads when a barrier of the warp is put before.
  // CHECK-LABEL: gpu.func @loaded(
  // CHECK:         nvvm.bar.warp.sync
  // CHECK:         memref.load
  // CHECK:         scf.if
  // CHECK:           gpu.barrier
  gpu.func @loaded(%f: f32, %n: index, %in: memref<64xindex> {llvm.noalias}, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %next = arith.xori %t, %c1 : index
    memref.store %f, %S[%c0, %t] : !rows
    %s = memref.load %S[%c0, %next] : !rows
    memref.store %s, %out[%t] : memref<128xf32>
    %m = memref.load %in[%n] : memref<64xindex>
    %is = arith.cmpi slt, %m, %c2 : index
    scf.if %is {
      memref.store %f, %S[%c1, %t] : !rows
      %v = memref.load %S[%c1, %u] : !rows
      memref.store %v, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // Who reads what thread t - 48 stores is of a block of more than 48 threads, and passes the branch that such blocks take.
  // CHECK-LABEL: gpu.func @large_blocks(
  // CHECK:         scf.if
  // CHECK:           gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @large_blocks(%f: f32, %out: memref<1024xf32> {llvm.noalias}) workgroup(%S: memref<1024xf32, 3>, %A: memref<1024xf32, 3>) kernel
      attributes {known_grid_size = array<i32: 1, 1, 1>} {
    %c48 = arith.constant 48 : index
    %t = gpu.thread_id x
    %size = gpu.block_dim x
    %other = arith.xori %t, %c48 : index
    memref.store %f, %S[%t] : memref<1024xf32, 3>
    %is_large = arith.cmpi ugt, %size, %c48 : index
    scf.if %is_large {
      memref.store %f, %A[%t] : memref<1024xf32, 3>
      %a = memref.load %A[%other] : memref<1024xf32, 3>
      memref.store %a, %out[%t] : memref<1024xf32>
    }
    %is_behind = arith.cmpi uge, %t, %c48 : index
    scf.if %is_behind {
      %before = arith.subi %t, %c48 : index
      %s = memref.load %S[%before] : memref<1024xf32, 3>
      memref.store %s, %out[%t] : memref<1024xf32>
    }
    gpu.return
  }

  // In the first iteration lanes of one warp meet; those of two warps do in later ones, behind the barrier of the loop.
  // CHECK-LABEL: gpu.func @first_iteration(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load
  // CHECK:         nvvm.bar.warp.sync
  // CHECK:         scf.for
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.return
  gpu.func @first_iteration(%f: f32, %out: memref<48xf32> {llvm.noalias}) workgroup(%S: memref<3x17xf32, 3>) kernel
      attributes {known_block_size = array<i32: 48, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c48 = arith.constant 48 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c2 : index
    %row = arith.divui %u, %c16 : index
    %column = arith.remui %u, %c16 : index
    %s = memref.load %S[%row, %column] : memref<3x17xf32, 3>
    memref.store %s, %out[%t] : memref<48xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      %sum = arith.addi %t, %i : index
      %v = arith.remui %sum, %c48 : index
      %next_row = arith.divui %v, %c16 : index
      %next_column = arith.remui %v, %c16 : index
      memref.store %f, %S[%next_row, %next_column] : memref<3x17xf32, 3>
      gpu.barrier
    }
    gpu.return
  }

  // Every second iteration takes the branch, and slots come again every fourth iteration: another iteration that takes it lies between.
  // CHECK-LABEL: gpu.func @every_second_iteration(
  // CHECK-NOT:     barrier
  // CHECK:         scf.if
  // CHECK-NEXT:      arith.remui
  // CHECK-NEXT:      memref.load
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @every_second_iteration(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<4x128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %odd = arith.remui %i, %c2 : index
      %is_even = arith.cmpi eq, %odd, %c0 : index
      scf.if %is_even {
        %slot = arith.remui %i, %c4 : index
        %s = memref.load %S[%slot, %u] : memref<4x128xf32, 3>
        memref.store %s, %out[%t] : memref<128xf32>
        memref.store %f, %S[%slot, %t] : memref<4x128xf32, 3>
      }
    }
    gpu.return
  }

  // What is stored at the end of the third iteration of six is read behind the loop: the fifth iteration takes the branch, the fourth does not.
  // CHECK-LABEL: gpu.func @behind_second_iterations(
  // CHECK:         scf.for
  // CHECK:           scf.if
  // CHECK:             gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @behind_second_iterations(%f: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<6x128xf32, 3>, %A: memref<6x128xf32, 3>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c6 step %c1 {
      %odd = arith.remui %i, %c2 : index
      %is_even = arith.cmpi eq, %odd, %c0 : index
      scf.if %is_even {
        memref.store %f, %A[%i, %t] : memref<6x128xf32, 3>
        %a = memref.load %A[%i, %u] : memref<6x128xf32, 3>
        memref.store %a, %out[%t] : memref<128xf32>
      }
      memref.store %f, %S[%i, %t] : memref<6x128xf32, 3>
    }
    %s = memref.load %S[%c2, %u] : memref<6x128xf32, 3>
    memref.store %s, %out[%t] : memref<128xf32>
    gpu.return
  }

  // None of the iterations between takes the branch.
  // CHECK-LABEL: gpu.func @every_third_iteration(
  // CHECK:         scf.for
  // CHECK-COUNT-2:   gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @every_third_iteration(%f: f32, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<3x128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %slot = arith.remui %i, %c3 : index
      %is_first = arith.cmpi eq, %slot, %c0 : index
      scf.if %is_first {
        %s = memref.load %S[%slot, %u] : memref<3x128xf32, 3>
        memref.store %s, %out[%t] : memref<128xf32>
        memref.store %f, %S[%slot, %t] : memref<3x128xf32, 3>
      }
    }
    gpu.return
  }

  // Stored before the test of the second iteration, behind which the loop comes to the test twice more.
  // CHECK-LABEL: gpu.func @before_test(
  // CHECK:         scf.while
  // CHECK:           gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @before_test(%f: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %last = scf.while (%i = %c0) : (index) -> index {
      memref.store %f, %A[%i, %t] : !rows
      %a = memref.load %A[%i, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
      memref.store %f, %S[%i, %t] : !rows
      %more = arith.cmpi slt, %i, %c3 : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    %s = memref.load %S[%c1, %u] : !rows
    memref.store %s, %out[%t] : memref<128xf32>
    gpu.return
  }

  // Before the last test, behind which the loop ends.
  // CHECK-LABEL: gpu.func @before_last_test(
  // CHECK:         scf.while
  // CHECK:           gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK:         } do {
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK:         gpu.return
  gpu.func @before_last_test(%f: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %last = scf.while (%i = %c0) : (index) -> index {
      memref.store %f, %A[%i, %t] : !rows
      %a = memref.load %A[%i, %u] : !rows
      memref.store %a, %out[%t] : memref<128xf32>
      memref.store %f, %S[%i, %t] : !rows
      %more = arith.cmpi slt, %i, %c3 : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    %s = memref.load %S[%c3, %u] : !rows
    memref.store %s, %out[%t] : memref<128xf32>
    gpu.return
  }

  // What is stored in the first iteration of the inner loop has the second one behind it, and what is read
  // in the second one has the first one before it.
  // CHECK-LABEL: gpu.func @on_either_side(
  // CHECK-NOT:     barrier
  // CHECK:         scf.for
  // CHECK-NEXT:      scf.for
  // CHECK-NEXT:        memref.load
  // CHECK-NEXT:        memref.store
  // CHECK-NEXT:        memref.store
  // CHECK-NEXT:        gpu.barrier
  // CHECK-NEXT:        memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @on_either_side(%f: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %j = %c0 to %c6 step %c1 {
      scf.for %i = %c0 to %c2 step %c1 {
        %s = memref.load %S[%i, %u] : !rows
        memref.store %s, %out[%t] : memref<128xf32>
        memref.store %f, %A[%i, %t] : !rows
        %a = memref.load %A[%i, %u] : !rows
        memref.store %a, %out[%t] : memref<128xf32>
        memref.store %f, %S[%i, %t] : !rows
      }
    }
    gpu.return
  }

  // What is stored in the last iteration is read in the first one.
  // CHECK-LABEL: gpu.func @on_no_side(
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      scf.for
  // CHECK:             gpu.barrier
  // CHECK-NEXT:        memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @on_no_side(%f: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !rows, %A: !rows) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %j = %c0 to %c6 step %c1 {
      scf.for %i = %c0 to %c2 step %c1 {
        %seven = arith.muli %i, %c7 : index
        %k = arith.subi %c7, %seven : index
        %s = memref.load %S[%i, %u] : !rows
        memref.store %s, %out[%t] : memref<128xf32>
        memref.store %f, %A[%i, %t] : !rows
        %a = memref.load %A[%i, %u] : !rows
        memref.store %a, %out[%t] : memref<128xf32>
        memref.store %f, %S[%k, %t] : !rows
      }
    }
    gpu.return
  }
}
