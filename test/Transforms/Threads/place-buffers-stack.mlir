// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-place-buffers)" | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-place-buffers,workgroup-place-buffers)" | FileCheck %s

// Threads share out what is done on it, so it cannot be on the stack of each.
// CHECK-LABEL: func.func @shared
// CHECK: %[[A:.*]] = memref.alloc() {alignment = 32 : i64} : memref<8x16xf32, #gpu.address_space<workgroup>>
// CHECK: %[[V:.*]] = memref.subview %[[A]]{{.*}} to memref<8x4xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
// CHECK: linalg.fill {{.*}} outs(%[[V]]
// CHECK: %[[D:.*]] = memref.alloc(%{{.*}}) : memref<?xf32, #gpu.address_space<workgroup>>
// CHECK: memref.copy %{{.*}}, %[[D]]
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @shared(%x: memref<?xf32>, %n: index, %f: f32) {
  scf.forall (%b) in (4) {
    %a = memref.alloca() {alignment = 32 : i64} : memref<8x16xf32>
    %v = memref.subview %a[0, 0] [8, 4] [1, 1] : memref<8x16xf32> to memref<8x4xf32, strided<[16, 1]>>
    linalg.fill ins(%f : f32) outs(%v : memref<8x4xf32, strided<[16, 1]>>)
    %d = memref.alloca(%n) : memref<?xf32>
    memref.copy %x, %d : memref<?xf32> to memref<?xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// What a thread uses by itself, or only loops over threads do, stays its own.
// CHECK-LABEL: func.func @own
// CHECK: memref.alloca() : memref<4xf32>
// CHECK: memref.alloca() : memref<5xf32>
// CHECK: memref.alloca() : memref<6xf32, #gpu.address_space<private>>
// CHECK: memref.alloca() : memref<7xf32>
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @own(%f: f32, %i: index) {
  scf.forall (%b) in (4) {
    %a = memref.alloca() : memref<4xf32>
    memref.store %f, %a[%i] : memref<4xf32>
    %c = memref.alloca() : memref<5xf32>
    %p = memref.alloca() : memref<6xf32, #gpu.address_space<private>>
    linalg.fill ins(%f : f32) outs(%p : memref<6xf32, #gpu.address_space<private>>)
    scf.forall (%t) in (4) {
      linalg.fill ins(%f : f32) outs(%c : memref<5xf32>)
      %d = memref.alloca() : memref<7xf32>
      linalg.fill ins(%f : f32) outs(%d : memref<7xf32>)
    } {mapping = [#gpu.thread<linear_dim_0>]}
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// A loop over blocks in another one has its own buffers; each is placed once.
// CHECK-LABEL: func.func @nested
// CHECK: scf.forall
// CHECK: memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK: scf.forall
// CHECK: memref.alloc() : memref<9xf32, #gpu.address_space<workgroup>>
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @nested(%f: f32) {
  scf.forall (%b) in (4) {
    %x = memref.alloc() : memref<8xf32>
    linalg.fill ins(%f : f32) outs(%x : memref<8xf32>)
    scf.forall (%c) in (4) {
      %y = memref.alloc() : memref<9xf32>
      linalg.fill ins(%f : f32) outs(%y : memref<9xf32>)
    } {mapping = [#gpu.block<x>]}
  } {mapping = [#gpu.block<y>]}
  return
}
