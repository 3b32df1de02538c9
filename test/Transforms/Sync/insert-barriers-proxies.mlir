// Proxy fences before TMA, in the threads that have touched the bytes, and before the barrier. 128 threads.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers{strict})' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync{strict})' -o %t
// RUN: mlir-opt %t --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers)' | diff - %t
// RUN: mlir-opt %t --split-input-file --pass-pipeline='builtin.module(workgroup-eliminate-barriers,workgroup-verify-sync{strict})' | FileCheck %s
// Without them something is found.
// RUN: grep -v fence.proxy %t | not mlir-opt --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=MUTANT

// MUTANT-COUNT-4: no proxy fence (nvvm.fence.proxy) tells TMA of the other access

!S = memref<128xf32, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>

gpu.module @m {
  // Neither fence nor barrier.
  // CHECK-LABEL: gpu.func @store
  gpu.func @store(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %elected = arith.cmpi eq, %t, %c0 : index
    // CHECK: memref.store
    // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: scf.if
    memref.store %x, %S[%t] : !S
    scf.if %elected {
      nvgpu.tma.async.store %S to %map[%c0] : !S -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  // The fence comes before the barrier that is there.
  // CHECK-LABEL: gpu.func @barrier
  gpu.func @barrier(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %elected = arith.cmpi eq, %t, %c0 : index
    // CHECK: memref.store
    // CHECK-NEXT: nvvm.fence.proxy
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: scf.if
    // CHECK-NOT: gpu.barrier
    // CHECK: gpu.return
    memref.store %x, %S[%t] : !S
    gpu.barrier
    scf.if %elected {
      nvgpu.tma.async.store %S to %map[%c0] : !S -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  // In each iteration of a loop, both for what was written and for what will be.
  // CHECK-LABEL: gpu.func @loop
  gpu.func @loop(%map: !map, %x: f32, %n: index) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %elected = arith.cmpi eq, %t, %c0 : index
    // CHECK: scf.for
    // CHECK: memref.store
    // CHECK-NEXT: nvvm.fence.proxy
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: scf.if
    scf.for %i = %c0 to %n step %c1 {
      memref.store %x, %S[%t] : !S
      scf.if %elected {
        nvgpu.tma.async.store %S to %map[%c0] : !S -> !map
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
    }
    gpu.return
  }

  // One thread does both: right before TMA.
  // CHECK-LABEL: gpu.func @own
  gpu.func @own(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %elected = arith.cmpi eq, %t, %c0 : index
    // CHECK: scf.if
    // CHECK-NEXT: memref.store
    // CHECK-NEXT: nvvm.fence.proxy
    // CHECK-NEXT: nvgpu.tma.async.store
    scf.if %elected {
      memref.store %x, %S[%c0] : !S
      nvgpu.tma.async.store %S to %map[%c0] : !S -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  // By pointers, of any size.
  // CHECK-LABEL: gpu.func @pointers
  gpu.func @pointers(%out: memref<128xf32>, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %size = arith.constant 512 : i32
    %t = gpu.thread_id x
    %elected = arith.cmpi eq, %t, %c0 : index
    %s = memref.extract_aligned_pointer_as_index %S : !S -> index
    %s64 = arith.index_cast %s : index to i64
    %from = llvm.inttoptr %s64 : i64 to !llvm.ptr<3>
    %g = memref.extract_aligned_pointer_as_index %out : memref<128xf32> -> index
    %g64 = arith.index_cast %g : index to i64
    %to = llvm.inttoptr %g64 : i64 to !llvm.ptr<1>
    // CHECK: memref.store
    // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: scf.if
    memref.store %x, %S[%t] : !S
    scf.if %elected {
      nvvm.cp.async.bulk.global.shared.cta %to, %from, %size : !llvm.ptr<1>, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
