// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{slots=2})' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory)' | FileCheck %s --check-prefix=NONE

// Rings are formed where the option asks for them, of the copies that can be
// lowered as such; all others are lowered as without rings.

#wg = #gpu.address_space<workgroup>

gpu.module @kernels {
  // Two slots of 64 elements, and copies of the iteration after.
  // CHECK-LABEL: gpu.func @numbers
  // CHECK-SAME:    workgroup(%{{.+}} : memref<512xi8,
  // CHECK:         nvgpu.device_async_copy
  // CHECK:         scf.for
  // CHECK:           nvvm.cp.async.wait.group 0
  // NONE-LABEL:  gpu.func @numbers
  // NONE-SAME:     workgroup(%{{.+}} : memref<64xf32,
  gpu.func @numbers(%a: memref<512xf32>, %b: memref<64xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<64xf32, #wg>
    scf.for %k = %c0 to %c512 step %c64 {
      %s = memref.subview %a[%k] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: ?>>
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %v = memref.load %w[%x] : memref<64xf32, #wg>
      memref.store %v, %b[%x] : memref<64xf32>
    }
    gpu.return
  }

  // No copy of a ring fills a ragged tile of vectors with zeros: the copy stays
  // one of the iteration that reads it, after the filling. Each thread reads its own column.
  // CHECK-LABEL: gpu.func @ragged_vectors
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<8x16xvector<4xf32>, #gpu.address_space<workgroup>>
  // CHECK:         scf.for
  // CHECK:           memref.store %{{.+}}, %[[W]]
  // CHECK-NOT:       bar
  // CHECK:           memref.load %[[W]]
  gpu.func @ragged_vectors(%a: memref<8x64xvector<4xf32>>, %n: index, %b: memref<64xvector<4xf32>> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %x = gpu.thread_id x
    %w = memref.alloc() : memref<8x16xvector<4xf32>, #wg>
    scf.for %k = %c0 to %c64 step %c16 {
      %s = memref.subview %a[0, %k] [%n, 16] [1, 1] : memref<8x64xvector<4xf32>> to memref<?x16xvector<4xf32>, strided<[64, 1], offset: ?>>
      %p = memref.subview %w[0, 0] [%n, 16] [1, 1] : memref<8x16xvector<4xf32>, #wg> to memref<?x16xvector<4xf32>, strided<[16, 1]>, #wg>
      linalg.fill ins(%zero : vector<4xf32>) outs(%w : memref<8x16xvector<4xf32>, #wg>)
      memref.copy %s, %p : memref<?x16xvector<4xf32>, strided<[64, 1], offset: ?>> to memref<?x16xvector<4xf32>, strided<[16, 1]>, #wg>
      %v = memref.load %w[%c0, %x] : memref<8x16xvector<4xf32>, #wg>
      memref.store %v, %b[%x] : memref<64xvector<4xf32>>
    }
    gpu.return
  }
}
