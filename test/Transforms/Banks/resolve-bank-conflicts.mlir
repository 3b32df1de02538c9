// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' -o %t.twice
// RUN: diff %t.once %t.twice

// Rows are padded or swizzled where threads of a warp meet in a bank, and left alone elsewhere.

gpu.module @kernels {
  // A column is in one bank. A word more per row costs little memory and no
  // instruction.
  // CHECK-LABEL: gpu.func @padded
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<32x33xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64})
  // CHECK:         memref.store %{{.+}}, %[[W]][%[[Y:.+]], %[[X:.+]]] : memref<32x33xf32
  // CHECK:         memref.load %[[W]][%[[X]], %[[Y]]] : memref<32x33xf32
  gpu.func @padded(%a: memref<32x32xf32>, %b: memref<32x32xf32>)
      workgroup(%w: memref<32x32xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64})
      kernel attributes {known_block_size = array<i32: 32, 32, 1>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %0 = memref.load %a[%y, %x] : memref<32x32xf32>
    memref.store %0, %w[%y, %x] : memref<32x32xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %1 = memref.load %w[%x, %y] : memref<32x32xf32, #gpu.address_space<workgroup>>
    memref.store %1, %b[%x, %y] : memref<32x32xf32>
    gpu.return
  }

  // Rows of 16 bytes, of which those that a matrix is read from are in the same banks: padding each would
  // double them. Eight of them are a row together.
  // CHECK-LABEL: gpu.func @joined
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<32x64xf16, #gpu.address_space<workgroup>>)
  // CHECK:         %[[X:.+]] = affine.apply #{{.+}}(%[[T:.+]])
  // CHECK:         %[[Y:.+]] = affine.apply #{{.+}}(%[[T]])
  // CHECK:         %[[EIGHT:.+]] = arith.constant 8 : index
  // CHECK:         %[[BEGIN:.+]] = arith.muli %[[Y]], %[[EIGHT]]
  // CHECK:         %[[COLUMN:.+]] = arith.addi %[[BEGIN]], %[[X]]
  // CHECK:         %[[TO:.+]] = arith.xori %[[COLUMN]], %{{.+}}
  // CHECK:         memref.store %{{.+}}, %[[W]][%{{.+}}, %[[TO]]] : memref<32x64xf16
  // CHECK:         nvgpu.ldmatrix %[[W]][%{{.+}}, %{{.+}}] {numTiles = 4 : i32, transpose = true} : memref<32x64xf16
  gpu.func @joined(%a: memref<32x64xf16>)
      workgroup(%w: memref<32x8x8xf16, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %x = affine.apply affine_map<(d0) -> (d0 mod 8)>(%t)
    %y = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%t)
    scf.for %k = %c0 to %c32 step %c1 {
      %0 = memref.load %a[%k, %t] : memref<32x64xf16>
      memref.store %0, %w[%k, %y, %x] : memref<32x8x8xf16, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %row = affine.apply affine_map<(d0) -> (d0 mod 32)>(%t)
    scf.for %j = %c0 to %c4 step %c1 {
      %1 = nvgpu.ldmatrix %w[%row, %j, %c0] {numTiles = 4 : i32, transpose = true} : memref<32x8x8xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    }
    gpu.return
  }

  // Padding rows of 64 bytes would take a quarter more: chunks of 16 bytes are
  // exchanged instead.
  // CHECK-LABEL: gpu.func @swizzled
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<64x32xf16, 3>)
  // CHECK:         %[[ROW:.+]] = affine.apply
  // CHECK:         %[[COLUMN:.+]] = affine.apply
  // CHECK:         %[[C2:.+]] = arith.constant 2 : index
  // CHECK:         %[[QUOTIENT:.+]] = arith.divui %[[ROW]], %[[C2]]
  // CHECK:         %[[C4:.+]] = arith.constant 4 : index
  // CHECK:         %[[STEP:.+]] = arith.remui %[[QUOTIENT]], %[[C4]]
  // CHECK:         %[[C8:.+]] = arith.constant 8 : index
  // CHECK:         %[[SHIFT:.+]] = arith.muli %[[STEP]], %[[C8]]
  // CHECK:         %[[TO:.+]] = arith.xori %[[COLUMN]], %[[SHIFT]]
  // CHECK:         nvgpu.device_async_copy %{{.+}}[%[[ROW]], %[[COLUMN]]], %[[W]][%[[ROW]], %[[TO]]], 8 {bypassL1}
  // CHECK:         scf.for
  // CHECK:           %[[FROM:.+]] = arith.xori
  // CHECK:           nvgpu.ldmatrix %[[W]][%{{.+}}, %[[FROM]]]
  gpu.func @swizzled(%a: memref<64x32xf16>)
      workgroup(%w: memref<64x32xf16, 3>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %r = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%t)
    %c = affine.apply affine_map<(d0) -> (d0 mod 4 * 8)>(%t)
    %0 = nvgpu.device_async_copy %a[%r, %c], %w[%r, %c], 8 {bypassL1} : memref<64x32xf16> to memref<64x32xf16, 3>
    gpu.barrier
    scf.for %k = %c0 to %c32 step %c16 {
      %i = affine.apply affine_map<(d0) -> (d0 mod 16)>(%t)
      %j = affine.apply affine_map<(d0, d1) -> (d0 mod 32 floordiv 16 * 8 + d1)>(%t, %k)
      %1 = nvgpu.ldmatrix %w[%i, %j] {numTiles = 4 : i32, transpose = false} : memref<64x32xf16, 3> -> vector<4x2xf16>
    }
    gpu.return
  }

  // Six chunks of 16 bytes: pairs are exchanged, and no column is 48 or more.
  // CHECK-LABEL: gpu.func @rows_of_48
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<64x48xf16, 3>)
  // CHECK:         %[[C4:.+]] = arith.constant 4 : index
  // CHECK:         %[[QUOTIENT:.+]] = arith.divui %{{.+}}, %[[C4]]
  // CHECK:         %[[C2:.+]] = arith.constant 2 : index
  // CHECK:         %[[STEP:.+]] = arith.remui %[[QUOTIENT]], %[[C2]]
  // CHECK:         arith.constant 8 : index
  // CHECK:         arith.xori
  // CHECK:         vector.load %[[W]]
  gpu.func @rows_of_48(%a: memref<64x48xf16>) -> vector<8xf16>
      workgroup(%w: memref<64x48xf16, 3>)
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c40 = arith.constant 40 : index
    %0 = vector.load %w[%t, %c40] {alignment = 16} : memref<64x48xf16, 3>, vector<8xf16>
    gpu.return %0 : vector<8xf16>
  }

  // A vector of 32 bytes is two accesses of 16, each with a chunk of its own.
  // Its alignment of 32 bytes is not theirs.
  // CHECK-LABEL: gpu.func @wide
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<64x64xf16, 3>)
  // CHECK:         %[[POISON:.+]] = ub.poison : vector<16xf16>
  // CHECK:         %[[FIRST:.+]] = vector.load %[[W]][%{{.+}}, %{{.+}}] {alignment = 16 : i64} : memref<64x64xf16, 3>, vector<8xf16>
  // CHECK:         %[[HALF:.+]] = vector.insert_strided_slice %[[FIRST]], %[[POISON]] {offsets = [0], strides = [1]}
  // CHECK:         %[[SECOND:.+]] = vector.load %[[W]][%{{.+}}, %{{.+}}] {alignment = 16 : i64} : memref<64x64xf16, 3>, vector<8xf16>
  // CHECK:         %[[WHOLE:.+]] = vector.insert_strided_slice %[[SECOND]], %[[HALF]] {offsets = [8], strides = [1]}
  // CHECK:         gpu.return %[[WHOLE]]
  gpu.func @wide() -> vector<16xf16>
      workgroup(%w: memref<64x64xf16, 3>)
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %0 = vector.load %w[%t, %c16] {alignment = 32} : memref<64x64xf16, 3>, vector<16xf16>
    gpu.return %0 : vector<16xf16>
  }

  // Rows written by vectors and read by columns: the vectors are split, and
  // promise no more than four bytes.
  // CHECK-LABEL: gpu.func @split
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<64x66xf16, 3> {llvm.align = 16 : i64})
  // CHECK:         vector.extract_strided_slice %{{.+}} {offsets = [0], sizes = [2], strides = [1]}
  // CHECK:         vector.store %{{.+}}, %[[W]][%{{.+}}, %{{.+}}] {alignment = 4 : i64} : memref<64x66xf16, 3>, vector<2xf16>
  // CHECK-COUNT-3: vector.store %{{.+}}, %[[W]]
  // CHECK-NOT:     vector.store
  gpu.func @split(%v: vector<8xf16>) -> f16
      workgroup(%w: memref<64x64xf16, 3> {llvm.align = 16 : i64})
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c2 step %c1 {
      %r = affine.apply affine_map<(d0, d1) -> (d0 floordiv 8 + d1 * 32)>(%t, %i)
      %c = affine.apply affine_map<(d0) -> (d0 mod 8 * 8)>(%t)
      vector.store %v, %w[%r, %c] {alignment = 16} : memref<64x64xf16, 3>, vector<8xf16>
    }
    %zero = arith.constant 0.0 : f16
    %sum = scf.for %i = %c0 to %c64 step %c1 iter_args(%s = %zero) -> f16 {
      %r = arith.remui %t, %c64 : index
      %x = memref.load %w[%r, %i] : memref<64x64xf16, 3>
      %y = arith.addf %s, %x : f16
      scf.yield %y : f16
    }
    gpu.return %sum : f16
  }

  // Rows of three dimensions; the stages of a ring are whole periods.
  // CHECK-LABEL: gpu.func @ring
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<3x64x32xf16, 3>)
  // CHECK:         %[[ROW:.+]] = arith.remui
  // CHECK:         %[[QUOTIENT:.+]] = arith.divui %[[ROW]], %{{.+}}
  // CHECK:         %[[STEP:.+]] = arith.remui %[[QUOTIENT]], %{{.+}}
  // CHECK:         %[[SHIFT:.+]] = arith.muli %[[STEP]], %{{.+}}
  // CHECK:         %[[COLUMN:.+]] = arith.xori %{{.+}}, %[[SHIFT]]
  // CHECK:         nvgpu.ldmatrix %[[W]][%{{.+}}, %[[ROW]], %[[COLUMN]]]
  gpu.func @ring(%slot: index)
      workgroup(%w: memref<3x64x32xf16, 3>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %i = arith.remui %t, %c16 : index
    %q = arith.divui %t, %c16 : index
    %j = arith.muli %q, %c8 : index
    %0 = nvgpu.ldmatrix %w[%slot, %i, %j] {numTiles = 4 : i32, transpose = false} : memref<3x64x32xf16, 3> -> vector<4x2xf16>
    gpu.return
  }

  // What a matrix instruction reads may be padded, and it is told so.
  // CHECK-LABEL: gpu.func @matrix
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<64x72xf16, 3>)
  // CHECK:         gpu.subgroup_mma_load_matrix %[[W]][%{{.+}}, %{{.+}}] {leadDimension = 72 : index}
  // CHECK:         gpu.subgroup_mma_store_matrix %{{.+}}, %[[W]][%{{.+}}, %{{.+}}] {leadDimension = 144 : index}
  gpu.func @matrix()
      workgroup(%w: memref<64x64xf16, 3>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %0 = gpu.subgroup_mma_load_matrix %w[%c16, %c0] {leadDimension = 64 : index} : memref<64x64xf16, 3> -> !gpu.mma_matrix<16x16xf16, "COp">
    gpu.subgroup_mma_store_matrix %0, %w[%c0, %c16] {leadDimension = 128 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<64x64xf16, 3>
    gpu.return
  }

  // No conflicts: no change.
  // CHECK-LABEL: gpu.func @rows
  // CHECK-SAME:    workgroup(%{{.+}} : memref<32x32xf32, 3>)
  // CHECK-NOT:     arith.xori
  gpu.func @rows(%v: f32)
      workgroup(%w: memref<32x32xf32, 3>)
      kernel attributes {known_block_size = array<i32: 32, 32, 1>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    memref.store %v, %w[%y, %x] : memref<32x32xf32, 3>
    gpu.return
  }

  // A single thread has nothing to conflict with.
  // CHECK-LABEL: gpu.func @one_lane
  // CHECK-SAME:    workgroup(%{{.+}} : memref<32x32xf32, 3>)
  gpu.func @one_lane(%v: f32)
      workgroup(%w: memref<32x32xf32, 3>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %is_first = arith.cmpi eq, %x, %c0 : index
    scf.if %is_first {
      memref.store %v, %w[%x, %c0] : memref<32x32xf32, 3>
    }
    gpu.return
  }
}
