// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-lower-contractions,canonicalize,cse)' | FileCheck %s

// What depends on the warp is shared out to its lanes, whatever the shape of
// the block; what depends on the thread is done by each.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

// CHECK-LABEL: gpu.func @lanes
// CHECK:         %[[ID:.+]] = arith.addi %{{.+}}, %thread_id_x overflow<nsw, nuw> : index
// CHECK:         %[[LANE:.+]] = arith.remui %[[ID]], %c32 : index
// CHECK:         arith.remui %[[LANE]], %c2 : index
// CHECK-NOT:     linalg.matmul
// CHECK-COUNT-8: vector.fma
// CHECK-NOT:     linalg
gpu.module @kernels {
  gpu.func @lanes(%c: memref<64x32xf32>) workgroup(%x: memref<64x8xf32, #wg>, %y: memref<8x32xf32, #wg>) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    %zero = arith.constant 0.0 : f32
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %row = arith.muli %ty, %c16 : index
    %id = arith.addi %row, %tx : index
    %warp = arith.divui %id, %c32 : index
    %i = affine.apply affine_map<(d0) -> (d0 * 16)>(%warp)
    %p = memref.subview %x[%i, 0] [16, 8] [1, 1] : memref<64x8xf32, #wg> to memref<16x8xf32, strided<[8, 1], offset: ?>, #wg>
    %r = memref.subview %c[%i, 0] [16, 32] [1, 1] : memref<64x32xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
    %sum = memref.alloca() : memref<16x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x32xf32, #own>)
    linalg.matmul ins(%p, %y : memref<16x8xf32, strided<[8, 1], offset: ?>, #wg>, memref<8x32xf32, #wg>) outs(%sum : memref<16x32xf32, #own>)
    memref.copy %sum, %r : memref<16x32xf32, #own> to memref<16x32xf32, strided<[32, 1], offset: ?>>
    gpu.return
  }
}

// -----

// A block of 48 threads has a warp of 16: no lane can be left out. Each
// thread would have to hold all of the tile, which is too large.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

// CHECK-LABEL: gpu.func @half_a_warp
// CHECK:         linalg.matmul
gpu.module @kernels {
  gpu.func @half_a_warp(%c: memref<32x32xf32>) workgroup(%x: memref<32x8xf32, #wg>, %y: memref<8x32xf32, #wg>) kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %warp = arith.divui %tx, %c32 : index
    %i = affine.apply affine_map<(d0) -> (d0 * 16)>(%warp)
    %p = memref.subview %x[%i, 0] [16, 8] [1, 1] : memref<32x8xf32, #wg> to memref<16x8xf32, strided<[8, 1], offset: ?>, #wg>
    %r = memref.subview %c[%i, 0] [16, 32] [1, 1] : memref<32x32xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
    %sum = memref.alloca() : memref<16x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x32xf32, #own>)
    linalg.matmul ins(%p, %y : memref<16x8xf32, strided<[8, 1], offset: ?>, #wg>, memref<8x32xf32, #wg>) outs(%sum : memref<16x32xf32, #own>)
    memref.copy %sum, %r : memref<16x32xf32, #own> to memref<16x32xf32, strided<[32, 1], offset: ?>>
    gpu.return
  }
}

// -----

// Operands of a thread may be anywhere; the thread needs no lane. In a loop
// that is yet to be shared out, nothing is done.

#own = #gpu.address_space<private>

// CHECK-LABEL: gpu.func @alone
// CHECK:         scf.for
// CHECK-COUNT-8: vector.fma
// CHECK-NOT:     vector.fma
// CHECK:         vector.store
// CHECK:         scf.forall
// CHECK:           linalg.matmul
gpu.module @kernels {
  gpu.func @alone(%c: memref<4x128xf32>, %x: memref<4x8xf32>, %y: memref<8x128xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %tx = gpu.thread_id x
    %j = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
    %r = memref.subview %c[0, %j] [4, 4] [1, 1] : memref<4x128xf32> to memref<4x4xf32, strided<[128, 1], offset: ?>>
    %sum = memref.alloca() : memref<4x4xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<4x4xf32, #own>)
    scf.for %k = %c0 to %c8 step %c2 {
      %p = memref.subview %x[0, %k] [4, 2] [1, 1] : memref<4x8xf32> to memref<4x2xf32, strided<[8, 1], offset: ?>>
      %q = memref.subview %y[%k, %j] [2, 4] [1, 1] : memref<8x128xf32> to memref<2x4xf32, strided<[128, 1], offset: ?>>
      linalg.matmul ins(%p, %q : memref<4x2xf32, strided<[8, 1], offset: ?>>, memref<2x4xf32, strided<[128, 1], offset: ?>>) outs(%sum : memref<4x4xf32, #own>)
    }
    memref.copy %sum, %r : memref<4x4xf32, #own> to memref<4x4xf32, strided<[128, 1], offset: ?>>
    scf.forall (%t) in (32) {
      %own = memref.alloca() : memref<4x4xf32, #own>
      %part = memref.subview %y[0, 0] [8, 4] [1, 1] : memref<8x128xf32> to memref<8x4xf32, strided<[128, 1]>>
      linalg.fill ins(%zero : f32) outs(%own : memref<4x4xf32, #own>)
      linalg.matmul ins(%x, %part : memref<4x8xf32>, memref<8x4xf32, strided<[128, 1]>>) outs(%own : memref<4x4xf32, #own>)
      memref.copy %own, %r : memref<4x4xf32, #own> to memref<4x4xf32, strided<[128, 1], offset: ?>>
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}

// -----

// Tensor cores multiply what a warp has.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

// CHECK-LABEL: gpu.func @matrices
// CHECK:         %[[ID:.+]] = arith.addi %{{.+}}, %thread_id_x overflow<nsw, nuw> : index
// CHECK:         %[[LANE:.+]] = arith.remui %[[ID]], %c32 : index
// CHECK:         arith.remui %[[LANE]], %c4 : index
// CHECK-COUNT-3: nvgpu.ldmatrix
// CHECK-COUNT-4: nvgpu.mma.sync
// CHECK-NOT:     linalg
gpu.module @kernels {
  gpu.func @matrices(%c: memref<64x32xf32>) workgroup(%x: memref<64x16xf16, #wg>, %y: memref<16x32xf16, #wg>) kernel attributes {known_block_size = array<i32: 64, 2, 1>} {
    %zero = arith.constant 0.0 : f32
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %column = arith.divui %tx, %c32 : index
    %row = arith.muli %ty, %c2 : index
    %warp = arith.addi %row, %column : index
    %i = affine.apply affine_map<(d0) -> (d0 * 16)>(%warp)
    %p = memref.subview %x[%i, 0] [16, 16] [1, 1] : memref<64x16xf16, #wg> to memref<16x16xf16, strided<[16, 1], offset: ?>, #wg>
    %r = memref.subview %c[%i, 0] [16, 32] [1, 1] : memref<64x32xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
    %sum = memref.alloca() : memref<16x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x32xf32, #own>)
    linalg.matmul ins(%p, %y : memref<16x16xf16, strided<[16, 1], offset: ?>, #wg>, memref<16x32xf16, #wg>) outs(%sum : memref<16x32xf32, #own>)
    memref.copy %sum, %r : memref<16x32xf32, #own> to memref<16x32xf32, strided<[32, 1], offset: ?>>
    gpu.return
  }
}
