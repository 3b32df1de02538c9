// RUN: mlir-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(workgroup-map-to-threads{threads=256 assume-alignment=16},canonicalize,cse)' \
// RUN:   | FileCheck %s

// Each thread multiplies four rows at once with the vector, which it loads once for them.
#mk = affine_map<(m, k) -> (m, k)>
#k = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
// CHECK-LABEL: func.func @matvec
// CHECK: %[[SLOTS:.*]] = memref.alloc() {alignment = 16 : i64} : memref<4x8xf32, #gpu.address_space<workgroup>>
// CHECK: scf.forall ({{.*}}) in (256) {
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args({{.*}}) -> (f32, f32, f32, f32) {
// CHECK: vector.load %arg0[%c0, %[[K:.*]]] {alignment = 16 : i64} {{.*}}, vector<4xf32>
// CHECK: vector.load %arg1[%[[K]]] {alignment = 16 : i64} {{.*}}, vector<4xf32>
// CHECK: vector.load %arg0[%c1, %[[K]]]
// CHECK: vector.load %arg0[%c2, %[[K]]]
// CHECK: vector.load %arg0[%c3, %[[K]]]
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK-COUNT-4: gpu.subgroup_reduce
// CHECK: scf.if
// CHECK-COUNT-4: memref.store %{{.*}}, %[[SLOTS]]
// CHECK: scf.forall ({{.*}}) in (4) {
func.func @matvec(%a: memref<4x4096xf32>, %b: memref<4096xf32>, %c: memref<4xf32>) {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [#mk, #k, #m], iterator_types = ["parallel", "reduction"]}
        ins(%a, %b : memref<4x4096xf32>, memref<4096xf32>) outs(%c : memref<4xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.mulf %x, %y : f32
      %1 = arith.addf %0, %o : f32
      linalg.yield %1 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Eight rows by sixteen columns: 8 by 4 sums for each thread, of which a fourth has each four
// columns. Products of halves are of the sum's type.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @groups
// CHECK: %[[SLOTS:.*]] = memref.alloc() {alignment = 16 : i64} : memref<8x16x2xf32, #gpu.address_space<workgroup>>
// CHECK: scf.forall (%[[T:.*]]) in (256) {
// CHECK-DAG: %[[GROUP:.*]] = arith.divui %[[T]], %c64
// CHECK-DAG: %[[THREAD:.*]] = arith.remui %[[T]], %c64
// CHECK: scf.for {{.*}} = %c0 to %c8 step %c1
// CHECK-COUNT-12: vector.load {{.*}}, vector<8xf16>
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK-COUNT-32: gpu.subgroup_reduce
// CHECK-NOT: gpu.subgroup_reduce
// CHECK: scf.forall ({{.*}}) in (8, 16) {
func.func @groups(%a: memref<8x4096xf16>, %b: memref<16x4096xf16>, %c: memref<8x16xf32>) {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<8x4096xf16>, memref<16x4096xf16>) outs(%c : memref<8x16xf32>) {
    ^bb0(%x: f16, %y: f16, %o: f32):
      %0 = arith.extf %x : f16 to f32
      %1 = arith.extf %y : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Across memory: 32 lanes of four columns, and four rows of the vectors at once, of which four steps
// are loaded together.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @across
// CHECK: %[[SLOTS:.*]] = memref.alloc() {alignment = 16 : i64} : memref<4x8x128xf32, #gpu.address_space<workgroup>>
// CHECK: scf.forall (%[[ROW:.*]], %[[LANE:.*]]) in (8, 32) {
// CHECK: %[[FIRST:.*]] = arith.muli %[[LANE]], %c4
// CHECK: scf.for {{.*}} = %c0 to %c16 step %c1
// CHECK: vector.load %arg0[%c0, %[[K:.*]]] {{.*}}, vector<4xf32>
// CHECK: vector.load %arg1[%[[K]], %[[FIRST]]] {{.*}}, vector<4xf32>
// CHECK: vector.load %arg0[%c1, %[[K]]]
// CHECK: vector.load %arg0[%c2, %[[K]]]
// CHECK: vector.load %arg0[%c3, %[[K]]]
// CHECK-COUNT-3: vector.load %arg1[%{{.*}}, %[[FIRST]]]
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK-COUNT-4: vector.store %{{.*}}, %[[SLOTS]][%{{.*}}, %[[ROW]], %[[FIRST]]]
// CHECK: scf.forall ({{.*}}) in (4, 128) {
func.func @across(%a: memref<4x512xf32>, %b: memref<512x128xf32>, %c: memref<4x128xf32>) {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<4x512xf32>, memref<512x128xf32>) outs(%c : memref<4x128xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.mulf %x, %y : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// A matrix is summed up in vectors along its rows; eight are under way.
#ij = affine_map<(i, j) -> (i, j)>
#all = affine_map<(i, j) -> ()>
// CHECK-LABEL: func.func @whole
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args
// CHECK-COUNT-8: vector.load {{.*}}, vector<4xf32>
// CHECK-NOT: memref.load
// CHECK: gpu.subgroup_reduce
func.func @whole(%a: memref<64x4096xf32>, %c: memref<f32>) {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [#ij, #all], iterator_types = ["reduction", "reduction"]}
        ins(%a : memref<64x4096xf32>) outs(%c : memref<f32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.addf %x, %o : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Four rows of a tile that may have fewer: those beyond are the last one, and nobody needs their
// sums. Whether rows of unknown length are aligned, all threads see.
#mk = affine_map<(m, k) -> (m, k)>
#k = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
// CHECK-LABEL: func.func @ragged
// CHECK: memref.alloc() {alignment = 16 : i64} : memref<4x8xf32, #gpu.address_space<workgroup>>
// CHECK: memref.dim
// CHECK: arith.remui %{{.*}}, %c4
// CHECK: scf.if
// CHECK: arith.minsi
// CHECK: vector.load {{.*}}, vector<4xf32>
// CHECK: } else {
// CHECK-NOT: vector.load
// CHECK: memref.load
// CHECK: gpu.subgroup_reduce
func.func @ragged(%a: memref<?x?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %rows: index, %length: index) {
  scf.forall (%i) = (0) to (%rows) step (4) {
    %n = affine.min affine_map<(i)[s] -> (s - i, 4)>(%i)[%rows]
    %s = memref.subview %a[%i, 0] [%n, %length] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %t = memref.subview %c[%i] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#mk, #k, #m], iterator_types = ["parallel", "reduction"]}
        ins(%s, %b : memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?xf32>) outs(%t : memref<?xf32, strided<[1], offset: ?>>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.mulf %x, %y : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// What depends on the row alone is computed once for all that a thread has of it.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @body
// CHECK: scf.for
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: gpu.subgroup_reduce{{ +}}maximumf
func.func @body(%a: memref<1x4096xf32>, %m: memref<1xf32>, %c: memref<1xf32>) {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
        ins(%a, %m : memref<1x4096xf32>, memref<1xf32>) outs(%c : memref<1xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %n = arith.constant 4096.0 : f32
      %mean = arith.divf %y, %n : f32
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %f = arith.sitofp %k : i32 to f32
      %d = arith.subf %x, %mean : f32
      %w = arith.mulf %d, %f : f32
      %s = arith.maximumf %w, %o : f32
      linalg.yield %s : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
