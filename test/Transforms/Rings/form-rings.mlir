// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=4})' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-form-rings{slots=4})' | diff %t.once -
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-rings{engine=registers},workgroup-hoist-allocs)' -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{slots=1})' | FileCheck %s --check-prefix=ONE

// One slot is no ring.
// ONE-NOT: workgroup.ring

// The copy of each iteration is put, and got before the first reader. The source is
// computed before, the buffer is gone.
// CHECK-LABEL: gpu.func @one
// CHECK:         %[[RING:.+]] = workgroup.ring : !workgroup.ring<4 slots of memref<64xf32, #gpu.address_space<workgroup>>>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for %[[K:.+]] = %{{.+}} to
// CHECK:           %[[SOURCE:.+]] = memref.subview %{{.+}}[%[[K]]] [64] [1]
// CHECK-NEXT:      %[[EMPTY:.+]] = workgroup.put %[[RING]]
// CHECK-NEXT:      workgroup.copy %[[SOURCE]] to %[[EMPTY]]
// CHECK-NEXT:      workgroup.commit %[[RING]]
// CHECK-NEXT:      %[[FULL:.+]] = workgroup.get %[[RING]]
// CHECK-NEXT:      %[[LOADED:.+]] = memref.load %[[FULL]]
// CHECK-NEXT:      memref.store %[[LOADED]]
// CHECK-NEXT:      workgroup.release %[[RING]]
// CHECK-NEXT:    }
gpu.module @one {
  gpu.func @one(%a: memref<4096xf32>, %b: memref<64xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c4096 = arith.constant 4096 : index
    %x = gpu.thread_id x
    %tile = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    scf.for %k = %c0 to %c4096 step %c64 {
      %source = memref.subview %a[%k] [64] [1] : memref<4096xf32> to memref<64xf32, strided<[1], offset: ?>>
      memref.copy %source, %tile : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #gpu.address_space<workgroup>>
      %value = memref.load %tile[%x] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %value, %b[%x] : memref<64xf32>
    }
    memref.dealloc %tile : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// Two copies are one ring, as transform.structured.promote leaves them: views
// of constant sizes, barriers around each. Views that readers need are made
// again of the slot; barriers stay.
// CHECK-LABEL: func.func @two
// CHECK:         gpu.launch
// CHECK:         %[[RING:.+]] = workgroup.ring : !workgroup.ring<4 slots of memref<8x8xf32, 3>, memref<8x8xf32, 3>>
// CHECK:         scf.for
// CHECK-COUNT-4:   gpu.barrier
// CHECK:           %[[EMPTY:.+]]:2 = workgroup.put %[[RING]]
// CHECK-NEXT:      workgroup.copy %{{.+}} to %[[EMPTY]]#0
// CHECK-NEXT:      workgroup.copy %{{.+}} to %[[EMPTY]]#1
// CHECK-NEXT:      workgroup.commit
// CHECK-NEXT:      %[[FULL:.+]]:2 = workgroup.get %[[RING]]
// CHECK-NEXT:      %[[A:.+]] = memref.subview %[[FULL]]#0
// CHECK-NEXT:      %[[B:.+]] = memref.subview %[[FULL]]#1
// CHECK-NEXT:      memref.load %[[A]]
// CHECK-NEXT:      memref.load %[[B]]
// CHECK-NOT:       memref.dealloc
func.func @two(%a: memref<8x4096xf32>, %b: memref<8x4096xf32>, %c: memref<8x8xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c4096 = arith.constant 4096 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c8, %ny = %c8, %nz = %c1) {
    scf.for %k = %c0 to %c4096 step %c8 {
      %tile_a = memref.alloc() : memref<8x8xf32, 3>
      %tile_b = memref.alloc() : memref<8x8xf32, 3>
      %part_a = memref.subview %tile_a[0, 0] [%c8, %c8] [1, 1] : memref<8x8xf32, 3> to memref<?x?xf32, strided<[8, 1]>, 3>
      %part_b = memref.subview %tile_b[0, 0] [%c8, %c8] [1, 1] : memref<8x8xf32, 3> to memref<?x?xf32, strided<[8, 1]>, 3>
      %source_a = memref.subview %a[0, %k] [8, 8] [1, 1] : memref<8x4096xf32> to memref<8x8xf32, strided<[4096, 1], offset: ?>>
      %source_b = memref.subview %b[0, %k] [8, 8] [1, 1] : memref<8x4096xf32> to memref<8x8xf32, strided<[4096, 1], offset: ?>>
      gpu.barrier
      memref.copy %source_a, %part_a : memref<8x8xf32, strided<[4096, 1], offset: ?>> to memref<?x?xf32, strided<[8, 1]>, 3>
      gpu.barrier
      gpu.barrier
      linalg.copy ins(%source_b : memref<8x8xf32, strided<[4096, 1], offset: ?>>) outs(%part_b : memref<?x?xf32, strided<[8, 1]>, 3>)
      gpu.barrier
      %left = memref.load %part_a[%ty, %tx] : memref<?x?xf32, strided<[8, 1]>, 3>
      %right = memref.load %part_b[%tx, %ty] : memref<?x?xf32, strided<[8, 1]>, 3>
      %product = arith.mulf %left, %right : f32
      memref.store %product, %c[%ty, %tx] : memref<8x8xf32>
      memref.dealloc %tile_a : memref<8x8xf32, 3>
      memref.dealloc %tile_b : memref<8x8xf32, 3>
    }
    gpu.terminator
  }
  return
}

// A ragged tile: zeros, and what there is. The copy does both.
// CHECK-LABEL: gpu.func @ragged
// CHECK:         scf.for
// CHECK-NOT:       linalg.fill
// CHECK:           workgroup.copy %{{.+}} to %{{.+}} : memref<8x?xf16, strided<[100, 1], offset: ?>> to memref<8x16xf16, #gpu.address_space<workgroup>>
gpu.module @ragged {
  gpu.func @ragged(%a: memref<8x100xf16>, %b: memref<16xf16> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c100 = arith.constant 100 : index
    %zero = arith.constant 0.0 : f16
    %tile = memref.alloc() : memref<8x16xf16, #gpu.address_space<workgroup>>
    scf.for %k = %c0 to %c100 step %c16 {
      %width = affine.min affine_map<(k) -> (16, 100 - k)>(%k)
      %source = memref.subview %a[0, %k] [8, %width] [1, 1] : memref<8x100xf16> to memref<8x?xf16, strided<[100, 1], offset: ?>>
      linalg.fill ins(%zero : f16) outs(%tile : memref<8x16xf16, #gpu.address_space<workgroup>>)
      %part = memref.subview %tile[0, 0] [8, %width] [1, 1] : memref<8x16xf16, #gpu.address_space<workgroup>> to memref<8x?xf16, strided<[16, 1]>, #gpu.address_space<workgroup>>
      memref.copy %source, %part : memref<8x?xf16, strided<[100, 1], offset: ?>> to memref<8x?xf16, strided<[16, 1]>, #gpu.address_space<workgroup>>
      %x = gpu.thread_id x
      %value = memref.load %tile[%c0, %x] : memref<8x16xf16, #gpu.address_space<workgroup>>
      memref.store %value, %b[%x] : memref<16xf16>
    }
    gpu.return
  }
}

// A loop of three iterations in another one: three slots, and a ring for all of the
// kernel. The buffer is an attribution; it goes as well.
// CHECK-LABEL: gpu.func @nested(
// CHECK-SAME:    ) kernel {
// CHECK:         workgroup.ring : !workgroup.ring<3 slots of memref<32xf32, #nvvm.memory_space<shared>>>
// CHECK:         scf.for
// CHECK-NOT:       workgroup.ring
// CHECK:           scf.for
// CHECK:             workgroup.put
// CHECK:             workgroup.get
// CHECK:             scf.for
// CHECK:               memref.load
// CHECK:             workgroup.release
gpu.module @nested {
  gpu.func @nested(%a: memref<96xf32>, %b: memref<32xf32> {llvm.noalias}) workgroup(%tile: memref<32xf32, #nvvm.memory_space<shared>> {llvm.align = 16 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %x = gpu.thread_id x
    scf.for %o = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %c96 step %c32 {
        %source = memref.subview %a[%k] [32] [1] : memref<96xf32> to memref<32xf32, strided<[1], offset: ?>>
        memref.copy %source, %tile : memref<32xf32, strided<[1], offset: ?>> to memref<32xf32, #nvvm.memory_space<shared>>
        scf.for %i = %c0 to %c32 step %c1 {
          %value = memref.load %tile[%i] : memref<32xf32, #nvvm.memory_space<shared>>
          memref.store %value, %b[%x] : memref<32xf32>
        }
      }
    }
    gpu.return
  }
}

// Extents that only the types leave open: the source is a whole tile.
// CHECK-LABEL: gpu.func @cast
// CHECK:         %[[SOURCE:.+]] = memref.cast %{{.+}} : memref<?xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1], offset: ?>>
// CHECK:         workgroup.copy %[[SOURCE]]
gpu.module @cast {
  gpu.func @cast(%a: memref<?xf32>, %n: index, %b: memref<32xf32> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %x = gpu.thread_id x
    %tile = memref.alloca() : memref<32xf32, 3>
    scf.for %k = %c0 to %n step %c32 {
      %source = memref.subview %a[%k] [%c32] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
      memref.copy %source, %tile : memref<?xf32, strided<[1], offset: ?>> to memref<32xf32, 3>
      %value = memref.load %tile[%x] : memref<32xf32, 3>
      memref.store %value, %b[%x] : memref<32xf32>
    }
    gpu.return
  }
}

// Deallocations of a view, before the loop or in it, go with the buffer.
// CHECK-LABEL: gpu.func @dealloc_of_view
// CHECK-NOT:     memref.alloc
// CHECK:         workgroup.get
// CHECK-NOT:     memref.dealloc
gpu.module @dealloc_of_view {
  gpu.func @dealloc_of_view(%a: memref<?xcomplex<f32>>, %n: index, %b: memref<32xcomplex<f32>> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %x = gpu.thread_id x
    %tile = memref.alloc() : memref<32xcomplex<f32>, 3>
    %view = memref.cast %tile : memref<32xcomplex<f32>, 3> to memref<?xcomplex<f32>, 3>
    scf.for %k = %c0 to %n step %c32 {
      %source = memref.subview %a[%k] [32] [1] : memref<?xcomplex<f32>> to memref<32xcomplex<f32>, strided<[1], offset: ?>>
      memref.copy %source, %tile : memref<32xcomplex<f32>, strided<[1], offset: ?>> to memref<32xcomplex<f32>, 3>
      %value = memref.load %tile[%x] : memref<32xcomplex<f32>, 3>
      memref.store %value, %b[%x] : memref<32xcomplex<f32>>
    }
    memref.dealloc %view : memref<?xcomplex<f32>, 3>
    gpu.return
  }
}

// Readers may be of any kind.
// CHECK-LABEL: gpu.func @readers
// CHECK:         %[[FULL:.+]] = workgroup.get
// CHECK:         nvgpu.ldmatrix %[[FULL]]
// CHECK:         gpu.subgroup_mma_load_matrix %[[FULL]]
// CHECK:         vector.transfer_read %[[FULL]]
// CHECK:         vector.maskedload %[[FULL]]
// CHECK:         workgroup.release
gpu.module @readers {
  gpu.func @readers(%a: memref<16x512xf16>, %b: memref<32x8xf16> {llvm.noalias}) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c512 = arith.constant 512 : index
    %zero = arith.constant 0.0 : f16
    %zeros = arith.constant dense<0.0> : vector<8xf16>
    %x = gpu.thread_id x
    %mask = vector.create_mask %x : vector<8xi1>
    %tile = memref.alloc() : memref<16x16xf16, 3>
    scf.for %k = %c0 to %c512 step %c16 {
      %source = memref.subview %a[0, %k] [16, 16] [1, 1] : memref<16x512xf16> to memref<16x16xf16, strided<[512, 1], offset: ?>>
      memref.copy %source, %tile : memref<16x16xf16, strided<[512, 1], offset: ?>> to memref<16x16xf16, 3>
      %rows = nvgpu.ldmatrix %tile[%c0, %c0] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<4x2xf16>
      %m = gpu.subgroup_mma_load_matrix %tile[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16, 3> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %row = vector.transfer_read %tile[%c0, %c0], %zero {in_bounds = [true]} : memref<16x16xf16, 3>, vector<8xf16>
      %part = vector.maskedload %tile[%c0, %c0], %mask, %zeros : memref<16x16xf16, 3>, vector<8xi1>, vector<8xf16> into vector<8xf16>
      %sum = arith.addf %row, %part : vector<8xf16>
      vector.store %sum, %b[%x, %c0] : memref<32x8xf16>, vector<8xf16>
    }
    gpu.return
  }
}
