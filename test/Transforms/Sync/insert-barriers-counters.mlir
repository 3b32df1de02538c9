// How iterations are counted, and in which type, makes no difference: a ring that is
// filled ahead of the reader takes one barrier in an iteration, before and after the
// loops become branches between blocks.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(convert-scf-to-cf,workgroup-insert-barriers)' | FileCheck %s

gpu.module @counters {
  // CHECK-LABEL: gpu.func @of_64_bits(
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // Without flags: a counter of 64 bits does not get to their end.
  gpu.func @of_64_bits(%x: f32, %out: memref<128xf32>, %n: i64)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : i64
    %k1 = arith.constant 1 : i64
    %k2 = arith.constant 2 : i64
    %k3 = arith.constant 3 : i64
    scf.for %i = %k0 to %n step %k1 : i64 {
      %to0 = arith.addi %i, %k2 : i64
      %to1 = arith.remsi %to0, %k3 : i64
      %to = arith.index_cast %to1 : i64 to index
      %from0 = arith.remsi %i, %k3 : i64
      %from = arith.index_cast %from0 : i64 to index
      memref.store %x, %S[%to, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @of_64_bits_unsigned(
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // The same without a sign.
  gpu.func @of_64_bits_unsigned(%x: f32, %out: memref<128xf32>, %n: i64)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : i64
    %k1 = arith.constant 1 : i64
    %k2 = arith.constant 2 : i64
    %k3 = arith.constant 3 : i64
    scf.for unsigned %i = %k0 to %n step %k1 : i64 {
      %to0 = arith.addi %i, %k2 : i64
      %to1 = arith.remui %to0, %k3 : i64
      %to = arith.index_castui %to1 : i64 to index
      %from0 = arith.remui %i, %k3 : i64
      %from = arith.index_castui %from0 : i64 to index
      memref.store %x, %S[%to, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @of_64_bits_by_four(
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // By other steps.
  gpu.func @of_64_bits_by_four(%x: f32, %out: memref<128xf32>, %n: i64)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : i64
    %k3 = arith.constant 3 : i64
    %k4 = arith.constant 4 : i64
    scf.for %i = %k0 to %n step %k4 : i64 {
      %i4 = arith.divsi %i, %k4 : i64
      %to0 = arith.addi %i, %k4 : i64
      %to1 = arith.divui %to0, %k4 : i64
      %to2 = arith.remui %to1, %k3 : i64
      %to = arith.index_cast %to2 : i64 to index
      %from0 = arith.remsi %i4, %k3 : i64
      %from = arith.index_cast %from0 : i64 to index
      memref.store %x, %S[%to, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @unsigned(
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // An index without a sign.
  gpu.func @unsigned(%x: f32, %out: memref<128xf32>, %n: index)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : index
    %k1 = arith.constant 1 : index
    %k2 = arith.constant 2 : index
    %k3 = arith.constant 3 : index
    scf.for unsigned %i = %k0 to %n step %k1 {
      %to0 = arith.addi %i, %k2 : index
      %to = arith.remui %to0, %k3 : index
      %from = arith.remsi %i, %k3 : index
      memref.store %x, %S[%to, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @of_32_bits(
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // Two ahead of the last number of 32 bits it wraps to below zero.
  gpu.func @of_32_bits(%x: f32, %out: memref<128xf32>, %n: i32)
      workgroup(%S: memref<4x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : i32
    %k1 = arith.constant 1 : i32
    %k2 = arith.constant 2 : i32
    %k4 = arith.constant 4 : i32
    scf.for %i = %k0 to %n step %k1 : i32 {
      %to0 = arith.addi %i, %k2 : i32
      %to1 = arith.remsi %to0, %k4 : i32
      %to = arith.index_cast %to1 : i32 to index
      %from0 = arith.remsi %i, %k4 : i32
      %from = arith.index_cast %from0 : i32 to index
      memref.store %x, %S[%to, %t] : memref<4x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<4x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @of_32_bits_without_sign(
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // Or not.
  gpu.func @of_32_bits_without_sign(%x: f32, %out: memref<128xf32>, %n: i32)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : i32
    %k1 = arith.constant 1 : i32
    %k2 = arith.constant 2 : i32
    %k3 = arith.constant 3 : i32
    scf.for %i = %k0 to %n step %k1 : i32 {
      %to0 = arith.addi %i, %k2 : i32
      %to1 = arith.remui %to0, %k3 : i32
      %to = arith.index_castui %to1 : i32 to index
      %from0 = arith.remui %i, %k3 : i32
      %from = arith.index_cast %from0 : i32 to index
      memref.store %x, %S[%to, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @of_32_bits_unsigned(
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // A counter that passes the largest number with a sign.
  gpu.func @of_32_bits_unsigned(%x: f32, %out: memref<128xf32>, %n: i32)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : i32
    %k1 = arith.constant 1 : i32
    %k3 = arith.constant 3 : i32
    scf.for unsigned %i = %k0 to %n step %k1 : i32 {
      %to1 = arith.remui %i, %k3 : i32
      %to = arith.index_castui %to1 : i32 to index
      %wide = arith.extui %i : i32 to i64
      %three = arith.constant 3 : i64
      %from0 = arith.remui %wide, %three : i64
      %from = arith.index_cast %from0 : i64 to index
      memref.store %x, %S[%to, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @of_constant_iterations(
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // The last number is far away.
  gpu.func @of_constant_iterations(%x: f32, %out: memref<128xf32>, %n: i32)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : i32
    %k1 = arith.constant 1 : i32
    %k2 = arith.constant 2 : i32
    %k3 = arith.constant 3 : i32
    %k64 = arith.constant 64 : i32
    scf.for %i = %k0 to %k64 step %k1 : i32 {
      %to0 = arith.addi %i, %k1 : i32
      %to1 = arith.remsi %to0, %k3 : i32
      %to = arith.index_cast %to1 : i32 to index
      %from0 = arith.remsi %i, %k3 : i32
      %from = arith.index_cast %from0 : i32 to index
      memref.store %x, %S[%to, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @from_somewhere(
  // CHECK: gpu.barrier
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // From below zero, which is large without a sign, the last slot and the first are one.
  gpu.func @from_somewhere(%x: f32, %out: memref<128xf32>, %n: index, %first: index)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : index
    %k1 = arith.constant 1 : index
    %k3 = arith.constant 3 : index
    scf.for %i = %k0 to %n step %k1 {
      %at = arith.addi %i, %first : index
      %to = arith.remui %at, %k3 : index
      %same = arith.addi %first, %i : index
      %from = arith.remui %same, %k3 : index
      memref.store %x, %S[%to, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @carried(
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // What starts again, in 64 bits.
  gpu.func @carried(%x: f32, %out: memref<128xf32>, %n: index)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    %k0 = arith.constant 0 : index
    %k1 = arith.constant 1 : index
    %z = arith.constant 0 : i64
    %o = arith.constant 1 : i64
    %th = arith.constant 3 : i64
    %end = scf.for %i = %k0 to %n step %k1 iter_args(%slot = %z) -> i64 {
      %to = arith.index_cast %slot : i64 to index
      %from = arith.index_castui %slot : i64 to index
      memref.store %x, %S[%to, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      %y = memref.load %S[%from, %u] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
      %s1 = arith.addi %slot, %o : i64
      %s2 = arith.remui %s1, %th : i64
      scf.yield %s2 : i64
    }
    gpu.return
  }

  // From below zero by two: a product that the test of the loop says to fit.
  // CHECK-LABEL: gpu.func @in_steps_of_two(
  // CHECK-NOT:     gpu.barrier
  gpu.func @in_steps_of_two(%x: f32) workgroup(%S: memref<1024xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %first = arith.constant -3 : i32
    %end = arith.constant 2 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %row = arith.constant 128 : i32
    scf.for %i = %first to %end step %two : i32 {
      %above = arith.addi %i, %three : i32
      %place = arith.muli %above, %row : i32
      %begin = arith.index_cast %place : i32 to index
      %at = arith.addi %begin, %t : index
      memref.store %x, %S[%at] : memref<1024xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @last(
  gpu.func @last() kernel {
    gpu.return
  }
}
