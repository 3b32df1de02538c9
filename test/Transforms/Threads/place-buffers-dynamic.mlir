// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-place-buffers)" | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-place-buffers,workgroup-place-buffers)" | FileCheck %s

#min8 = affine_map<(i)[n] -> (n - i, 8)>
// Rows are 8 elements apart, whatever they hold; slices follow.
// CHECK-LABEL: func.func @bounded
// CHECK: %[[M:.*]] = affine.min
// CHECK: %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x8xf32, #gpu.address_space<workgroup>>
// CHECK: %[[P:.*]] = memref.subview %[[A]][0, 0] [%[[M]], %[[M]]] [1, 1] : {{.*}} to memref<?x?xf32, strided<[8, 1]>, #gpu.address_space<workgroup>>
// CHECK: linalg.fill {{.*}} outs(%[[P]]
// CHECK: %[[R:.*]] = memref.subview %[[P]][1, 0] [1, %[[M]]] [1, 1] : {{.*}} to memref<?xf32, strided<[1], offset: 8>, #gpu.address_space<workgroup>>
// CHECK: %[[E:.*]] = memref.subview %[[R]][2] [3] [1] : {{.*}} to memref<3xf32, strided<[1], offset: 10>, #gpu.address_space<workgroup>>
// CHECK: linalg.fill {{.*}} outs(%[[E]]
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @bounded(%n: index, %f: f32) {
  scf.forall (%b) in (4) {
    %m = affine.min #min8(%b)[%n]
    %a = memref.alloc(%m, %m) {alignment = 64 : i64} : memref<?x?xf32>
    linalg.fill ins(%f : f32) outs(%a : memref<?x?xf32>)
    %r = memref.subview %a[1, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %e = memref.subview %r[2] [3] [1] : memref<?xf32, strided<[1], offset: ?>> to memref<3xf32, strided<[1], offset: ?>>
    linalg.fill ins(%f : f32) outs(%e : memref<3xf32, strided<[1], offset: ?>>)
    memref.dealloc %a : memref<?x?xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Nothing bounds one, and the other is read as one row.
// CHECK-LABEL: func.func @stay
// CHECK: %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?x4xf32, #gpu.address_space<workgroup>>
// CHECK: linalg.fill {{.*}} outs(%[[A]]
// CHECK: %[[C:.*]] = memref.alloc(%{{.*}}) : memref<4x?xf32, #gpu.address_space<workgroup>>
// CHECK: memref.collapse_shape %[[C]] {{.*}} into memref<?xf32, #gpu.address_space<workgroup>>
// CHECK: return
func.func @stay(%n: index, %f: f32) {
  scf.forall (%b) in (4) {
    %a = memref.alloc(%n) : memref<?x4xf32>
    linalg.fill ins(%f : f32) outs(%a : memref<?x4xf32>)
    %m = affine.min #min8(%b)[%n]
    %c = memref.alloc(%m) : memref<4x?xf32>
    %r = memref.collapse_shape %c [[0, 1]] : memref<4x?xf32> into memref<?xf32>
    linalg.fill ins(%f : f32) outs(%r : memref<?xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
