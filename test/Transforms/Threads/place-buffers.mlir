// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-place-buffers)" | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-place-buffers,workgroup-place-buffers)" | FileCheck %s

// What a block keeps goes to workgroup memory; what has a space, or is of the host, stays.

// CHECK-LABEL: func.func @tile
// CHECK: %[[HOST:.*]] = memref.alloc() : memref<8xf32>
// CHECK: scf.forall
// CHECK: %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x16xf32, #gpu.address_space<workgroup>>
// CHECK: memref.subview %[[A]][0, 0] [8, 4] [1, 1] : memref<8x16xf32, #gpu.address_space<workgroup>> to memref<8x4xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[D:.*]] = memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK: %[[P:.*]] = memref.subview %[[D]][0] [%{{.*}}] [1] : memref<8xf32, #gpu.address_space<workgroup>> to memref<?xf32, strided<[1]>, #gpu.address_space<workgroup>>
// CHECK: linalg.fill {{.*}} outs(%[[P]]
// CHECK: memref.alloc() : memref<4xf32, 3>
// CHECK: memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
// CHECK-NOT: memref.alloca
// CHECK-NOT: memref.dealloc %[[A]]
// CHECK: memref.dealloc %[[HOST]]
func.func @tile(%x: memref<8xf32>, %n: index, %f: f32) {
  %host = memref.alloc() : memref<8xf32>
  scf.forall (%b) in (4) {
    %a = memref.alloc() {alignment = 64 : i64} : memref<8x16xf32>
    %v = memref.subview %a[0, 0] [8, 4] [1, 1] : memref<8x16xf32> to memref<8x4xf32, strided<[16, 1]>>
    linalg.fill ins(%f : f32) outs(%v : memref<8x4xf32, strided<[16, 1]>>)
    %m = affine.min affine_map<(i)[n] -> (n - i, 8)>(%b)[%n]
    %d = memref.alloc(%m) : memref<?xf32>
    linalg.fill ins(%f : f32) outs(%d : memref<?xf32>)
    %w = memref.alloc() : memref<4xf32, 3>
    linalg.fill ins(%f : f32) outs(%w : memref<4xf32, 3>)
    %p = memref.alloca() : memref<4xf32>
    linalg.fill ins(%f : f32) outs(%p : memref<4xf32>)
    memref.dealloc %a : memref<8x16xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  memref.dealloc %host : memref<8xf32>
  return
}

// Loops over threads alone are none over blocks.
// CHECK-LABEL: func.func @threads
// CHECK: memref.alloc() : memref<8xf32>
func.func @threads(%f: f32) {
  scf.forall (%t) in (4) {
    %a = memref.alloc() : memref<8xf32>
    linalg.fill ins(%f : f32) outs(%a : memref<8xf32>)
  } {mapping = [#gpu.thread<x>]}
  return
}
