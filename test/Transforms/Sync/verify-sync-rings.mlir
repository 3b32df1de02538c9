// Rings are proved as they are lowered: by cp.async and through registers, in loops
// within loops, of any number of iterations, and when nothing is left but branches.

// RUN: mlir-opt %S/../Rings/lower-rings.mlir --pass-pipeline='builtin.module(workgroup-lower-rings{assume-alignment=16},canonicalize,cse,workgroup-verify-sync{assume-distinct-arguments=true})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=RINGS --allow-empty
// RUN: mlir-opt %S/../Rings/lower-rings.mlir --pass-pipeline='builtin.module(workgroup-lower-rings{assume-alignment=16 engine=registers},workgroup-verify-sync{assume-distinct-arguments=true})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=RINGS --allow-empty
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync{strict=true})' --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-eliminate-barriers)' | diff %t.once -
// RUN: FileCheck %s --input-file=%t.once

// RINGS-NOT: data race

// Three slots, two iterations ahead; the first two copies in a loop of their own. The
// one barrier is for all: for what was copied, and for the slot that was read.
// CHECK-LABEL: gpu.func @ring
// CHECK:         scf.for
// CHECK-NOT:       gpu.barrier
// CHECK:         scf.for
// CHECK-NEXT:      nvvm.cp.async.wait.group 1
// CHECK-NEXT:      gpu.barrier
// CHECK-NOT:       gpu.barrier
// CHECK:         gpu.return
gpu.module @rings {
  gpu.func @ring(%in: memref<?x128xi32> {llvm.noalias}, %out: memref<?x128xi32> {llvm.noalias}, %n: index) workgroup(%S: memref<3x128xi32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %k = %c0 to %c2 step %c1 {
      %live = arith.cmpi ult, %k, %n : index
      scf.if %live {
        %token = nvgpu.device_async_copy %in[%k, %t], %S[%k, %t], 1 : memref<?x128xi32> to memref<3x128xi32, 3>
      }
      nvvm.cp.async.commit.group
    }
    scf.for %i = %c0 to %n step %c1 {
      nvvm.cp.async.wait.group 1
      gpu.barrier
      %next = arith.addi %i, %c2 : index
      %live = arith.cmpi ult, %next, %n : index
      scf.if %live {
        %to = arith.remui %next, %c3 : index
        %token = nvgpu.device_async_copy %in[%next, %t], %S[%to, %t], 1 : memref<?x128xi32> to memref<3x128xi32, 3>
      }
      nvvm.cp.async.commit.group
      %slot = arith.remui %i, %c3 : index
      %x = memref.load %S[%slot, %u] : memref<3x128xi32, 3>
      memref.store %x, %out[%i, %t] : memref<?x128xi32>
    }
    gpu.return
  }

  // Without the barrier both orders are lost; it is put where it was.
  // CHECK-LABEL: gpu.func @no_barrier
  // CHECK:         scf.for
  // CHECK:           nvvm.cp.async.wait.group 0
  // CHECK:           gpu.barrier
  // CHECK:           nvgpu.device_async_copy
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @no_barrier(%in: memref<?x128xi32> {llvm.noalias}, %out: memref<?x128xi32> {llvm.noalias}, %n: index) workgroup(%S: memref<2x128xi32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access: 'nvgpu.device_async_copy' writes in thread}}
    %first = nvgpu.device_async_copy %in[%c0, %t], %S[%c0, %t], 1 : memref<?x128xi32> to memref<2x128xi32, 3>
    nvvm.cp.async.commit.group
    scf.for %i = %c0 to %n step %c1 {
      nvvm.cp.async.wait.group 0
      %next = arith.addi %i, %c1 : index
      %live = arith.cmpi ult, %next, %n : index
      scf.if %live {
        %to = arith.remui %next, %c2 : index
        // expected-note @+1 {{the other access: 'nvgpu.device_async_copy' writes in thread}}
        %token = nvgpu.device_async_copy %in[%next, %t], %S[%to, %t], 1 : memref<?x128xi32> to memref<2x128xi32, 3>
      }
      nvvm.cp.async.commit.group
      %slot = arith.remui %i, %c2 : index
      // expected-error @+1 {{data race on workgroup memory %arg3: thread}}
      %x = memref.load %S[%slot, %u] : memref<2x128xi32, 3>
      memref.store %x, %out[%i, %t] : memref<?x128xi32>
    }
    gpu.return
  }
}
