// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.once 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-eliminate-barriers)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null

// What a thread has fenced, the one that has TMA store it knows of only behind a barrier: one that
// stands in front of the fence is needed by something else in each kernel, and does not do.

!desc = !nvgpu.tensormap.descriptor<tensor = memref<64xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

// NONE-NOT: warning
gpu.module @m {
  // CHECK-LABEL: gpu.func @straight(
  // CHECK-COUNT-2: memref.store
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK:         nvvm.fence.proxy
  // CHECK:         gpu.barrier
  // CHECK:         nvgpu.tma.async.store
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @straight(%d: !desc, %x: f32, %out: memref<64xf32> {llvm.noalias}) workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    memref.store %x, %a[%t] : memref<64xf32, 3>
    memref.store %x, %b[%t] : memref<64xf32, 3>
    %y = memref.load %b[%u] : memref<64xf32, 3>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    memref.store %y, %out[%t] : memref<64xf32>
    %is = arith.cmpi eq, %t, %c0 : index
    scf.if %is {
      nvgpu.tma.async.store %a to %d[%c0] : memref<64xf32, 3> -> !desc
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  // A fence in each of two regions that all threads take alike.
  // CHECK-LABEL: gpu.func @regions(
  // CHECK-COUNT-2: memref.store
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK:         scf.if
  // CHECK:         nvvm.fence.proxy
  // CHECK:         else
  // CHECK:         nvvm.fence.proxy
  // CHECK:         }
  // CHECK:         gpu.barrier
  // CHECK:         nvgpu.tma.async.store
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @regions(%d: !desc, %x: f32, %c: i1, %out: memref<64xf32> {llvm.noalias}) workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    memref.store %x, %a[%t] : memref<64xf32, 3>
    memref.store %x, %b[%t] : memref<64xf32, 3>
    %y = memref.load %b[%u] : memref<64xf32, 3>
    scf.if %c {
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      memref.store %y, %out[%t] : memref<64xf32>
    } else {
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    }
    %is = arith.cmpi eq, %t, %c0 : index
    scf.if %is {
      nvgpu.tma.async.store %a to %d[%c0] : memref<64xf32, 3> -> !desc
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  // Stored again in the next iteration: the barrier behind the fence orders one
  // thing, the one behind the wait another.
  // CHECK-LABEL: gpu.func @iterations(
  // CHECK:         scf.for
  // CHECK:           gpu.barrier
  // CHECK:           memref.store
  // CHECK:           nvvm.fence.proxy
  // CHECK:           gpu.barrier
  // CHECK:           nvgpu.tma.async.store
  // CHECK:           nvvm.cp.async.bulk.wait_group
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @iterations(%d: !desc, %x: f32, %n: index) workgroup(%a: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %is = arith.cmpi eq, %t, %c0 : index
    scf.for %i = %c0 to %n step %c1 {
      memref.store %x, %a[%t] : memref<64xf32, 3>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      scf.if %is {
        nvgpu.tma.async.store %a to %d[%c0] : memref<64xf32, 3> -> !desc
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
    }
    gpu.return
  }
}
