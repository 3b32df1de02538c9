// RUN: mlir-opt %s \
// RUN:   --pass-pipeline='builtin.module(workgroup-map-to-threads{threads=64 assume-alignment=16},canonicalize)' \
// RUN:   | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-map-to-threads{threads=64})' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-map-to-threads{threads=64})' -o %t.twice
// RUN: diff %t.once %t.twice

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
// Rows of 1000 floats begin at multiples of 16 bytes.
// CHECK-LABEL: func.func @elementwise
// CHECK: scf.forall ({{.*}}) in (64)
// CHECK: scf.forall (%[[I:.*]]) in (250) {
// CHECK: %[[J:.*]] = arith.muli %[[I]], %{{.*}}
// CHECK: vector.load %{{.*}}[%{{.*}}, %[[J]]] {alignment = 16 : i64} {{.*}}, vector<4xf32>
// CHECK-COUNT-4: arith.negf {{.*}} : f32
// CHECK: vector.store %{{.*}}, %{{.*}}[%{{.*}}, %[[J]]] {alignment = 16 : i64} {{.*}}, vector<4xf32>
// CHECK: mapping = [#gpu.thread<linear_dim_0>]
// CHECK: mapping = [#gpu.block<linear_dim_0>]
func.func @elementwise(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>) {
  scf.forall (%b) in (64) {
    %s = memref.subview %x[%b, 0] [1, 1000] [1, 1] : memref<64x1000xf32> to memref<1x1000xf32, strided<[1000, 1], offset: ?>>
    %t = memref.subview %y[%b, 0] [1, 1000] [1, 1] : memref<64x1000xf32> to memref<1x1000xf32, strided<[1000, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%s : memref<1x1000xf32, strided<[1000, 1], offset: ?>>) outs(%t : memref<1x1000xf32, strided<[1000, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.negf %a : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Rows of 1001 do not.
// CHECK-LABEL: func.func @rows
// CHECK: scf.forall (%[[I:.*]]) in (1001) {
// CHECK-NOT: vector
// CHECK: memref.load %{{.*}}[%{{.*}}, %[[I]]]
// CHECK: arith.index_cast %[[I]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[I]]]
// CHECK: return
func.func @rows(%x: memref<64x1001xf32>, %y: memref<64x1001xf32>) {
  scf.forall (%b) in (64) {
    %s = memref.subview %x[%b, 0] [1, 1001] [1, 1] : memref<64x1001xf32> to memref<1x1001xf32, strided<[1001, 1], offset: ?>>
    %t = memref.subview %y[%b, 0] [1, 1001] [1, 1] : memref<64x1001xf32> to memref<1x1001xf32, strided<[1001, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%s : memref<1x1001xf32, strided<[1001, 1], offset: ?>>) outs(%t : memref<1x1001xf32, strided<[1001, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 1 : index
      %c = arith.index_cast %i : index to i32
      %f = arith.sitofp %c : i32 to f32
      %0 = arith.addf %a, %f : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Rows of unknown length may: which is seen when the kernel runs, as is what is left over.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[X:.*]] = memref.dim %arg0, %{{.*}}
// CHECK: arith.remui %[[X]], %{{.*}}
// CHECK: %[[Y:.*]] = memref.dim %arg1, %{{.*}}
// CHECK: arith.remui %[[Y]], %{{.*}}
// CHECK: scf.if
// CHECK: scf.forall
// CHECK: arith.cmpi sle
// CHECK: scf.if
// CHECK: vector.load {{.*}} {alignment = 16 : i64} {{.*}}, vector<8xf16>
// CHECK: else
// CHECK: scf.for
// CHECK: memref.load
// CHECK: else
// CHECK: scf.forall
// CHECK-NOT: vector
// CHECK: memref.load
// CHECK: return
func.func @dynamic(%x: memref<?x?xf16>, %y: memref<?x?xf16>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  scf.forall (%b) in (%m) {
    %s = memref.subview %x[%b, 0] [1, %n] [1, 1] : memref<?x?xf16> to memref<?xf16, strided<[1], offset: ?>>
    %t = memref.subview %y[%b, 0] [1, %n] [1, 1] : memref<?x?xf16> to memref<?xf16, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
        ins(%s : memref<?xf16, strided<[1], offset: ?>>) outs(%t : memref<?xf16, strided<[1], offset: ?>>) {
    ^bb0(%a: f16, %o: f16):
      %0 = arith.negf %a : f16
      linalg.yield %0 : f16
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Two warps add up a row, four accesses of each thread, and the first thread what they have. The fill is where it starts.
// CHECK-LABEL: func.func @sum
// CHECK: %[[SLOTS:.*]] = memref.alloc() {alignment = 16 : i64} : memref<1x2xf32, #gpu.address_space<workgroup>>
// CHECK: scf.forall (%[[T:.*]]) in (64) {
// CHECK-COUNT-4: vector.load {{.*}}, vector<4xf32>
// CHECK: gpu.subgroup_reduce{{ +}}add %{{.*}} uniform
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[SLOTS]]
// CHECK: scf.forall ({{.*}}) in (1) {
// CHECK: memref.load %[[SLOTS]]
// CHECK: memref.load %[[SLOTS]]
// CHECK: memref.store
// CHECK-NOT: linalg
// CHECK: return
func.func @sum(%x: memref<64x1024xf32>, %y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%b) in (64) {
    %s = memref.subview %x[%b, 0] [1, 1024] [1, 1] : memref<64x1024xf32> to memref<1x1024xf32, strided<[1024, 1], offset: ?>>
    %t = memref.subview %y[%b] [1] [1] : memref<64xf32> to memref<1xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%t : memref<1xf32, strided<[1], offset: ?>>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    }
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%s : memref<1x1024xf32, strided<[1024, 1], offset: ?>>) outs(%t : memref<1xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %o, %a : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// What threads have for themselves, and what the block does together, is left alone.
// CHECK-LABEL: func.func @left
// CHECK: scf.forall
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : memref<8xf32, #gpu.address_space<private>>)
// CHECK: memref.copy
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK: return
func.func @left(%x: memref<8xf32>, %f: f32) {
  scf.forall (%b) in (4) {
    %p = memref.alloca() : memref<8xf32, #gpu.address_space<private>>
    %w = memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
    linalg.fill ins(%f : f32) outs(%p : memref<8xf32, #gpu.address_space<private>>)
    memref.copy %x, %w : memref<8xf32> to memref<8xf32, #gpu.address_space<workgroup>>
    linalg.fill ins(%f : f32) outs(%w : memref<8xf32, #gpu.address_space<workgroup>>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// So is what is not in a loop over blocks, or goes to threads already.
// CHECK-LABEL: func.func @elsewhere
// CHECK: memref.copy
// CHECK: scf.forall
// CHECK: linalg.fill
// CHECK: return
func.func @elsewhere(%x: memref<8xf32>, %y: memref<8xf32>, %f: f32) {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  scf.forall (%b) in (4) {
    scf.forall (%t) in (1) {
      linalg.fill ins(%f : f32) outs(%y : memref<8xf32>)
    } {mapping = [#gpu.thread<linear_dim_0>]}
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// One element that operations of the block alone use is one of each thread; a sum of it takes one
// exchange. The mean is not written to memory that another thread reads.
// CHECK-LABEL: func.func @mean
// CHECK-DAG: %[[S:.*]] = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
// CHECK-DAG: %[[M:.*]] = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
// CHECK: memref.alloc() {alignment = 16 : i64} : memref<1x2xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.subgroup_reduce
// CHECK: mapping = [#gpu.thread<linear_dim_0>]
// CHECK-NOT: forall
// CHECK: memref.store %{{.*}}, %{{.*}} : memref<1xf32, #gpu.address_space<private>>
// CHECK-NOT: forall
// CHECK: arith.divf
// CHECK: memref.store %{{.*}}, %{{.*}} : memref<1xf32, #gpu.address_space<private>>
// CHECK: scf.forall
// CHECK: memref.load %{{.*}} : memref<1xf32, #gpu.address_space<private>>
// CHECK: return
func.func @mean(%x: memref<4x256xf32>, %y: memref<4x256xf32>, %n: f32, %zero: f32) {
  scf.forall (%b) in (4) {
    %s = memref.subview %x[%b, 0] [1, 256] [1, 1] : memref<4x256xf32> to memref<1x256xf32, strided<[256, 1], offset: ?>>
    %t = memref.subview %y[%b, 0] [1, 256] [1, 1] : memref<4x256xf32> to memref<1x256xf32, strided<[256, 1], offset: ?>>
    %sum = memref.alloc() : memref<1xf32, #gpu.address_space<workgroup>>
    %mean = memref.alloc() : memref<1xf32, #gpu.address_space<workgroup>>
    linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%sum : memref<1xf32, #gpu.address_space<workgroup>>) {
    ^bb0(%o: f32):
      linalg.yield %zero : f32
    }
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%s : memref<1x256xf32, strided<[256, 1], offset: ?>>) outs(%sum : memref<1xf32, #gpu.address_space<workgroup>>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %o, %a : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
        ins(%sum : memref<1xf32, #gpu.address_space<workgroup>>) outs(%mean : memref<1xf32, #gpu.address_space<workgroup>>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.divf %a, %n : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%s, %mean : memref<1x256xf32, strided<[256, 1], offset: ?>>, memref<1xf32, #gpu.address_space<workgroup>>)
        outs(%t : memref<1x256xf32, strided<[256, 1], offset: ?>>) {
    ^bb0(%a: f32, %m: f32, %o: f32):
      %0 = arith.subf %a, %m : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// The body of a maximum with its index is no single operation: one thread does each row.
// CHECK-LABEL: func.func @argmax
// CHECK: scf.forall (%[[I:.*]]) in (64) {
// CHECK: %{{.*}}:2 = scf.for %[[K:.*]] = %c0 to %c100 step %c1 iter_args
// CHECK: memref.load %arg0[%[[I]], %[[K]]]
// CHECK: arith.index_cast %[[K]]
// CHECK: memref.store
// CHECK: memref.store
// CHECK: return
func.func @argmax(%x: memref<64x100xf32>, %v: memref<64xf32>, %p: memref<64xi32>) {
  scf.forall (%b) in (1) {
    linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<64x100xf32>) outs(%v, %p : memref<64xf32>, memref<64xi32>) {
    ^bb0(%a: f32, %m: f32, %o: i32):
      %i = linalg.index 1 : index
      %c = arith.index_cast %i : index to i32
      %g = arith.cmpf ogt, %a, %m : f32
      %n = arith.select %g, %a, %m : f32
      %q = arith.select %g, %c, %o : i32
      linalg.yield %n, %q : f32, i32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Loops around stay; of an empty extent there is nothing to do; no parallel loop is one iteration.
// CHECK-LABEL: func.func @loops
// CHECK: scf.for
// CHECK: scf.forall (%{{.*}}) in (1) {
// CHECK: scf.for
// CHECK: arith.maxsi
// CHECK: scf.forall (%{{.*}}) in (0) {
// CHECK: return
func.func @loops(%x: memref<16xi32>, %y: memref<i32>, %e: memref<0xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%b) in (4) {
    scf.for %i = %c0 to %n step %c1 {
      linalg.generic {indexing_maps = [#one, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
          ins(%x : memref<16xi32>) outs(%y : memref<i32>) {
      ^bb0(%a: i32, %o: i32):
        %0 = arith.maxsi %o, %a : i32
        linalg.yield %0 : i32
      }
      linalg.copy ins(%e : memref<0xi32>) outs(%e : memref<0xi32>)
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
