// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-keep-accumulators{assume-distinct-arguments=true})' -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: mlir-opt %t --split-input-file --pass-pipeline='builtin.module(workgroup-keep-accumulators{assume-distinct-arguments=true})' | FileCheck %s

// What a thread adds to is its own from the fill to the end of all loops, and
// what it multiplies is read where it was copied from.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

// CHECK-LABEL: gpu.func @two_levels
// CHECK-SAME:    %[[C:.+]]: memref<64x64xf32>)
// CHECK-NOT:     memref.alloca() : memref<4x8xf32
// CHECK:         %[[VIEW:.+]] = memref.subview %[[C]]
// CHECK:         %[[SUM:.+]] = memref.alloca() : memref<4x4xf32, #gpu.address_space<private>>
// CHECK-NEXT:    linalg.fill ins(%{{.+}}) outs(%[[SUM]]
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             %[[A:.+]] = memref.subview %{{.+}} to memref<4x8xf32, strided<[32, 1], offset: ?>, #gpu.address_space<workgroup>>
// CHECK:             %[[B:.+]] = memref.subview %{{.+}} to memref<8x4xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
// CHECK-NOT:         memref.copy
// CHECK:             linalg.matmul ins(%[[A]], %[[B]] : {{.+}}) outs(%[[SUM]] :
// CHECK:         memref.copy %[[SUM]], %[[VIEW]]
// CHECK-NEXT:    gpu.return
gpu.module @kernels {
  gpu.func @two_levels(%c: memref<64x64xf32>) workgroup(%x: memref<64x32xf32, #wg>, %y: memref<32x64xf32, #wg>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %a = memref.alloca() : memref<4x8xf32, #own>
    %b = memref.alloca() : memref<8x4xf32, #own>
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %i0 = affine.apply affine_map<(d0) -> (d0 * 4)>(%ty)
    %j0 = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
    %filled = memref.subview %c[%i0, %j0] [4, 4] [1, 1] : memref<64x64xf32> to memref<4x4xf32, strided<[64, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%filled : memref<4x4xf32, strided<[64, 1], offset: ?>>)
    scf.for %k = %c0 to %c256 step %c32 {
      gpu.barrier
      %i = affine.apply affine_map<(d0) -> (d0 * 4)>(%ty)
      %j = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
      %part = memref.subview %c[%i, %j] [4, 4] [1, 1] : memref<64x64xf32> to memref<4x4xf32, strided<[64, 1], offset: ?>>
      scf.for %l = %c0 to %c32 step %c8 {
        %p = memref.subview %x[%i, %l] [4, 8] [1, 1] : memref<64x32xf32, #wg> to memref<4x8xf32, strided<[32, 1], offset: ?>, #wg>
        %q = memref.subview %y[%l, %j] [8, 4] [1, 1] : memref<32x64xf32, #wg> to memref<8x4xf32, strided<[64, 1], offset: ?>, #wg>
        memref.copy %p, %a : memref<4x8xf32, strided<[32, 1], offset: ?>, #wg> to memref<4x8xf32, #own>
        linalg.copy ins(%q : memref<8x4xf32, strided<[64, 1], offset: ?>, #wg>) outs(%b : memref<8x4xf32, #own>)
        linalg.matmul ins(%a, %b : memref<4x8xf32, #own>, memref<8x4xf32, #own>) outs(%part : memref<4x4xf32, strided<[64, 1], offset: ?>>)
      }
    }
    gpu.return
  }
}

// -----

// A result that is copied to the thread and back in each step is kept there. Without a fill,
// it starts from what is in memory; an operand that is transposed on the way is read so.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

// CHECK: #[[$T:.+]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: gpu.func @there_and_back
// CHECK-SAME:    %[[C:.+]]: memref<4x512xi32>)
// CHECK:         %[[VIEW:.+]] = memref.subview %[[C]]
// CHECK:         %[[SUM:.+]] = memref.alloca() : memref<4x4xi32, #gpu.address_space<private>>
// CHECK-NEXT:    memref.copy %[[VIEW]], %[[SUM]]
// CHECK-NEXT:    scf.for
// CHECK-NOT:       copy
// CHECK-NOT:       transpose
// CHECK:           linalg.generic {indexing_maps = [#[[$T]],
// CHECK-SAME:        outs(%[[SUM]] :
// CHECK:         memref.copy %[[SUM]], %[[VIEW]]
// CHECK-NEXT:    gpu.return
gpu.module @kernels {
  gpu.func @there_and_back(%c: memref<4x512xi32>) workgroup(%x: memref<32x4xi32, #wg>, %y: memref<32x512xi32, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %a = memref.alloca() : memref<4x8xi32, #own>
    %s = memref.alloca() : memref<4x4xi32, #own>
    %tx = gpu.thread_id x
    %j = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
    %part = memref.subview %c[0, %j] [4, 4] [1, 1] : memref<4x512xi32> to memref<4x4xi32, strided<[512, 1], offset: ?>>
    scf.for %l = %c0 to %c32 step %c8 {
      %p = memref.subview %x[%l, 0] [8, 4] [1, 1] : memref<32x4xi32, #wg> to memref<8x4xi32, strided<[4, 1], offset: ?>, #wg>
      %q = memref.subview %y[%l, %j] [8, 4] [1, 1] : memref<32x512xi32, #wg> to memref<8x4xi32, strided<[512, 1], offset: ?>, #wg>
      linalg.transpose ins(%p : memref<8x4xi32, strided<[4, 1], offset: ?>, #wg>) outs(%a : memref<4x8xi32, #own>) permutation = [1, 0]
      memref.copy %part, %s : memref<4x4xi32, strided<[512, 1], offset: ?>> to memref<4x4xi32, #own>
      linalg.matmul ins(%a, %q : memref<4x8xi32, #own>, memref<8x4xi32, strided<[512, 1], offset: ?>, #wg>) outs(%s : memref<4x4xi32, #own>)
      memref.copy %s, %part : memref<4x4xi32, #own> to memref<4x4xi32, strided<[512, 1], offset: ?>>
    }
    gpu.return
  }
}

// -----

// Somebody reads the result in the loop: it is kept for each step only.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

// CHECK-LABEL: gpu.func @read_in_the_loop
// CHECK:         scf.for
// CHECK:           memref.alloca() : memref<4x4xf32, #gpu.address_space<private>>
// CHECK:           linalg.matmul
// CHECK:           memref.copy
// CHECK:           memref.load
gpu.module @kernels {
  gpu.func @read_in_the_loop(%c: memref<4x512xf32>, %d: memref<512xf32>) workgroup(%x: memref<4x32xf32, #wg>, %y: memref<32x512xf32, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %j = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
    %part = memref.subview %c[0, %j] [4, 4] [1, 1] : memref<4x512xf32> to memref<4x4xf32, strided<[512, 1], offset: ?>>
    scf.for %l = %c0 to %c32 step %c8 {
      %p = memref.subview %x[0, %l] [4, 8] [1, 1] : memref<4x32xf32, #wg> to memref<4x8xf32, strided<[32, 1], offset: ?>, #wg>
      %q = memref.subview %y[%l, %j] [8, 4] [1, 1] : memref<32x512xf32, #wg> to memref<8x4xf32, strided<[512, 1], offset: ?>, #wg>
      linalg.matmul ins(%p, %q : memref<4x8xf32, strided<[32, 1], offset: ?>, #wg>, memref<8x4xf32, strided<[512, 1], offset: ?>, #wg>) outs(%part : memref<4x4xf32, strided<[512, 1], offset: ?>>)
      %v = memref.load %c[%c0, %tx] : memref<4x512xf32>
      memref.store %v, %d[%tx] : memref<512xf32>
    }
    gpu.return
  }
}

// -----

// The copy of an operand is read again, or its source changes: it stays.

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

// CHECK-LABEL: gpu.func @copies_stay
// CHECK:         memref.copy %{{.+}}, %[[A:.+]] : {{.+}} to memref<4x8xf32, #gpu.address_space<private>>
// CHECK:         memref.copy %{{.+}}, %[[B:.+]] : {{.+}} to memref<8x4xf32, #gpu.address_space<private>>
// CHECK:         gpu.barrier
// CHECK:         linalg.matmul ins(%[[A]], %[[B]] :
// CHECK:         memref.load %[[A]]
gpu.module @kernels {
  gpu.func @copies_stay(%c: memref<4x512xf32>, %d: memref<512xf32>) workgroup(%x: memref<4x8xf32, #wg>, %y: memref<8x512xf32, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.alloca() : memref<4x8xf32, #own>
    %b = memref.alloca() : memref<8x4xf32, #own>
    %tx = gpu.thread_id x
    %j = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
    %part = memref.subview %c[0, %j] [4, 4] [1, 1] : memref<4x512xf32> to memref<4x4xf32, strided<[512, 1], offset: ?>>
    %q = memref.subview %y[0, %j] [8, 4] [1, 1] : memref<8x512xf32, #wg> to memref<8x4xf32, strided<[512, 1], offset: ?>, #wg>
    memref.copy %x, %a : memref<4x8xf32, #wg> to memref<4x8xf32, #own>
    memref.copy %q, %b : memref<8x4xf32, strided<[512, 1], offset: ?>, #wg> to memref<8x4xf32, #own>
    gpu.barrier
    linalg.matmul ins(%a, %b : memref<4x8xf32, #own>, memref<8x4xf32, #own>) outs(%part : memref<4x4xf32, strided<[512, 1], offset: ?>>)
    %v = memref.load %a[%c0, %c0] : memref<4x8xf32, #own>
    memref.store %v, %d[%tx] : memref<512xf32>
    gpu.return
  }
}

// -----

// All threads have the same result, or the loop is yet to be shared out: nothing is done.

#wg = #gpu.address_space<workgroup>

// CHECK-LABEL: gpu.func @of_all
// CHECK-NOT:     alloca
gpu.module @kernels {
  gpu.func @of_all(%c: memref<4x4xf32>) workgroup(%x: memref<4x8xf32, #wg>, %y: memref<8x4xf32, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    linalg.matmul ins(%x, %y : memref<4x8xf32, #wg>, memref<8x4xf32, #wg>) outs(%c : memref<4x4xf32>)
    scf.forall (%i) in (1) {
      linalg.matmul ins(%x, %y : memref<4x8xf32, #wg>, memref<8x4xf32, #wg>) outs(%c : memref<4x4xf32>)
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}
