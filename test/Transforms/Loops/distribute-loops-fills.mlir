// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-distribute-loops)' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-distribute-loops)' --remarks-filter='workgroup.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// A block fills a tile, of which each thread adds to a slice: each fills its slice.

// REMARK-COUNT-3: [Passed] AlignedFill | Category:workgroup-distribute-loops | Function={{.+}} | Remark="fill shared out as the loop whose iterations add to what it fills"
// REMARK-NOT:     AlignedFill

// CHECK-LABEL: gpu.func @of_threads
// CHECK-SAME:    %[[C:[^:]+]]: memref<64x64xf32>
// CHECK:         %[[PART:.+]] = memref.subview %[[C]][%{{.+}}, %{{.+}}] [4, 4] [1, 1]
// CHECK:         linalg.fill ins(%{{.+}}) outs(%[[PART]] : memref<4x4xf32, strided<[64, 1], offset: ?>>)
// CHECK:         scf.for
// CHECK:           linalg.matmul
gpu.module @kernels {
  gpu.func @of_threads(%c: memref<64x64xf32>, %x: memref<64x8xf32>, %y: memref<8x64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    scf.for %k = %c0 to %n step %c1 {
      scf.forall (%ti, %tj) in (16, 16) {
        %i = affine.apply affine_map<(d0) -> (d0 * 4)>(%ti)
        %j = affine.apply affine_map<(d0) -> (d0 * 4)>(%tj)
        %p = memref.subview %x[%i, 0] [4, 8] [1, 1] : memref<64x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
        %q = memref.subview %y[0, %j] [8, 4] [1, 1] : memref<8x64xf32> to memref<8x4xf32, strided<[64, 1], offset: ?>>
        %r = memref.subview %c[%i, %j] [4, 4] [1, 1] : memref<64x64xf32> to memref<4x4xf32, strided<[64, 1], offset: ?>>
        linalg.matmul ins(%p, %q : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<8x4xf32, strided<[64, 1], offset: ?>>) outs(%r : memref<4x4xf32, strided<[64, 1], offset: ?>>)
      } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
    }
    gpu.return
  }
}

// -----

// Slices of two loops, of warps and lanes, make up the tile as well.

// CHECK-LABEL: gpu.func @of_lanes
// CHECK-SAME:    %[[C:[^:]+]]: memref<16x32xf32>
// CHECK:         %[[ROWS:.+]] = memref.subview %[[C]][%{{.+}}, 0] [4, 32] [1, 1]
// CHECK:         %[[PART:.+]] = memref.subview %[[ROWS]][0, %{{.+}}] [4, 1] [1, 1]
// CHECK:         linalg.fill ins(%{{.+}}) outs(%[[PART]]
// CHECK:         linalg.matmul
gpu.module @kernels {
  gpu.func @of_lanes(%c: memref<16x32xf32>, %x: memref<16x8xf32>, %y: memref<8x32xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<16x32xf32>)
    scf.forall (%w) in (4) {
      %i = affine.apply affine_map<(d0) -> (d0 * 4)>(%w)
      %rows = memref.subview %c[%i, 0] [4, 32] [1, 1] : memref<16x32xf32> to memref<4x32xf32, strided<[32, 1], offset: ?>>
      %p = memref.subview %x[%i, 0] [4, 8] [1, 1] : memref<16x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
      scf.forall (%l) in (32) {
        %q = memref.subview %y[0, %l] [8, 1] [1, 1] : memref<8x32xf32> to memref<8x1xf32, strided<[32, 1], offset: ?>>
        %r = memref.subview %rows[0, %l] [4, 1] [1, 1] : memref<4x32xf32, strided<[32, 1], offset: ?>> to memref<4x1xf32, strided<[32, 1], offset: ?>>
        linalg.matmul ins(%p, %q : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<8x1xf32, strided<[32, 1], offset: ?>>) outs(%r : memref<4x1xf32, strided<[32, 1], offset: ?>>)
      } {mapping = [#gpu.lane<linear_dim_0>]}
    } {mapping = [#gpu.warp<linear_dim_0>]}
    gpu.return
  }
}

// -----

// Slices that leave something out, overlap, or that are those of all iterations: the block fills.

// CHECK-LABEL: gpu.func @other_slices
// CHECK-COUNT-3: linalg.fill ins(%{{.+}}) outs(%arg{{[0-9]}} : memref<64x64xf32>)
// CHECK:         linalg.matmul
gpu.module @kernels {
  gpu.func @other_slices(%c: memref<64x64xf32>, %d: memref<64x64xf32>, %e: memref<64x64xf32>, %x: memref<64x8xf32>, %y: memref<8x64xf32>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    linalg.fill ins(%zero : f32) outs(%d : memref<64x64xf32>)
    linalg.fill ins(%zero : f32) outs(%e : memref<64x64xf32>)
    scf.forall (%ti, %tj) in (15, 16) {
      %i = affine.apply affine_map<(d0) -> (d0 * 4)>(%ti)
      %j = affine.apply affine_map<(d0) -> (d0 * 4)>(%tj)
      %p = memref.subview %x[%i, 0] [4, 8] [1, 1] : memref<64x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
      %q = memref.subview %y[0, %j] [8, 4] [1, 1] : memref<8x64xf32> to memref<8x4xf32, strided<[64, 1], offset: ?>>
      %r = memref.subview %c[%i, %j] [4, 4] [1, 1] : memref<64x64xf32> to memref<4x4xf32, strided<[64, 1], offset: ?>>
      linalg.matmul ins(%p, %q : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<8x4xf32, strided<[64, 1], offset: ?>>) outs(%r : memref<4x4xf32, strided<[64, 1], offset: ?>>)
    } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
    scf.forall (%ti, %tj) in (16, 16) {
      %i = affine.apply affine_map<(d0) -> (d0 * 3)>(%ti)
      %j = affine.apply affine_map<(d0) -> (d0 * 4)>(%tj)
      %p = memref.subview %x[%i, 0] [4, 8] [1, 1] : memref<64x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
      %q = memref.subview %y[0, %j] [8, 4] [1, 1] : memref<8x64xf32> to memref<8x4xf32, strided<[64, 1], offset: ?>>
      %r = memref.subview %d[%i, %j] [4, 4] [1, 1] : memref<64x64xf32> to memref<4x4xf32, strided<[64, 1], offset: ?>>
      linalg.matmul ins(%p, %q : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<8x4xf32, strided<[64, 1], offset: ?>>) outs(%r : memref<4x4xf32, strided<[64, 1], offset: ?>>)
    } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
    scf.forall (%ti, %tj) in (16, 16) {
      %j = affine.apply affine_map<(d0) -> (d0 * 4)>(%tj)
      %q = memref.subview %y[0, %j] [8, 4] [1, 1] : memref<8x64xf32> to memref<8x4xf32, strided<[64, 1], offset: ?>>
      %r = memref.subview %e[0, %j] [64, 4] [1, 1] : memref<64x64xf32> to memref<64x4xf32, strided<[64, 1], offset: ?>>
      linalg.matmul ins(%x, %q : memref<64x8xf32>, memref<8x4xf32, strided<[64, 1], offset: ?>>) outs(%r : memref<64x4xf32, strided<[64, 1], offset: ?>>)
    } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
    gpu.return
  }
}

// -----

// A nest of one iteration adds to the tile itself, which is no slice.

// CHECK-LABEL: gpu.func @of_one_thread
// CHECK-SAME:    %[[C:[^:]+]]: memref<4x4xf32>
// CHECK:         linalg.fill ins(%{{.+}}) outs(%[[C]] : memref<4x4xf32>)
// CHECK:         linalg.matmul ins(%{{.+}}) outs(%[[C]] : memref<4x4xf32>)
gpu.module @kernels {
  gpu.func @of_one_thread(%c: memref<4x4xf32>, %x: memref<4x8xf32>, %y: memref<8x4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
    scf.forall (%t) in (1) {
      linalg.matmul ins(%x, %y : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}
