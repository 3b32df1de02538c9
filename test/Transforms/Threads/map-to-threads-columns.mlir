// RUN: mlir-opt %s \
// RUN:   --pass-pipeline='builtin.module(workgroup-map-to-threads{threads=256 assume-alignment=16},canonicalize)' \
// RUN:   | FileCheck %s

#in = affine_map<(i, k) -> (k, i)>
#out = affine_map<(i, k) -> (i)>
// Eight lanes of four columns each read rows of 128 bytes; 32 rows of threads go through them, eight
// accesses of each under way. Who needs a sum adds up what these have.
// CHECK-LABEL: func.func @columns
// CHECK: %[[SLOTS:.*]] = memref.alloc() {alignment = 16 : i64} : memref<32x32xf32, #gpu.address_space<workgroup>>
// CHECK: scf.forall (%[[ROW:.*]], %[[LANE:.*]]) in (32, 8) {
// CHECK: %[[FIRST:.*]] = arith.muli %[[LANE]], %c4
// CHECK-NOT: scf.if
// CHECK: scf.for %[[TURN:.*]] = %c0 to %c8 step %c1 iter_args
// CHECK: %[[AT:.*]] = arith.muli %[[TURN]], %c256
// CHECK: %[[K:.*]] = arith.addi %[[AT]], %[[ROW]]
// CHECK: vector.load %{{.*}}[%[[K]], %[[FIRST]]] {{.*}}, vector<4xf32>
// CHECK-COUNT-4: arith.addf
// CHECK-COUNT-7: vector.load %{{.*}}, %[[FIRST]]] {{.*}}, vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[SLOTS]][%[[ROW]], %[[FIRST]]] {alignment = 16 : i64}
// CHECK: mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]
// CHECK: scf.forall (%[[I:.*]]) in (32) {
// CHECK: scf.for %[[R:.*]] = %c0 to %c32 step %c1 iter_args
// CHECK: memref.load %[[SLOTS]][%[[R]], %[[I]]]
// CHECK: arith.addf
// CHECK: memref.store
// CHECK-NOT: gpu.subgroup_reduce
// CHECK: return
func.func @columns(%x: memref<2048x2048xf32>, %y: memref<2048xf32>) {
  scf.forall (%b) = (0) to (2048) step (32) {
    %s = memref.subview %x[0, %b] [2048, 32] [1, 1] : memref<2048x2048xf32> to memref<2048x32xf32, strided<[2048, 1], offset: ?>>
    %t = memref.subview %y[%b] [32] [1] : memref<2048xf32> to memref<32xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
        ins(%s : memref<2048x32xf32, strided<[2048, 1], offset: ?>>) outs(%t : memref<32xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %o, %a : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Lanes beyond the last of at most 30 columns do nothing, and what is left of 100 rows is done one by one; two results have slots each.
// CHECK-LABEL: func.func @ragged
// CHECK: %[[A:.*]] = memref.alloc() {{.*}} : memref<8x30xi32, #gpu.address_space<workgroup>>
// CHECK: %[[B:.*]] = memref.alloc() {{.*}} : memref<8x30xi32, #gpu.address_space<workgroup>>
// CHECK: scf.forall (%[[ROW:.*]], %[[LANE:.*]]) in (8, 30) {
// CHECK: %[[IS_IN:.*]] = arith.cmpi slt, %[[LANE]], %[[N:.*]] : index
// CHECK: scf.if %[[IS_IN]] {
// CHECK: memref.load %{{.*}}[%[[ROW]], %[[LANE]]]
// CHECK-COUNT-7: memref.load
// CHECK: %[[S:.*]]:2 = scf.for %{{.*}} = %{{.*}} to %c100 step %c8 iter_args
// CHECK: memref.store %[[S]]#0, %[[A]][%[[ROW]], %[[LANE]]]
// CHECK: memref.store %[[S]]#1, %[[B]][%[[ROW]], %[[LANE]]]
// CHECK: scf.forall ({{.*}}) in (%[[N]]) {
// CHECK: memref.load %[[A]]
// CHECK: memref.load %[[B]]
// CHECK: return
func.func @ragged(%x: memref<100x1001xi32>, %y: memref<1001xi32>, %z: memref<1001xi32>) {
  scf.forall (%b) = (0) to (1001) step (30) {
    %n = affine.min affine_map<(i) -> (1001 - i, 30)>(%b)
    %s = memref.subview %x[0, %b] [100, %n] [1, 1] : memref<100x1001xi32> to memref<100x?xi32, strided<[1001, 1], offset: ?>>
    %t = memref.subview %y[%b] [%n] [1] : memref<1001xi32> to memref<?xi32, strided<[1], offset: ?>>
    %u = memref.subview %z[%b] [%n] [1] : memref<1001xi32> to memref<?xi32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]}
        ins(%s : memref<100x?xi32, strided<[1001, 1], offset: ?>>)
        outs(%t, %u : memref<?xi32, strided<[1], offset: ?>>, memref<?xi32, strided<[1], offset: ?>>) {
    ^bb0(%a: i32, %o: i32, %m: i32):
      %0 = arith.addi %o, %a : i32
      %1 = arith.maxsi %m, %a : i32
      linalg.yield %0, %1 : i32, i32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Of four columns the sums themselves are shared out among all threads, two warps for each.
// CHECK-LABEL: func.func @few
// CHECK: memref<4x2xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.subgroup_reduce
// CHECK: return
func.func @few(%x: memref<512x4xf32>, %y: memref<4xf32>) {
  scf.forall (%b) in (1) {
    linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x4xf32>) outs(%y : memref<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %o, %a : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
