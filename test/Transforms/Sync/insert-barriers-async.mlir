// Waits for copies that nothing waits for, and what commits their groups: first the wait, then the barrier. 128 threads.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers{strict})' | FileCheck %s
// A second run changes nothing, and the result is proved.
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync{strict})' -o %t
// RUN: mlir-opt %t --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers)' | diff - %t
// Elimination leaves waits alone, and barriers behind them.
// RUN: mlir-opt %t --split-input-file --pass-pipeline='builtin.module(workgroup-eliminate-barriers,workgroup-verify-sync{strict})' | FileCheck %s

#wg = #gpu.address_space<workgroup>
!shared = memref<128xf32, #wg>

gpu.module @straight {
  // CHECK-LABEL: gpu.func @own
  gpu.func @own(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // CHECK: %[[TOKEN:.*]] = nvgpu.device_async_copy
    // CHECK-NEXT: %[[GROUP:.*]] = nvgpu.device_async_create_group %[[TOKEN]]
    // CHECK-NEXT: nvgpu.device_async_wait %[[GROUP]] {numGroups = 0 : i32}
    // CHECK-NEXT: memref.load
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    %x = memref.load %S[%t] : !shared
    gpu.return
  }

  // CHECK-LABEL: gpu.func @others
  gpu.func @others(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    // CHECK: nvgpu.device_async_copy
    // CHECK-NEXT: %[[GROUP:.*]] = nvgpu.device_async_create_group
    // CHECK-NEXT: nvgpu.device_async_wait %[[GROUP]] {numGroups = 0 : i32}
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: memref.load
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    %x = memref.load %S[%u] : !shared
    gpu.return
  }

  // A group that nobody waits for.
  // CHECK-LABEL: gpu.func @group
  gpu.func @group(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // CHECK: nvgpu.device_async_copy
    // CHECK-NEXT: %[[GROUP:.*]] = nvgpu.device_async_create_group
    // CHECK-NEXT: nvgpu.device_async_wait %[[GROUP]] {numGroups = 0 : i32}
    // CHECK-NEXT: memref.load
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    %group = nvgpu.device_async_create_group %copy
    %x = memref.load %S[%t] : !shared
    gpu.return
  }

  // The wait comes before the barrier that is there, which would order nothing without.
  // CHECK-LABEL: gpu.func @barrier
  gpu.func @barrier(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    // CHECK: nvgpu.device_async_create_group
    // CHECK-NEXT: nvgpu.device_async_wait
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: memref.load
    // CHECK-NOT: gpu.barrier
    // CHECK: gpu.return
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    gpu.barrier
    %x = memref.load %S[%u] : !shared
    gpu.return
  }

  // Several copies are one group, and take one wait and one barrier.
  // CHECK-LABEL: gpu.func @several
  gpu.func @several(%in: memref<128xf32>, %more: memref<128xf32>) workgroup(%S: !shared, %T: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    // CHECK: %[[A:.*]] = nvgpu.device_async_copy
    // CHECK: %[[B:.*]] = nvgpu.device_async_copy
    // CHECK-NEXT: %[[GROUP:.*]] = nvgpu.device_async_create_group %[[A]], %[[B]]
    // CHECK-NEXT: nvgpu.device_async_wait %[[GROUP]] {numGroups = 0 : i32}
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: memref.load
    // CHECK-NEXT: memref.load
    %a = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    %u = arith.subi %c127, %t : index
    %b = nvgpu.device_async_copy %more[%t], %T[%t], 1 : memref<128xf32> to !shared
    %x = memref.load %S[%u] : !shared
    %y = memref.load %T[%u] : !shared
    gpu.return
  }

  // Who reads its own first copy leaves the second one under way.
  // CHECK-LABEL: gpu.func @loose
  gpu.func @loose(%in: memref<128xf32>, %more: memref<128xf32>) workgroup(%S: !shared, %T: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // CHECK: nvgpu.device_async_wait %{{.*}} {numGroups = 1 : i32}
    // CHECK-NEXT: memref.load
    // CHECK-NEXT: nvgpu.device_async_wait %{{.*}} {numGroups = 0 : i32}
    // CHECK-NEXT: memref.load
    %a = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    %first = nvgpu.device_async_create_group %a
    %b = nvgpu.device_async_copy %more[%t], %T[%t], 1 : memref<128xf32> to !shared
    %second = nvgpu.device_async_create_group %b
    %x = memref.load %S[%t] : !shared
    %y = memref.load %T[%t] : !shared
    gpu.return
  }

  // A wait that is there is taken as it is: what it leaves under way takes another one.
  // CHECK-LABEL: gpu.func @too_loose
  gpu.func @too_loose(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // CHECK: nvvm.cp.async.commit.group
    // CHECK-NEXT: nvvm.cp.async.wait.group 1
    // CHECK-NEXT: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: memref.load
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    %x = memref.load %S[%t] : !shared
    gpu.return
  }

  // What a copy reads may be written when it has been read.
  // CHECK-LABEL: gpu.func @source
  gpu.func @source(%in: memref<128xf32>, %x: f32) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    // CHECK: nvgpu.device_async_wait
    // CHECK-NEXT: memref.store
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    memref.store %x, %in[%t] : memref<128xf32>
    gpu.return
  }

  // Nobody touches what is copied: nothing to wait for.
  // CHECK-LABEL: gpu.func @unused
  gpu.func @unused(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // CHECK: nvgpu.device_async_copy
    // CHECK-NEXT: gpu.return
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    gpu.return
  }

  // By pointers.
  // CHECK-LABEL: gpu.func @pointers
  gpu.func @pointers(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i64
    %s = memref.extract_aligned_pointer_as_index %S : !shared -> index
    %s64 = arith.index_cast %s : index to i64
    %sp = llvm.inttoptr %s64 : i64 to !llvm.ptr<3>
    %to = llvm.getelementptr %sp[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %g = memref.extract_aligned_pointer_as_index %in : memref<128xf32> -> index
    %g64 = arith.index_cast %g : index to i64
    %gp = llvm.inttoptr %g64 : i64 to !llvm.ptr<1>
    %from = llvm.getelementptr %gp[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    // CHECK: nvvm.cp.async.shared.global
    // CHECK-NEXT: nvvm.cp.async.commit.group
    // CHECK-NEXT: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: memref.load
    nvvm.cp.async.shared.global %to, %from, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    %x = memref.load %S[%t] : !shared
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
!slots = memref<3x128xf32, #wg>
!shared = memref<128xf32, #wg>

gpu.module @loops {
  // In each iteration.
  // CHECK-LABEL: gpu.func @each_iteration
  gpu.func @each_iteration(%in: memref<?x128xf32>, %n: index) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    // CHECK: scf.for
    // CHECK: nvgpu.device_async_copy
    // CHECK-NEXT: %[[GROUP:.*]] = nvgpu.device_async_create_group
    // CHECK-NEXT: nvgpu.device_async_wait %[[GROUP]] {numGroups = 0 : i32}
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: memref.load
    scf.for %i = %c0 to %n step %c1 {
      %copy = nvgpu.device_async_copy %in[%i, %t], %S[%t], 1 : memref<?x128xf32> to !shared
      %x = memref.load %S[%u] : !shared
    }
    gpu.return
  }

  // Behind the loop, once.
  // CHECK-LABEL: gpu.func @behind
  gpu.func @behind(%in: memref<3x128xf32>) workgroup(%S: !slots)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    // CHECK: scf.for
    // CHECK: nvgpu.device_async_copy
    // CHECK-NEXT: nvgpu.device_async_create_group
    // CHECK-NEXT: }
    // CHECK-NEXT: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: memref.load
    scf.for %i = %c0 to %c3 step %c1 {
      %copy = nvgpu.device_async_copy %in[%i, %t], %S[%i, %t], 1 : memref<3x128xf32> to !slots
    }
    %x = memref.load %S[%c1, %t] : !slots
    gpu.return
  }

  // A ring: before the barrier of the iteration, and the newer copy goes on.
  // CHECK-LABEL: gpu.func @ring
  gpu.func @ring(%in: memref<?x128xf32>, %n: index) workgroup(%S: !slots)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %a = nvgpu.device_async_copy %in[%c0, %t], %S[%c0, %t], 1 : memref<?x128xf32> to !slots
    nvvm.cp.async.commit.group
    %b = nvgpu.device_async_copy %in[%c1, %t], %S[%c1, %t], 1 : memref<?x128xf32> to !slots
    nvvm.cp.async.commit.group
    // CHECK: scf.for
    // CHECK-NEXT: nvvm.cp.async.wait.group 1
    // CHECK-NEXT: gpu.barrier
    // CHECK-NOT: wait
    // CHECK-NOT: gpu.barrier
    // CHECK: gpu.return
    scf.for %i = %c0 to %n step %c1 {
      gpu.barrier
      %i2 = arith.addi %i, %c2 : index
      %live = arith.cmpi ult, %i2, %n : index
      %to = arith.remui %i2, %c3 : index
      scf.if %live {
        %c = nvgpu.device_async_copy %in[%i2, %t], %S[%to, %t], 1 : memref<?x128xf32> to !slots
      }
      nvvm.cp.async.commit.group
      %from = arith.remui %i, %c3 : index
      %x = memref.load %S[%from, %u] : !slots
    }
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
!shared = memref<128xf32, #wg>

gpu.module @branches {
  // The group is committed on both paths, and waited for behind.
  // CHECK-LABEL: gpu.func @some
  gpu.func @some(%in: memref<128xf32>, %is: i1) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    // CHECK: scf.if
    // CHECK: nvgpu.device_async_copy
    // CHECK-NEXT: }
    // CHECK-NEXT: %[[GROUP:.*]] = nvgpu.device_async_create_group
    // CHECK-NEXT: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: memref.load
    scf.if %is {
      %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    }
    %x = memref.load %S[%u] : !shared
    gpu.return
  }

  // Within a branch region.
  // CHECK-LABEL: gpu.func @in_arm
  gpu.func @in_arm(%in: memref<128xf32>, %is: i1) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // CHECK: scf.if
    // CHECK-NEXT: nvgpu.device_async_copy
    // CHECK-NEXT: %[[GROUP:.*]] = nvgpu.device_async_create_group
    // CHECK-NEXT: nvgpu.device_async_wait %[[GROUP]]
    // CHECK-NEXT: memref.load
    scf.if %is {
      %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
      %x = memref.load %S[%t] : !shared
    }
    gpu.return
  }

  // Threads that go their own way wait there.
  // CHECK-LABEL: gpu.func @divergent
  gpu.func @divergent(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c9 = arith.constant 9 : index
    %few = arith.cmpi ult, %t, %c9 : index
    // CHECK: scf.if
    // CHECK-NEXT: nvgpu.device_async_copy
    // CHECK-NEXT: %[[GROUP:.*]] = nvgpu.device_async_create_group
    // CHECK-NEXT: nvgpu.device_async_wait %[[GROUP]]
    // CHECK-NEXT: memref.load
    scf.if %few {
      %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
      %x = memref.load %S[%t] : !shared
    }
    gpu.return
  }

  // Loops that each thread iterates on its own: before the reader, or behind the copy.
  // CHECK-LABEL: gpu.func @own_iterations
  gpu.func @own_iterations(%in: memref<128xf32>) workgroup(%S: !shared, %T: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: scf.for
    // CHECK-NEXT: nvgpu.device_async_copy
    // CHECK-NEXT: %[[FIRST:.*]] = nvgpu.device_async_create_group
    // CHECK-NEXT: nvgpu.device_async_wait %[[FIRST]] {numGroups = 0 : i32}
    // CHECK-NEXT: memref.load
    scf.for %i = %c0 to %t step %c1 {
      %copy = nvgpu.device_async_copy %in[%i], %S[%t], 1 : memref<128xf32> to !shared
      %x = memref.load %S[%t] : !shared
    }
    // CHECK: scf.for
    // CHECK-NEXT: memref.load
    // CHECK-NEXT: nvgpu.device_async_copy
    // CHECK-NEXT: %[[SECOND:.*]] = nvgpu.device_async_create_group
    // CHECK-NEXT: nvgpu.device_async_wait %[[SECOND]] {numGroups = 0 : i32}
    // CHECK-NEXT: }
    scf.for %i = %c0 to %t step %c1 {
      %x = memref.load %T[%t] : !shared
      %copy = nvgpu.device_async_copy %in[%i], %T[%t], 1 : memref<128xf32> to !shared
    }
    gpu.return
  }

  // The other region has nothing to wait for, but the wait stands before both.
  // CHECK-LABEL: gpu.func @read_in_arm
  gpu.func @read_in_arm(%in: memref<128xf32>, %is: i1) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // CHECK: nvgpu.device_async_create_group
    // CHECK-NEXT: nvgpu.device_async_wait
    // CHECK-NEXT: scf.if
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    scf.if %is {
      %x = memref.load %S[%t] : !shared
    }
    gpu.return
  }
}

// -----

// Before outlining, in blocks.
// CHECK-LABEL: func.func @launch
func.func @launch(%in: memref<128xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c127 = arith.constant 127 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1)
             workgroup(%S: memref<128xf32, 3>) {
    // CHECK: nvgpu.device_async_copy
    // CHECK-NEXT: %[[GROUP:.*]] = nvgpu.device_async_create_group
    // CHECK: nvgpu.device_async_wait %[[GROUP]] {numGroups = 0 : i32}
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: memref.load
    %copy = nvgpu.device_async_copy %in[%tx], %S[%tx], 1 : memref<128xf32> to memref<128xf32, 3>
    cf.br ^next
  ^next:
    %u = arith.subi %c127, %tx : index
    %x = memref.load %S[%u] : memref<128xf32, 3>
    gpu.terminator
  }
  return
}

// -----

#wg = #gpu.address_space<workgroup>
!shared = memref<128xf32, #wg>

gpu.module @calls {
  func.func private @start(%in: memref<128xf32>, %S: !shared, %t: index) {
    %copy = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<128xf32> to !shared
    return
  }
  // CHECK-LABEL: gpu.func @caller
  gpu.func @caller(%in: memref<128xf32>) workgroup(%S: !shared)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    // CHECK: call @start
    // CHECK-NEXT: nvvm.cp.async.commit.group
    // CHECK-NEXT: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: memref.load
    func.call @start(%in, %S, %t) : (memref<128xf32>, !shared, index) -> ()
    %x = memref.load %S[%u] : !shared
    gpu.return
  }
}
