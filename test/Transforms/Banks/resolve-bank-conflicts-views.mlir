// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' -o %t.twice
// RUN: diff %t.once %t.twice

// Accesses by way of casts, views and loops count as those of the buffer, and follow its layout.

gpu.module @kernels {
  // A cast is no reason to miss an access.
  // CHECK-LABEL: gpu.func @casts
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<32x33xf32, 3>)
  // CHECK-NOT:     memref.cast
  // CHECK-NOT:     memref.memory_space_cast
  // CHECK:         memref.load %[[W]][%{{.+}}, %{{.+}}] : memref<32x33xf32, 3>
  // CHECK:         memref.store %{{.+}}, %[[W]][%{{.+}}, %{{.+}}] : memref<32x33xf32, 3>
  gpu.func @casts()
      workgroup(%w: memref<32x32xf32, 3>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %cast = memref.cast %w : memref<32x32xf32, 3> to memref<?x?xf32, strided<[?, ?], offset: ?>, 3>
    %generic = memref.memory_space_cast %cast : memref<?x?xf32, strided<[?, ?], offset: ?>, 3> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %0 = memref.load %cast[%x, %c0] : memref<?x?xf32, strided<[?, ?], offset: ?>, 3>
    memref.store %0, %generic[%x, %c0] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @subviews
  // CHECK-SAME:    (%[[I:.+]]: index) workgroup(%[[W:.+]] : memref<2x32x33xf32, 3>)
  // CHECK-NOT:     memref.subview
  // CHECK:         %[[X:.+]] = gpu.thread_id
  // CHECK:         %[[TWICE:.+]] = arith.muli %[[X]]
  // CHECK:         %[[ROW:.+]] = arith.addi %{{.+}}, %[[TWICE]]
  // CHECK:         %[[COLUMN:.+]] = arith.addi %{{.+}}, %{{.+}}
  // CHECK:         memref.load %[[W]][%[[I]], %[[ROW]], %[[COLUMN]]]
  gpu.func @subviews(%i: index)
      workgroup(%w: memref<2x32x32xf32, 3>)
      kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %x = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %stage = memref.subview %w[%i, 0, 0] [1, 32, 32] [1, 1, 1] : memref<2x32x32xf32, 3> to memref<32x32xf32, strided<[32, 1], offset: ?>, 3>
    %part = memref.subview %stage[8, %i] [12, 16] [2, 1] : memref<32x32xf32, strided<[32, 1], offset: ?>, 3> to memref<12x16xf32, strided<[64, 1], offset: ?>, 3>
    %0 = memref.load %part[%x, %c1] : memref<12x16xf32, strided<[64, 1], offset: ?>, 3>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @collapsed_and_expanded
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<32x33xf32, 3>)
  // CHECK-NOT:     memref.collapse_shape
  // CHECK-NOT:     memref.expand_shape
  // CHECK:         %[[LINEAR:.+]] = arith.muli
  // CHECK:         %[[COLUMN:.+]] = arith.remui %[[LINEAR]], %{{.+}}
  // CHECK:         %[[ROW:.+]] = arith.divui %[[LINEAR]], %{{.+}}
  // CHECK:         memref.load %[[W]][%[[ROW]], %[[COLUMN]]]
  // CHECK:         memref.load %[[W]][%{{.+}}, %{{.+}}]
  gpu.func @collapsed_and_expanded() -> (f32, f32)
      workgroup(%w: memref<32x32xf32, 3>)
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %flat = memref.collapse_shape %w [[0, 1]] : memref<32x32xf32, 3> into memref<1024xf32, 3>
    %i = arith.muli %x, %c32 : index
    %0 = memref.load %flat[%i] : memref<1024xf32, 3>
    %deep = memref.expand_shape %flat [[0, 1, 2]] output_shape [32, 4, 8] : memref<1024xf32, 3> into memref<32x4x8xf32, 3>
    %1 = memref.load %deep[%x, %c0, %c0] : memref<32x4x8xf32, 3>
    gpu.return %0, %1 : f32, f32
  }

  // CHECK-LABEL: gpu.func @transposed
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<32x33xf32, 3>)
  // CHECK:         %[[X:.+]] = gpu.thread_id
  // CHECK:         %[[C1:.+]] = arith.constant 1
  // CHECK-NOT:     memref.transpose
  // CHECK:         memref.load %[[W]][%[[X]], %[[C1]]]
  gpu.func @transposed() -> f32
      workgroup(%w: memref<32x32xf32, 3>)
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %t = memref.transpose %w (i, j) -> (j, i) : memref<32x32xf32, 3> to memref<32x32xf32, strided<[1, 32]>, 3>
    %0 = memref.load %t[%c1, %x] : memref<32x32xf32, strided<[1, 32]>, 3>
    gpu.return %0 : f32
  }

  // CHECK-LABEL: gpu.func @reinterpreted
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<32x33xf32, 3>)
  // CHECK-NOT:     memref.reinterpret_cast
  // CHECK:         memref.load %[[W]]
  gpu.func @reinterpreted() -> f32
      workgroup(%w: memref<32x32xf32, 3>)
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %t = memref.reinterpret_cast %w to offset: [32], sizes: [15, 8], strides: [64, 4] : memref<32x32xf32, 3> to memref<15x8xf32, strided<[64, 4], offset: 32>, 3>
    %0 = memref.load %t[%x, %c1] : memref<15x8xf32, strided<[64, 4], offset: 32>, 3>
    gpu.return %0 : f32
  }

  // Extents that are asked for are those before; deallocations follow; stated
  // alignments stay.
  // CHECK-LABEL: gpu.func @other_uses
  // CHECK:         %[[W:.+]] = memref.alloca() {alignment = 128 : i64, name = "tile"} : memref<32x33xf32, #gpu.address_space<workgroup>>
  // CHECK:         %[[A:.+]] = memref.assume_alignment %[[W]], 16 : memref<32x33xf32, #gpu.address_space<workgroup>>
  // CHECK-NOT:     memref.cast
  // CHECK:         %[[C32:.+]] = arith.constant 32 : index
  // CHECK:         arith.muli %[[C32]], %{{.+}}
  // CHECK:         memref.load %[[A]][%{{.+}}, %{{.+}}] {alignment = 4 : i64} : memref<32x33xf32
  // CHECK:         memref.dealloc %[[W]] : memref<32x33xf32
  gpu.func @other_uses() -> (f32, index)
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %w = memref.alloca() {alignment = 128 : i64, name = "tile"} : memref<32x32xf32, #nvvm.memory_space<shared>>
    %a = memref.assume_alignment %w, 16 : memref<32x32xf32, #nvvm.memory_space<shared>>
    %cast = memref.cast %w : memref<32x32xf32, #nvvm.memory_space<shared>> to memref<?x?xf32, #nvvm.memory_space<shared>>
    %dim = memref.dim %cast, %c1 : memref<?x?xf32, #nvvm.memory_space<shared>>
    %twice = arith.muli %dim, %x : index
    %0 = memref.load %a[%x, %c0] {alignment = 16} : memref<32x32xf32, #nvvm.memory_space<shared>>
    memref.dealloc %cast : memref<?x?xf32, #nvvm.memory_space<shared>>
    gpu.return %0, %twice : f32, index
  }

  // Transfers and masks.
  // CHECK-LABEL: gpu.func @vectors
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<64x32xf32, 3>)
  // CHECK:         arith.xori
  // CHECK:         vector.load %[[W]]
  // CHECK:         arith.xori
  // CHECK:         vector.maskedload %[[W]]
  // CHECK:         %[[SHIFT:.+]] = arith.muli
  // CHECK:         memref.atomic_rmw addf %{{.+}}, %[[W]][%{{.+}}, %[[SHIFT]]]
  gpu.func @vectors(%m: vector<4xi1>) -> (vector<4xf32>, vector<4xf32>)
      workgroup(%w: memref<64x32xf32, 3>)
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %f = arith.constant 0.0 : f32
    %v = arith.constant dense<0.0> : vector<4xf32>
    %0 = vector.transfer_read %w[%x, %c4], %f {in_bounds = [true]} : memref<64x32xf32, 3>, vector<4xf32>
    %1 = vector.maskedload %w[%x, %c4], %m, %v : memref<64x32xf32, 3>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %2 = memref.atomic_rmw addf %f, %w[%x, %c0] : (f32, memref<64x32xf32, 3>) -> f32
    gpu.return %0, %1 : vector<4xf32>, vector<4xf32>
  }

  // Both sides of a copy change, and the number of their indices.
  // CHECK-LABEL: gpu.func @both_sides
  // CHECK-SAME:    workgroup(%[[A:.+]] : memref<32x32xf32, 3>, %[[B:.+]] : memref<64x32xf32, 3>)
  // CHECK:         nvgpu.device_async_copy %[[A]][%{{.+}}, %{{.+}}], %[[B]][%{{.+}}, %{{.+}}], 4
  gpu.func @both_sides()
      workgroup(%a: memref<32x32xf32, 3>, %b: memref<64x32xf32, 3>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %i = arith.muli %x, %c32 : index
    %from = memref.collapse_shape %a [[0, 1]] : memref<32x32xf32, 3> into memref<1024xf32, 3>
    %to = memref.expand_shape %b [[0], [1, 2]] output_shape [64, 4, 8] : memref<64x32xf32, 3> into memref<64x4x8xf32, 3>
    %0 = nvgpu.device_async_copy %from[%i], %to[%x, %c0, %c0], 4 : memref<1024xf32, 3> to memref<64x4x8xf32, 3>
    gpu.return
  }

  // Elements that are vectors are no runs of a row.
  // CHECK-LABEL: gpu.func @vector_elements
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<32x17xvector<2xf32>, 3>)
  // CHECK:         vector.load %[[W]][%{{.+}}, %{{.+}}] : memref<32x17xvector<2xf32>, 3>, vector<2xf32>
  gpu.func @vector_elements()
      workgroup(%w: memref<32x16xvector<2xf32>, 3>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %0 = vector.load %w[%x, %c0] : memref<32x16xvector<2xf32>, 3>, vector<2xf32>
    gpu.return
  }

  // What has no value is at no place.
  // CHECK-LABEL: gpu.func @poison
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>)
  gpu.func @poison(%f: f32)
      workgroup(%w: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %p = ub.poison : index
    memref.store %f, %w[%p] : memref<64xf32, 3>
    gpu.return
  }
}
