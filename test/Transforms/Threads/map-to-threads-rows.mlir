// RUN: mlir-opt %s \
// RUN:   --pass-pipeline='builtin.module(workgroup-map-to-threads{threads=64 assume-alignment=16},canonicalize,cse)' \
// RUN:   | FileCheck %s

// A softmax in registers: what is copied, and what the passes make of it, is private memory with
// constant indices. Of 250 vectors, the last part is for 58 threads.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#space = #gpu.address_space<workgroup>
// CHECK-LABEL: func.func @kept
// CHECK-DAG: %[[X:.*]] = memref.alloca() : memref<1x16xf32, #gpu.address_space<private>>
// CHECK-DAG: %[[E:.*]] = memref.alloca() : memref<1x16xf32, #gpu.address_space<private>>
// CHECK: scf.forall (%[[T:.*]]) in (64) {
// CHECK-COUNT-3: vector.load %arg0{{.*}}, vector<4xf32>
// CHECK: arith.cmpi slt, %{{.*}}, %c1000
// CHECK: scf.if
// CHECK: vector.load %arg0{{.*}}, vector<4xf32>
// CHECK: memref.store %{{.*}}, %{{.*}}[%c0, %c15]
// CHECK-NOT: #gpu.address_space<workgroup>>, vector
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK: gpu.subgroup_reduce{{ +}}maximumf
// CHECK: vector.store %{{.*}}, %arg1
func.func @kept(%x: memref<1x1000xf32>, %y: memref<1x1000xf32>) {
  %least = arith.constant 0xFF800000 : f32
  scf.forall (%b) in (1) {
    %c = memref.alloc() : memref<1x1000xf32, #space>
    %m = memref.alloc() : memref<1xf32, #space>
    %e = memref.alloc() : memref<1x1000xf32, #space>
    memref.copy %x, %c : memref<1x1000xf32> to memref<1x1000xf32, #space>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%m : memref<1xf32, #space>) {
    ^bb0(%o: f32):
      linalg.yield %least : f32
    }
    linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
        ins(%c : memref<1x1000xf32, #space>) outs(%m : memref<1xf32, #space>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%c, %m : memref<1x1000xf32, #space>, memref<1xf32, #space>) outs(%e : memref<1x1000xf32, #space>) {
    ^bb0(%a: f32, %b0: f32, %o: f32):
      %0 = arith.subf %a, %b0 : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%e : memref<1x1000xf32, #space>) outs(%y : memref<1x1000xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.mulf %a, %a : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// A row of 998 elements has no whole vectors, and one that is read in another order needs other
// threads' parts: they stay.
// CHECK-LABEL: func.func @odd
// CHECK-NOT: #gpu.address_space<private>
// CHECK: memref.copy
// CHECK-NOT: #gpu.address_space<private>
// CHECK: return
func.func @odd(%x: memref<1x998xf32>, %y: memref<1x998xf32>) {
  scf.forall (%b) in (1) {
    %c = memref.alloc() : memref<1x998xf32, #space>
    memref.copy %x, %c : memref<1x998xf32> to memref<1x998xf32, #space>
    linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%c : memref<1x998xf32, #space>) outs(%y : memref<1x998xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.mulf %a, %a : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// CHECK-LABEL: func.func @reversed
// CHECK-NOT: #gpu.address_space<private>
// CHECK: memref.copy
// CHECK-NOT: #gpu.address_space<private>
// CHECK: return
func.func @reversed(%x: memref<1x1024xf32>, %y: memref<1x1024xf32>) {
  scf.forall (%b) in (1) {
    %c = memref.alloc() : memref<1x1024xf32, #space>
    memref.copy %x, %c : memref<1x1024xf32> to memref<1x1024xf32, #space>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 1023 - j)>, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%c : memref<1x1024xf32, #space>) outs(%y : memref<1x1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.mulf %a, %a : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// What a thread would have too much of stays, and so does what a loop of the block is on.
// CHECK-LABEL: func.func @long
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @long(%x: memref<1x4096xf32>, %y: memref<1x4096xf32>) {
  scf.forall (%b) in (1) {
    %c = memref.alloc() : memref<1x4096xf32, #space>
    memref.copy %x, %c : memref<1x4096xf32> to memref<1x4096xf32, #space>
    linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%c : memref<1x4096xf32, #space>) outs(%y : memref<1x4096xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.mulf %a, %a : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// CHECK-LABEL: func.func @looped
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @looped(%x: memref<1x1024xf32>, %y: memref<1x1024xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%b) in (1) {
    %c = memref.alloc() : memref<1x1024xf32, #space>
    memref.copy %x, %c : memref<1x1024xf32> to memref<1x1024xf32, #space>
    scf.for %k = %c0 to %n step %c1 {
      linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
          ins(%c : memref<1x1024xf32, #space>) outs(%y : memref<1x1024xf32>) {
      ^bb0(%a: f32, %o: f32):
        %0 = arith.mulf %a, %a : f32
        linalg.yield %0 : f32
      }
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
