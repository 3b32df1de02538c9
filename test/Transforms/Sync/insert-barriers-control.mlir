// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-eliminate-barriers)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null

// 128 threads; t is the thread, u = 127 - t another one.

gpu.module @m {
  // The condition's region is left behind its last operation: a barrier before
  // that is for the body and for what follows.
  // CHECK-LABEL: gpu.func @while(
  // CHECK:         scf.while
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NOT:       memref.load
  // CHECK:           gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @while(%f: f32, %n: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %end = scf.while (%i = %c0) : (index) -> index {
      memref.store %f, %S[%t] : memref<128xf32, 3>
      %more = arith.cmpi ult, %i, %n : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      %v = memref.load %S[%u] : memref<128xf32, 3>
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    %w = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  // Both barriers fit into the outer loop.
  // CHECK-LABEL: gpu.func @nest(
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      scf.for
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @nest(%f: f32, %n: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      memref.store %f, %S[%t] : memref<128xf32, 3>
      scf.for %j = %c0 to %n step %c1 {
        %v = memref.load %S[%u] : memref<128xf32, 3>
      }
    }
    gpu.return
  }
  // Each iteration halves the number of threads. Within an iteration none reads what another
  // writes; nobody but the writer reads the result.
  // CHECK-LABEL: gpu.func @tree(
  // CHECK-NOT:     barrier
  // CHECK:         scf.while
  // CHECK:           ^bb0
  // CHECK-NOT:         scf.if
  // CHECK:             gpu.barrier
  // CHECK-NEXT:        scf.if
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @tree(%G: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %v = memref.load %G[%t] : memref<128xf32>
    memref.store %v, %S[%t] : memref<128xf32, 3>
    %end = scf.while (%s = %c64) : (index) -> index {
      %more = arith.cmpi sgt, %s, %c0 : index
      scf.condition(%more) %s : index
    } do {
    ^bb0(%s: index):
      %active = arith.cmpi slt, %t, %s : index
      scf.if %active {
        %o = arith.addi %t, %s : index
        %a = memref.load %S[%t] : memref<128xf32, 3>
        %b = memref.load %S[%o] : memref<128xf32, 3>
        %sum = arith.addf %a, %b : f32
        memref.store %sum, %S[%t] : memref<128xf32, 3>
      }
      %half = arith.shrui %s, %c1 : index
      scf.yield %half : index
    }
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %r = memref.load %S[%c0] : memref<128xf32, 3>
      memref.store %r, %G[%c0] : memref<128xf32>
    }
    gpu.return
  }
  // The same, unrolled: from 32 threads on, one warp is left.
  // CHECK-LABEL: gpu.func @unrolled_tree(
  // CHECK-NOT:     barrier
  // CHECK:         scf.if
  // CHECK:         }
  // CHECK:         gpu.barrier
  // CHECK:         scf.if
  // CHECK:         }
  // CHECK-NOT:     gpu.barrier
  // CHECK:         nvvm.bar.warp.sync
  // CHECK:         scf.if
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @unrolled_tree() workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %in64 = arith.cmpi ult, %t, %c64 : index
    scf.if %in64 {
      %o = arith.addi %t, %c64 : index
      %a = memref.load %S[%t] : memref<128xf32, 3>
      %b = memref.load %S[%o] : memref<128xf32, 3>
      %sum = arith.addf %a, %b : f32
      memref.store %sum, %S[%t] : memref<128xf32, 3>
    }
    %in32 = arith.cmpi ult, %t, %c32 : index
    scf.if %in32 {
      %o = arith.addi %t, %c32 : index
      %a = memref.load %S[%t] : memref<128xf32, 3>
      %b = memref.load %S[%o] : memref<128xf32, 3>
      %sum = arith.addf %a, %b : f32
      memref.store %sum, %S[%t] : memref<128xf32, 3>
    }
    %in16 = arith.cmpi ult, %t, %c16 : index
    scf.if %in16 {
      %o = arith.addi %t, %c16 : index
      %a = memref.load %S[%t] : memref<128xf32, 3>
      %b = memref.load %S[%o] : memref<128xf32, 3>
      %sum = arith.addf %a, %b : f32
      memref.store %sum, %S[%t] : memref<128xf32, 3>
    }
    gpu.return
  }
  // One barrier in front of all regions, not one in each that needs it.
  // CHECK-LABEL: gpu.func @switch(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    scf.index_switch
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @switch(%f: f32, %k: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%t] : memref<128xf32, 3>
    scf.index_switch %k
    case 1 {
      %v = memref.load %S[%u] : memref<128xf32, 3>
      scf.yield
    }
    default {
      memref.store %f, %S[%u] : memref<128xf32, 3>
    }
    gpu.return
  }
  // A block takes one region or the other.
  // CHECK-LABEL: gpu.func @regions(
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @regions(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %b = gpu.block_id x
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %first = arith.cmpi eq, %b, %c0 : index
    scf.if %first {
      memref.store %f, %S[%t] : memref<128xf32, 3>
    } else {
      %v = memref.load %S[%u] : memref<128xf32, 3>
    }
    gpu.return
  }
  // Threads of the two regions never meet; those of the second branch region and the store
  // behind do.
  // CHECK-LABEL: gpu.func @divergent_arms(
  // CHECK:         scf.if
  // CHECK:         } else {
  // CHECK-NOT:       barrier
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @divergent_arms(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c64 = arith.constant 64 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %low = arith.cmpi ult, %t, %c64 : index
    scf.if %low {
      memref.store %f, %S[%t] : memref<128xf32, 3>
    } else {
      %v = memref.load %S[%t] : memref<128xf32, 3>
    }
    memref.store %f, %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  // A branch between blocks that all threads take.
  // CHECK-LABEL: gpu.func @early_exit(
  // CHECK:         cf.cond_br %{{[^,]+}}, ^[[READ:bb[0-9]+]]
  // CHECK:       ^[[READ]]:
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @early_exit(%f: f32, %c: i1) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%t] : memref<128xf32, 3>
    cf.cond_br %c, ^read, ^exit
  ^read:
    %v = memref.load %S[%u] : memref<128xf32, 3>
    cf.br ^exit
  ^exit:
    gpu.return
  }
  // Each thread has the elements t, t + 128, ...: of both loops the same.
  // CHECK-LABEL: gpu.func @cyclic(
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @cyclic(%G: memref<?xf32> {llvm.noalias}, %n: index) workgroup(%S: memref<1024xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    scf.for %i = %t to %n step %c128 {
      %v = memref.load %G[%i] : memref<?xf32>
      memref.store %v, %S[%i] : memref<1024xf32, 3>
    }
    scf.for %i = %t to %n step %c128 {
      %v = memref.load %S[%i] : memref<1024xf32, 3>
      memref.store %v, %G[%i] : memref<?xf32>
    }
    gpu.return
  }
  // Elements t, t + 128, ... there and 8 t, 8 t + 1, ... here.
  // CHECK-LABEL: gpu.func @cyclic_blocked(
  // CHECK:         scf.for
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         scf.for
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @cyclic_blocked(%f: f32, %n: index) workgroup(%S: memref<1024xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %first = arith.muli %t, %c8 : index
    scf.for %i = %t to %n step %c128 {
      memref.store %f, %S[%i] : memref<1024xf32, 3>
    }
    scf.for %i = %c0 to %c8 step %c1 {
      %e = arith.addi %first, %i : index
      %v = memref.load %S[%e] : memref<1024xf32, 3>
    }
    gpu.return
  }
}
