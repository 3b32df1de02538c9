// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Lanes of a warp store what a matrix operation made of what all of them loaded,
// or something else.

!A = !gpu.mma_matrix<16x16xf16, "AOp">
!B = !gpu.mma_matrix<16x16xf16, "BOp">
!C = !gpu.mma_matrix<16x16xf16, "COp">
gpu.module @m {
  gpu.func @product(%m: memref<16x16xf16> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %half = arith.constant 0.5 : f16
    %none = gpu.subgroup_mma_constant_matrix %half : !C
    %a = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !A
    %b = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !B
    %p = gpu.subgroup_mma_compute %a, %b, %none : !A, !B -> !C
    %twice = gpu.subgroup_mma_elementwise addf %p, %p : (!C, !C) -> !C
    gpu.subgroup_mma_store_matrix %twice, %m[%c0, %c0] {leadDimension = 16 : index} : !C, memref<16x16xf16>
    gpu.return
  }
}

// -----

// The matrix is made of nothing that was loaded: its store may come first.
!A = !gpu.mma_matrix<16x16xf16, "AOp">
!B = !gpu.mma_matrix<16x16xf16, "BOp">
!C = !gpu.mma_matrix<16x16xf16, "COp">
gpu.module @m {
  gpu.func @constant(%m: memref<16x16xf16> {llvm.noalias}, %o: memref<16x16xf16> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %half = arith.constant 0.5 : f16
    %none = gpu.subgroup_mma_constant_matrix %half : !C
    // expected-note @+1 {{the other access}}
    %a = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !A
    %b = gpu.subgroup_mma_load_matrix %o[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !B
    %p = gpu.subgroup_mma_compute %a, %b, %none : !A, !B -> !C
    gpu.subgroup_mma_store_matrix %p, %o[%c0, %c0] {leadDimension = 16 : index} : !C, memref<16x16xf16>
    // expected-error @+1 {{data race on global memory}}
    gpu.subgroup_mma_store_matrix %none, %m[%c0, %c0] {leadDimension = 16 : index} : !C, memref<16x16xf16>
    gpu.return
  }
}

// -----

// What a loop sums up is stored over the operands of each iteration.
!A = !gpu.mma_matrix<16x16xf16, "AOp">
!B = !gpu.mma_matrix<16x16xf16, "BOp">
!C = !gpu.mma_matrix<16x16xf16, "COp">
gpu.module @m {
  gpu.func @sum(%m: memref<64x16xf16> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %half = arith.constant 0.5 : f16
    %none = gpu.subgroup_mma_constant_matrix %half : !C
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %none) -> (!C) {
      %a = gpu.subgroup_mma_load_matrix %m[%k, %c0] {leadDimension = 16 : index} : memref<64x16xf16> -> !A
      %b = gpu.subgroup_mma_load_matrix %m[%k, %c0] {leadDimension = 16 : index} : memref<64x16xf16> -> !B
      %p = gpu.subgroup_mma_compute %a, %b, %acc : !A, !B -> !C
      scf.yield %p : !C
    }
    gpu.subgroup_mma_store_matrix %sum, %m[%c16, %c0] {leadDimension = 16 : index} : !C, memref<64x16xf16>
    gpu.return
  }
}

// -----

// A matrix over itself; rows that overlap are of several lanes.
!C = !gpu.mma_matrix<16x16xf16, "COp">
gpu.module @m {
  gpu.func @itself(%m: memref<16x16xf16> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %half = arith.constant 0.5 : f16
    %halves = gpu.subgroup_mma_constant_matrix %half : !C
    %c = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !C
    %less = gpu.subgroup_mma_elementwise mulf %c, %halves : (!C, !C) -> !C
    gpu.subgroup_mma_store_matrix %less, %m[%c0, %c0] {leadDimension = 16 : index} : !C, memref<16x16xf16>
    gpu.return
  }
  gpu.func @shifted(%m: memref<32x16xf16> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    // expected-note @+1 {{the other access}}
    %c = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<32x16xf16> -> !C
    // expected-error @+1 {{data race on global memory}}
    gpu.subgroup_mma_store_matrix %c, %m[%c8, %c0] {leadDimension = 16 : index} : !C, memref<32x16xf16>
    gpu.return
  }
}

// -----

// Of a product of integers with zero nothing is left, so that nobody waits for it.
gpu.module @m {
  gpu.func @folded(%m: memref<32x16xi8> {llvm.noalias}, %o: memref<32x4xi32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c31 = arith.constant 31 : index
    %t = gpu.thread_id x
    %other = arith.subi %c31, %t : index
    %b = arith.constant dense<1> : vector<2x4xi8>
    %none = arith.constant dense<0> : vector<2x2xi32>
    %zeros = arith.constant dense<0> : vector<4xi32>
    // expected-note @+1 {{the other access}}
    %x = vector.load %m[%t, %c0] : memref<32x16xi8>, vector<16xi8>
    %a = vector.shape_cast %x : vector<16xi8> to vector<4x4xi8>
    %p = nvgpu.mma.sync (%a, %b, %none) {mmaShape = [16, 8, 32]} : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
    %q = vector.shape_cast %p : vector<2x2xi32> to vector<4xi32>
    vector.store %q, %o[%t, %c0] : memref<32x4xi32>, vector<4xi32>
    %gone = arith.muli %q, %zeros : vector<4xi32>
    %bytes = vector.bitcast %gone : vector<4xi32> to vector<16xi8>
    // expected-error @+1 {{data race on global memory}}
    vector.store %bytes, %m[%other, %c0] : memref<32x16xi8>, vector<16xi8>
    gpu.return
  }
}
