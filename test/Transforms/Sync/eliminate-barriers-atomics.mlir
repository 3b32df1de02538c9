// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s --check-prefix=INSERT

// Atomic updates do not race, but barriers order them: what they return, or leave, may depend on it. None is inserted for that.

!S = memref<1xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  // All get 128.
  // CHECK-LABEL: gpu.func @counted(
  // CHECK:         memref.atomic_rmw
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.atomic_rmw
  gpu.func @counted(%one: i32, %zero: i32, %out: memref<128xi32> {llvm.noalias}, %S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %before = memref.atomic_rmw addi %one, %S[%c0] : (i32, !S) -> i32
    gpu.barrier
    %all = memref.atomic_rmw addi %zero, %S[%c0] : (i32, !S) -> i32
    memref.store %all, %out[%t] : memref<128xi32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @other_kind(
  // CHECK:         memref.atomic_rmw addi
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.atomic_rmw maxs
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.atomic_rmw assign
  gpu.func @other_kind(%one: i32, %S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.atomic_rmw addi %one, %S[%c0] : (i32, !S) -> i32
    gpu.barrier
    %b = memref.atomic_rmw maxs %one, %S[%c0] : (i32, !S) -> i32
    gpu.barrier
    %c = memref.atomic_rmw assign %one, %S[%c0] : (i32, !S) -> i32
    gpu.return
  }
  // Of what follows the barrier, two are in any order, but not before what it is for.
  // CHECK-LABEL: gpu.func @other_kind_twice(
  // CHECK:         memref.atomic_rmw assign
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.atomic_rmw addi
  // CHECK-NEXT:    memref.atomic_rmw addi
  gpu.func @other_kind_twice(%one: i32, %S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.atomic_rmw assign %one, %S[%c0] : (i32, !S) -> i32
    gpu.barrier
    %b = memref.atomic_rmw addi %one, %S[%c0] : (i32, !S) -> i32
    %c = memref.atomic_rmw addi %one, %S[%c0] : (i32, !S) -> i32
    gpu.return
  }
  // CHECK-LABEL: gpu.func @any_kind(
  // CHECK:         gpu.barrier
  gpu.func @any_kind(%one: i32, %S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.generic_atomic_rmw %S[%c0] : !S {
    ^bb0(%now: i32):
      %next = arith.muli %now, %one : i32
      memref.atomic_yield %next : i32
    }
    gpu.barrier
    %b = memref.atomic_rmw addi %one, %S[%c0] : (i32, !S) -> i32
    gpu.return
  }
  // In a loop the barrier orders iterations.
  // CHECK-LABEL: gpu.func @iterations(
  // CHECK:         scf.for
  // CHECK:           gpu.barrier
  gpu.func @iterations(%one: i32, %n: index, %out: memref<128xi32> {llvm.noalias}, %S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.atomic_rmw addi %one, %S[%c0] : (i32, !S) -> i32
      memref.store %a, %out[%t] : memref<128xi32>
      gpu.barrier
    }
    gpu.return
  }
  // Sums of integers are the same in every order, of numbers with a point they are rounded.
  // CHECK-LABEL: gpu.func @in_any_order(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  // INSERT-LABEL: gpu.func @unordered(
  // INSERT-NOT:     gpu.barrier
  // INSERT:         gpu.return
  gpu.func @in_any_order(%one: i32, %S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.atomic_rmw addi %one, %S[%c0] : (i32, !S) -> i32
    gpu.barrier
    %b = memref.atomic_rmw addi %one, %S[%c0] : (i32, !S) -> i32
    gpu.return
  }
  // CHECK-LABEL: gpu.func @rounded(
  // CHECK:         gpu.barrier
  gpu.func @rounded(%x: f32, %S: memref<1xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.atomic_rmw addf %x, %S[%c0] : (f32, memref<1xf32, #gpu.address_space<workgroup>>) -> f32
    gpu.barrier
    %b = memref.atomic_rmw addf %x, %S[%c0] : (f32, memref<1xf32, #gpu.address_space<workgroup>>) -> f32
    gpu.return
  }
  // Each thread has a place of its own.
  // CHECK-LABEL: gpu.func @own(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @own(%one: i32, %out: memref<128xi32> {llvm.noalias}, %S: memref<128xi32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %a = memref.atomic_rmw addi %one, %S[%t] : (i32, memref<128xi32, #gpu.address_space<workgroup>>) -> i32
    gpu.barrier
    %b = memref.atomic_rmw maxs %one, %S[%t] : (i32, memref<128xi32, #gpu.address_space<workgroup>>) -> i32
    memref.store %b, %out[%t] : memref<128xi32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @unordered(
  gpu.func @unordered(%one: i32, %out: memref<128xi32> {llvm.noalias}, %S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %a = memref.atomic_rmw addi %one, %S[%c0] : (i32, !S) -> i32
    %b = memref.atomic_rmw maxs %one, %S[%c0] : (i32, !S) -> i32
    memref.store %b, %out[%t] : memref<128xi32>
    gpu.return
  }
}
