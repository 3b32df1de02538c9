// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-copies)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-copies)' | diff %t.once -
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-copies,workgroup-hoist-allocs,workgroup-verify-kernels)' -o /dev/null

// Copies that leave the loops that do not change what they copy, and those that stay.

#wg = #gpu.address_space<workgroup>

gpu.module @kernels {
  // With its buffer and the views that both need, out of both loops that do not
  // change what it copies, not out of the one that does; the deallocation follows.
  // CHECK-LABEL: gpu.func @two_loops
  // CHECK:         scf.for %[[K:.+]] = %{{.+}} to %{{.+}} step
  // CHECK-NEXT:      %[[ROW:.+]] = memref.subview %{{.+}}[%[[K]], 0]
  // CHECK-NEXT:      %[[TILE:.+]] = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:      memref.copy %[[ROW]], %[[TILE]]
  // CHECK-NEXT:      scf.for
  // CHECK-NEXT:        scf.for
  // CHECK-NOT:           memref.copy
  // CHECK:               memref.load %[[TILE]]
  // CHECK:           }
  // CHECK:           memref.dealloc %[[TILE]]
  // CHECK-NEXT:    }
  gpu.func @two_loops(%a: memref<64x64xf32>, %out: memref<64xf32> {llvm.noalias}, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    scf.for %k = %c0 to %n step %c1 {
      scf.for %i = %c0 to %c8 step %c1 {
        scf.for %j = %c0 to %c8 step %c1 {
          %tile = memref.alloc() : memref<64xf32, #wg>
          %row = memref.subview %a[%k, 0] [1, 64] [1, 1] : memref<64x64xf32> to memref<64xf32, strided<[1], offset: ?>>
          memref.copy %row, %tile : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
          %x = memref.load %tile[%j] : memref<64xf32, #wg>
          memref.store %x, %out[%t] : memref<64xf32>
          memref.dealloc %tile : memref<64xf32, #wg>
        }
      }
    }
    gpu.return
  }

  // Once, if the loop has an iteration; a conversion as well, of a part of a buffer from
  // outside of the loop.
  // CHECK-LABEL: gpu.func @maybe_no_iteration
  // CHECK:         %[[PART:.+]] = memref.subview
  // CHECK-NEXT:    %[[ANY:.+]] = arith.cmpi slt, %{{.+}}, %{{.+}} : index
  // CHECK-NEXT:    scf.if %[[ANY]] {
  // CHECK-NEXT:      linalg.copy ins(%{{.+}}) outs(%[[PART]]
  // CHECK-NEXT:    }
  // CHECK-NEXT:    scf.for
  // CHECK-NOT:       linalg.copy
  // CHECK:         gpu.return
  gpu.func @maybe_no_iteration(%a: memref<32xf16>, %out: memref<64xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<64xf32, #wg>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %part = memref.subview %w[8] [32] [1] : memref<64xf32, #wg> to memref<32xf32, strided<[1], offset: 8>, #wg>
      linalg.copy ins(%a : memref<32xf16>) outs(%part : memref<32xf32, strided<[1], offset: 8>, #wg>)
      gpu.barrier
      %x = memref.load %w[%i] : memref<64xf32, #wg>
      memref.store %x, %out[%i] : memref<64xf32>
    }
    gpu.return
  }

  // Neither what is no copy to workgroup memory, nor what stands in no loop, nor what
  // is another row in each iteration.
  // CHECK-LABEL: gpu.func @others
  // CHECK:         memref.copy
  // CHECK:         scf.for
  // CHECK-COUNT-3:   memref.copy
  // CHECK:         }
  gpu.func @others(%a: memref<64x64xf32>, %b: memref<64xf32>, %out: memref<64xf32>, %n: index)
      workgroup(%v: memref<64xf32, #wg>, %w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    memref.copy %b, %v : memref<64xf32> to memref<64xf32, #wg>
    scf.for %i = %c0 to %n step %c1 {
      %row = memref.subview %a[%i, 0] [1, 64] [1, 1] : memref<64x64xf32> to memref<64xf32, strided<[1], offset: ?>>
      memref.copy %row, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %some = arith.cmpi eq, %i, %c1 : index
      scf.if %some {
        memref.copy %b, %w : memref<64xf32> to memref<64xf32, #wg>
      }
      memref.copy %v, %out : memref<64xf32, #wg> to memref<64xf32>
    }
    gpu.return
  }

  // What computes an operand by 2^32 paths is moved once.
  // CHECK-LABEL: gpu.func @many_ways
  // CHECK-COUNT-32: arith.addi
  // CHECK:         memref.subview
  // CHECK:         scf.if
  // CHECK:           memref.copy
  // CHECK:         scf.for
  // CHECK-NOT:       memref.copy
  // CHECK:           memref.load
  gpu.func @many_ways(%a: memref<?xf32>, %out: memref<64xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %v1 = arith.addi %n, %n : index
      %v2 = arith.addi %v1, %v1 : index
      %v3 = arith.addi %v2, %v2 : index
      %v4 = arith.addi %v3, %v3 : index
      %v5 = arith.addi %v4, %v4 : index
      %v6 = arith.addi %v5, %v5 : index
      %v7 = arith.addi %v6, %v6 : index
      %v8 = arith.addi %v7, %v7 : index
      %v9 = arith.addi %v8, %v8 : index
      %v10 = arith.addi %v9, %v9 : index
      %v11 = arith.addi %v10, %v10 : index
      %v12 = arith.addi %v11, %v11 : index
      %v13 = arith.addi %v12, %v12 : index
      %v14 = arith.addi %v13, %v13 : index
      %v15 = arith.addi %v14, %v14 : index
      %v16 = arith.addi %v15, %v15 : index
      %v17 = arith.addi %v16, %v16 : index
      %v18 = arith.addi %v17, %v17 : index
      %v19 = arith.addi %v18, %v18 : index
      %v20 = arith.addi %v19, %v19 : index
      %v21 = arith.addi %v20, %v20 : index
      %v22 = arith.addi %v21, %v21 : index
      %v23 = arith.addi %v22, %v22 : index
      %v24 = arith.addi %v23, %v23 : index
      %v25 = arith.addi %v24, %v24 : index
      %v26 = arith.addi %v25, %v25 : index
      %v27 = arith.addi %v26, %v26 : index
      %v28 = arith.addi %v27, %v27 : index
      %v29 = arith.addi %v28, %v28 : index
      %v30 = arith.addi %v29, %v29 : index
      %v31 = arith.addi %v30, %v30 : index
      %v32 = arith.addi %v31, %v31 : index
      %s = memref.subview %a[%v32] [64] [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %x = memref.load %w[%c0] : memref<64xf32, #wg>
      memref.store %x, %out[%c0] : memref<64xf32>
    }
    gpu.return
  }
}

// What loads matrices only reads its memref.
// CHECK-LABEL: gpu.func @matrices
// CHECK:         memref.copy
// CHECK:         scf.for
// CHECK-NOT:       memref.copy
// CHECK:           nvgpu.ldmatrix
// CHECK:           gpu.subgroup_mma_load_matrix
gpu.module @matrices {
  gpu.func @matrices(%a: memref<16x16xf16>, %b: memref<32xf16> {llvm.noalias}) workgroup(%w: memref<16x16xf16, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = gpu.thread_id x
    scf.for %k = %c0 to %c8 step %c1 {
      memref.copy %a, %w : memref<16x16xf16> to memref<16x16xf16, #gpu.address_space<workgroup>>
      %rows = nvgpu.ldmatrix %w[%c0, %c0] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
      %m = gpu.subgroup_mma_load_matrix %w[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16, #gpu.address_space<workgroup>> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %value = vector.extract %rows[0, 0] : f16 from vector<4x2xf16>
      memref.store %value, %b[%x] : memref<32xf16>
    }
    gpu.return
  }
}

// Of two levels, global to workgroup and workgroup to private memory, each copy
// comes to stand where its source changes.
// CHECK-LABEL: gpu.func @two_levels
// CHECK:         scf.for %[[K:.+]] =
// CHECK:           %[[SLAB:.+]] = memref.subview %{{.+}}[%[[K]], 0]
// CHECK:           memref.copy %[[SLAB]], %[[W:.+]] :
// CHECK:           gpu.barrier
// CHECK:           memref.copy %[[W]], %[[P:.+]] : memref<8x8xf32, #{{.+}}> to memref<8x8xf32, #gpu.address_space<private>>
// CHECK-NEXT:      scf.for
// CHECK-NOT:         memref.copy
// CHECK:             memref.load %[[P]]
gpu.module @levels {
  gpu.func @two_levels(%a: memref<64x8xf32> {llvm.noalias}, %out: memref<64xf32> {llvm.noalias}) workgroup(%w: memref<8x8xf32, #gpu.address_space<workgroup>>) private(%p: memref<8x8xf32, #gpu.address_space<private>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %x = gpu.thread_id x
    scf.for %k = %c0 to %c64 step %c8 {
      %slab = memref.subview %a[%k, 0] [8, 8] [1, 1] : memref<64x8xf32> to memref<8x8xf32, strided<[8, 1], offset: ?>>
      memref.copy %slab, %w : memref<8x8xf32, strided<[8, 1], offset: ?>> to memref<8x8xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      scf.for %i = %c0 to %c8 step %c1 {
        memref.copy %w, %p : memref<8x8xf32, #gpu.address_space<workgroup>> to memref<8x8xf32, #gpu.address_space<private>>
        %value = memref.load %p[%i, %i] : memref<8x8xf32, #gpu.address_space<private>>
        memref.store %value, %out[%x] : memref<64xf32>
      }
      gpu.barrier
    }
    gpu.return
  }
}
