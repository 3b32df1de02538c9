// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.once
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-insert-barriers,workgroup-eliminate-barriers)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync{strict})' -o /dev/null

// 128 threads; t is the thread, u = 127 - t another one.

#wg = #gpu.address_space<workgroup>

gpu.module @straight {
  // A thread reads what it wrote.
  // CHECK-LABEL: gpu.func @same_thread(
  // CHECK-NOT:     barrier
  // CHECK-NOT:     bar.warp.sync
  // CHECK:         gpu.return
  gpu.func @same_thread(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %f, %S[%t] : memref<128xf32, 3>
    %v = memref.load %S[%t] : memref<128xf32, 3>
    memref.store %v, %S[%t] : memref<128xf32, 3>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @read_after_write(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @read_after_write(%f: f32) workgroup(%S: memref<128xf32, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%t] : memref<128xf32, #wg>
    %v = memref.load %S[%u] : memref<128xf32, #wg>
    gpu.return
  }
  // One barrier for two buffers.
  // CHECK-LABEL: gpu.func @two_buffers(
  // CHECK:         memref.store
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @two_buffers(%f: f32) workgroup(%A: memref<128xf32, 3>, %B: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %A[%t] : memref<128xf32, 3>
    memref.store %f, %B[%t] : memref<128xf32, 3>
    %v = memref.load %A[%u] : memref<128xf32, 3>
    %w = memref.load %B[%u] : memref<128xf32, 3>
    gpu.return
  }
  // Views of an arena that overlap by one element.
  // CHECK-LABEL: gpu.func @arena(
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    vector.transfer_read
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @arena(%f: vector<4xf32>) workgroup(%arena: memref<4092xi8, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %c2044 = arith.constant 2044 : index
    %p = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %i = arith.muli %t, %c4 : index
    %A = memref.view %arena[%c0][] : memref<4092xi8, 3> to memref<512xf32, 3>
    %B = memref.view %arena[%c2044][] : memref<4092xi8, 3> to memref<512xf32, 3>
    vector.transfer_write %f, %A[%i] {in_bounds = [true]} : vector<4xf32>, memref<512xf32, 3>
    %v = vector.transfer_read %B[%i], %p {in_bounds = [true]} : memref<512xf32, 3>, vector<4xf32>
    gpu.return
  }
  // Only lanes of a warp meet.
  // CHECK-LABEL: gpu.func @warp(
  // CHECK:         memref.store
  // CHECK:         nvvm.bar.warp.sync
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @warp(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    memref.store %f, %S[%t] : memref<128xf32, 3>
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  // The block shape is not known: threads may be of any warp.
  // CHECK-LABEL: gpu.func @any_size(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @any_size(%f: f32) workgroup(%S: memref<1024xf32, 3>) kernel {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    memref.store %f, %S[%t] : memref<1024xf32, 3>
    %v = memref.load %S[%u] : memref<1024xf32, 3>
    gpu.return
  }
}

gpu.module @loops {
  // What is read in an iteration is overwritten in the next one.
  // CHECK-LABEL: gpu.func @single_buffer(
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NEXT:    }
  gpu.func @single_buffer(%f: f32, %n: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      memref.store %f, %S[%t] : memref<128xf32, 3>
      %v = memref.load %S[%u] : memref<128xf32, 3>
    }
    gpu.return
  }
  // Of two slots, the one in use is another one than before.
  // CHECK-LABEL: gpu.func @two_slots(
  // CHECK:         affine.for
  // CHECK-NEXT:      affine.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      affine.load
  // CHECK-NEXT:    }
  // CHECK-NOT:     barrier
  gpu.func @two_slots(%f: f32, %n: index) workgroup(%S: memref<2x128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    affine.for %i = 0 to %n {
      affine.store %f, %S[%i mod 2, symbol(%t)] : memref<2x128xf32, 3>
      %v = affine.load %S[%i mod 2, -symbol(%t) + 127] : memref<2x128xf32, 3>
    }
    gpu.return
  }
  // The same, with a slot that is carried and starts again at zero.
  // CHECK-LABEL: gpu.func @carried_slot(
  // CHECK:         scf.for
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:       barrier
  // CHECK:         gpu.return
  gpu.func @carried_slot(%f: f32, %n: index) workgroup(%S: memref<2x128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %c0) -> (index) {
      memref.store %f, %S[%slot, %t] : memref<2x128xf32, 3>
      %v = memref.load %S[%slot, %u] : memref<2x128xf32, 3>
      %more = arith.addi %slot, %c1 : index
      %wraps = arith.cmpi eq, %more, %c2 : index
      %next = arith.select %wraps, %c0, %more : index
      scf.yield %next : index
    }
    gpu.return
  }
  // A barrier before the loop, none in it.
  // CHECK-LABEL: gpu.func @before(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    scf.for
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @before(%f: f32, %n: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    memref.store %f, %S[%t] : memref<128xf32, 3>
    scf.for %i = %c0 to %n step %c1 {
      %s = arith.addi %t, %i : index
      %u = arith.remui %s, %c128 : index
      %v = memref.load %S[%u] : memref<128xf32, 3>
    }
    gpu.return
  }
  // Branches between blocks.
  // CHECK-LABEL: gpu.func @blocks(
  // CHECK:         cf.cond_br %{{[a-z0-9]+}}, ^[[BODY:bb[0-9]+]]
  // CHECK:       ^[[BODY]]:
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @blocks(%f: f32, %n: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    cf.br ^head(%c0 : index)
  ^head(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^body, ^exit
  ^body:
    memref.store %f, %S[%t] : memref<128xf32, 3>
    %v = memref.load %S[%u] : memref<128xf32, 3>
    %next = arith.addi %i, %c1 : index
    cf.br ^head(%next : index)
  ^exit:
    gpu.return
  }
}

gpu.module @branches {
  // A barrier in one branch region does not help those who take the other.
  // CHECK-LABEL: gpu.func @uniform(
  // CHECK:         scf.if
  // CHECK:           gpu.barrier
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @uniform(%f: f32, %c: i1) workgroup(%A: memref<128xf32, 3>, %B: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %A[%t] : memref<128xf32, 3>
    scf.if %c {
      memref.store %f, %B[%t] : memref<128xf32, 3>
      %v = memref.load %B[%u] : memref<128xf32, 3>
    }
    %w = memref.load %A[%u] : memref<128xf32, 3>
    gpu.return
  }
  // Not all threads take it, so the barrier stands behind.
  // CHECK-LABEL: gpu.func @divergent(
  // CHECK:         scf.if
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @divergent(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %c40 = arith.constant 40 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %c = arith.cmpi slt, %t, %c40 : index
    scf.if %c {
      memref.store %f, %S[%t] : memref<128xf32, 3>
    }
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  // All threads of the only warp that takes it meet in it.
  // CHECK-LABEL: gpu.func @one_warp(
  // CHECK:         scf.if
  // CHECK-NEXT:      memref.store
  // CHECK:           nvvm.bar.warp.sync
  // CHECK-NEXT:      memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @one_warp(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %u = arith.subi %c31, %t : index
    %c = arith.cmpi ult, %t, %c32 : index
    scf.if %c {
      memref.store %f, %S[%t] : memref<128xf32, 3>
      %v = memref.load %S[%u] : memref<128xf32, 3>
    }
    gpu.return
  }
}

// Operations that the block executes together, and a barrier that is there.
// CHECK-LABEL: func.func @launch(
// CHECK:         linalg.fill
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.load
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    gpu.terminator
func.func @launch(%f: f32, %A: memref<128xf32>) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%t, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1)
      workgroup(%S: memref<128xf32, #wg>) {
    linalg.fill ins(%f : f32) outs(%S : memref<128xf32, #wg>)
    gpu.barrier
    %v = memref.load %S[%t] : memref<128xf32, #wg>
    memref.copy %A, %S : memref<128xf32> to memref<128xf32, #wg>
    gpu.terminator
  }
  return
}
