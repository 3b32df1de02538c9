// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' -o %t.twice
// RUN: diff %t.once %t.twice

// 128 threads; t is the thread, u = 127 - t another one.

gpu.module @m {
  // What a function is called between is not known.
  // CHECK-LABEL: func.func @helper(
  // CHECK:         gpu.barrier
  // CHECK:         return
  func.func @helper() {
    gpu.barrier
    return
  }
  // Nor what a call does.
  // CHECK-LABEL: gpu.func @call(
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    func.call
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK:         gpu.return
  gpu.func @call(%f: f32, %S: memref<128xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %f, %S[%t] : memref<128xf32>
    gpu.barrier
    func.call @unknown(%S) : (memref<128xf32>) -> ()
    gpu.barrier
    memref.store %f, %S[%t] : memref<128xf32>
    gpu.return
  }
  func.func private @unknown(memref<128xf32>)
  // An index of which nothing is known.
  // CHECK-LABEL: gpu.func @indirect(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK:         gpu.return
  gpu.func @indirect(%f: f32, %G: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %i = memref.load %G[%t] : memref<128xindex>
    memref.store %f, %S[%t] : memref<128xf32, 3>
    gpu.barrier
    %v = memref.load %S[%i] : memref<128xf32, 3>
    gpu.return
  }
  // A kernel with a barrier where it must not be is left alone.
  // CHECK-LABEL: gpu.func @divergent(
  // CHECK:         gpu.barrier
  // CHECK:         scf.if
  // CHECK-NEXT:      gpu.barrier
  // CHECK:         gpu.return
  gpu.func @divergent() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %c = arith.cmpi ult, %t, %c16 : index
    gpu.barrier
    scf.if %c {
      gpu.barrier
    }
    gpu.return
  }
  // Global memory is as good as workgroup memory.
  // CHECK-LABEL: gpu.func @global(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @global(%f: f32, %G: memref<128xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %G[%t] : memref<128xf32>
    gpu.barrier
    %v = memref.load %G[%u] : memref<128xf32>
    gpu.barrier
    gpu.return
  }
  // The copy is there for its own thread without a barrier, not for another.
  // CHECK-LABEL: gpu.func @waited(
  // CHECK:         nvvm.cp.async.wait.group 0
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @waited(%G: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %token = nvgpu.device_async_copy %G[%t], %S[%t], 1 : memref<128xf32> to memref<128xf32, 3>
    nvvm.cp.async.commit.group
    gpu.barrier
    nvvm.cp.async.wait.group 0
    %own = memref.load %S[%t] : memref<128xf32, 3>
    gpu.barrier
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.barrier
    gpu.return
  }
  // Of the barriers of a warp, too, only what is needed is left.
  // CHECK-LABEL: gpu.func @lanes(
  // CHECK-NOT:     nvvm.bar.warp.sync
  // CHECK:         memref.store
  // CHECK-NEXT:    nvvm.bar.warp.sync
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     nvvm.bar.warp.sync
  // CHECK:         gpu.return
  gpu.func @lanes(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    nvvm.bar.warp.sync %all : i32
    memref.store %f, %S[%t] : memref<128xf32, 3>
    nvvm.bar.warp.sync %all : i32
    %v = memref.load %S[%u] : memref<128xf32, 3>
    nvvm.bar.warp.sync %all : i32
    gpu.return
  }
  // In either of two places, whichever way is taken.
  // CHECK-LABEL: gpu.func @both_arms(
  // CHECK:         scf.if
  // CHECK-NEXT:      gpu.barrier
  // CHECK:         } else {
  // CHECK-NEXT:      gpu.barrier
  // CHECK:         }
  // CHECK-NEXT:    memref.load
  // CHECK:         gpu.return
  gpu.func @both_arms(%f: f32, %c: i1) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%t] : memref<128xf32, 3>
    scf.if %c {
      gpu.barrier
    } else {
      gpu.barrier
    }
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  // The one in the branch region does not help those who pass by.
  // CHECK-LABEL: gpu.func @one_arm(
  // CHECK:         scf.if
  // CHECK-NOT:       gpu.barrier
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK:         gpu.return
  gpu.func @one_arm(%f: f32, %c: i1) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%t] : memref<128xf32, 3>
    scf.if %c {
      gpu.barrier
      memref.store %f, %S[%t] : memref<128xf32, 3>
    }
    gpu.barrier
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }

  // Who reads has met the barrier, although others do not.
  // CHECK-LABEL: gpu.func @same_condition(
  // CHECK:         scf.if
  // CHECK-NEXT:      gpu.barrier
  // CHECK:         gpu.return
  gpu.func @same_condition(%x: f32, %is: i1, %out: memref<?xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %x, %S[%t] : memref<128xf32, 3>
    scf.if %is {
      gpu.barrier
    }
    scf.if %is {
      %y = memref.load %S[%u] : memref<128xf32, 3>
      memref.store %y, %out[%t] : memref<?xf32>
    }
    gpu.return
  }

  // The barrier of the second iteration comes between the first one and what follows.
  // CHECK-LABEL: gpu.func @later_iteration(
  // CHECK:         } else {
  // CHECK-NEXT:      gpu.barrier
  // CHECK:         gpu.return
  gpu.func @later_iteration(%x: f32, %out: memref<?xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c2 step %c1 {
      %is_first = arith.cmpi eq, %i, %c0 : index
      scf.if %is_first {
        %y = memref.load %S[%u] : memref<128xf32, 3>
        memref.store %y, %out[%t] : memref<?xf32>
      } else {
        gpu.barrier
      }
    }
    memref.store %x, %S[%t] : memref<128xf32, 3>
    gpu.return
  }

  // The loop has an iteration whenever there is somebody who reads.
  // CHECK-LABEL: gpu.func @skipped(
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK:         gpu.return
  gpu.func @skipped(%x: f32, %n: index, %out: memref<?xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %x, %S[%t] : memref<128xf32, 3>
    scf.for %i = %c0 to %n step %c1 {
      gpu.barrier
    }
    %is = arith.cmpi sgt, %n, %c0 : index
    scf.if %is {
      %y = memref.load %S[%u] : memref<128xf32, 3>
      memref.store %y, %out[%t] : memref<?xf32>
    }
    gpu.return
  }

  // Lanes of another warp go different paths before they get there.
  // CHECK-LABEL: gpu.func @warp_in_parted_branch(
  // CHECK:         memref.store
  // CHECK-NEXT:    nvvm.bar.warp.sync
  // CHECK-NEXT:    memref.load
  gpu.func @warp_in_parted_branch(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    %is_low = arith.cmpi ult, %t, %c48 : index
    scf.if %is_low {
      %is_first = arith.cmpi ult, %t, %c32 : index
      scf.if %is_first {
        memref.store %x, %S[%t] : memref<128xf32, 3>
        nvvm.bar.warp.sync %all : i32
        %y = memref.load %S[%u] : memref<128xf32, 3>
        memref.store %y, %out[%t] : memref<128xf32>
      }
    }
    gpu.return
  }

  // The branch region's barrier is for what happens in the first iteration, that at the end of
  // the iteration for what the third one reads of the second.
  // CHECK-LABEL: gpu.func @of_the_iteration_before(
  // CHECK:         scf.if
  // CHECK-NEXT:      gpu.barrier
  // CHECK:         memref.load
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.barrier
  gpu.func @of_the_iteration_before(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<8x128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c6 step %c1 {
      memref.store %x, %S[%i, %t] : memref<8x128xf32, 3>
      %first = arith.cmpi eq, %i, %c0 : index
      %third = arith.cmpi eq, %i, %c2 : index
      scf.if %first {
        gpu.barrier
      }
      %other = arith.select %third, %c1, %c7 : index
      %row = arith.select %first, %c0, %other : index
      %y = memref.load %S[%row, %u] : memref<8x128xf32, 3>
      memref.store %y, %out[%t] : memref<128xf32>
      gpu.barrier
    }
    gpu.return
  }

  // Nobody gets to the barrier of the branches, which are of different iterations.
  // CHECK-LABEL: gpu.func @arm_of_other_iteration(
  // CHECK:         scf.for
  // CHECK:           scf.for
  // CHECK-NEXT:        gpu.barrier
  gpu.func @arm_of_other_iteration(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c2 step %c1 {
      %is_first = arith.cmpi eq, %i, %c0 : index
      %is_second = arith.cmpi eq, %i, %c1 : index
      scf.if %is_first {
        memref.store %x, %S[%t] : memref<128xf32, 3>
      }
      scf.if %is_second {
        scf.if %is_first {
          gpu.barrier
        }
      }
      scf.for %j = %c0 to %c1 step %c1 {
        gpu.barrier
      }
      scf.if %is_second {
        %v = memref.load %S[%u] : memref<128xf32, 3>
        memref.store %v, %out[%t] : memref<128xf32>
      }
    }
    gpu.return
  }

  // Some barriers also tell how many threads bring what.
  // CHECK-LABEL: gpu.func @counts(
  // CHECK:         %[[R:.*]] = nvvm.barrier
  // CHECK-NEXT:    memref.store %[[R]]
  gpu.func @counts(%x: i32, %out: memref<128xi32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %r = nvvm.barrier #nvvm.reduction<popc> %x -> i32
    memref.store %r, %out[%t] : memref<128xi32>
    gpu.return
  }
}
