// Barriers that have to stand on edges between blocks get blocks of their own;
// where none is needed, nothing changes.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync{strict=true})' | diff %t.once -
// RUN: mlir-opt %t.once --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers)' | diff %t.once -

// The one loop ends where the other one starts, of which each iteration but the
// first follows an iteration of its own.
// CHECK-LABEL: gpu.func @between_loops
// CHECK:       cf.cond_br %{{.*}}, ^bb2, ^[[BETWEEN:bb[0-9]+]]
// CHECK:       ^[[BETWEEN]]:
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cf.br ^[[HEADER:bb[0-9]+]](%c0 : index)
// CHECK-NEXT:  ^[[HEADER]](
// CHECK-NOT:     gpu.barrier
gpu.module @between {
  gpu.func @between_loops(%out: memref<8x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    cf.br ^first(%c0 : index)
  ^first(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^write, ^second(%c0 : index)
  ^write:
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %i1 = arith.addi %i, %c1 : index
    cf.br ^first(%i1 : index)
  ^second(%j: index):
    %again = arith.cmpi slt, %j, %n : index
    cf.cond_br %again, ^read, ^end
  ^read:
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %x, %out[%j, %t] : memref<8x128xf32>
    %j1 = arith.addi %j, %c1 : index
    cf.br ^second(%j1 : index)
  ^end:
    gpu.return
  }
}

// -----

// An iteration ends with a branch, of which both paths go back.
// CHECK-LABEL: gpu.func @two_ways_back
// CHECK:         cf.cond_br %{{.*}}, ^bb2, ^bb4
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.store
// CHECK:         gpu.barrier
// CHECK-NEXT:    memref.load
// CHECK:         cf.cond_br %{{.*}}, ^bb3, ^bb1(%{{.*}} : index, f32)
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @back {
  gpu.func @two_ways_back(%out: memref<128xf32> {llvm.noalias}, %n: index, %m: index)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    cf.br ^test(%c0, %f : index, f32)
  ^test(%i: index, %sum: f32):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^iteration, ^end
  ^iteration:
    memref.store %sum, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %i1 = arith.addi %i, %c1 : index
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    %all = arith.cmpi slt, %i, %m : index
    cf.cond_br %all, ^other, ^test(%i1, %x : index, f32)
  ^other:
    %y = arith.addf %x, %sum : f32
    cf.br ^test(%i1, %y : index, f32)
  ^end:
    memref.store %sum, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

// Threads iterate a loop on their own that starts where their paths meet: the
// barrier is before it, not in it.
// CHECK-LABEL: gpu.func @before_own_loop
// CHECK:       cf.cond_br %{{.*}}, ^bb1, ^[[MET:bb[0-9]+]]
// CHECK:       ^bb1:
// CHECK:         memref.store
// CHECK-NEXT:    cf.br ^[[MET]]
// CHECK-NEXT:  ^[[MET]]:
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cf.br ^[[HEADER:bb[0-9]+]](%c0, %{{.*}} : index, f32)
// CHECK-NEXT:  ^[[HEADER]](
// CHECK-NOT:     gpu.barrier
gpu.module @own {
  gpu.func @before_own_loop(%out: memref<128xf32> {llvm.noalias})
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c127 = arith.constant 127 : index
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %half = arith.cmpi slt, %t, %c64 : index
    cf.cond_br %half, ^write, ^own(%c0, %f : index, f32)
  ^write:
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    cf.br ^own(%c0, %f : index, f32)
  ^own(%i: index, %sum: f32):
    %more = arith.cmpi slt, %i, %t : index
    cf.cond_br %more, ^read, ^end
  ^read:
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    %next = arith.addf %sum, %x : f32
    %i1 = arith.addi %i, %c1 : index
    cf.br ^own(%i1, %next : index, f32)
  ^end:
    memref.store %sum, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

// Each thread stays with its own elements.
// CHECK-LABEL: gpu.func @none_needed
// CHECK:       ^bb4: // pred: ^bb2
// CHECK-NOT:   ^bb
// CHECK-NOT:   gpu.barrier
// CHECK:       gpu.return
gpu.module @none {
  gpu.func @none_needed(%out: memref<128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %odd = arith.cmpi eq, %n, %c1 : index
    cf.cond_br %odd, ^write, ^test(%c0, %f : index, f32)
  ^write:
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    cf.br ^test(%c1, %f : index, f32)
  ^test(%i: index, %sum: f32):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^iteration, ^end
  ^iteration:
    %x = memref.load %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %sum, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %i1 = arith.addi %i, %c1 : index
    cf.br ^test(%i1, %x : index, f32)
  ^end:
    memref.store %sum, %out[%t] : memref<128xf32>
    gpu.return
  }
}
