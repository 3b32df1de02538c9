// A product and its addition to a sum are one operation; element-wise bodies keep their roundings.
// RUN: mlir-opt %s --split-input-file --pass-pipeline="builtin.module(workgroup-map-to-threads{threads=64})" | FileCheck %s

// CHECK-LABEL: func.func @window
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[A:.*]] = memref.load
// CHECK: %[[B:.*]] = memref.load
// CHECK-NOT: arith.mulf
// CHECK: math.fma %[[A]], %[[B]], %[[SO_FAR]] : f32
func.func @window(%x: memref<66xf32>, %w: memref<3xf32>, %y: memref<64xf32>) {
  scf.forall (%b) in (1) {
    linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                    iterator_types = ["parallel", "reduction"]}
        ins(%x, %w : memref<66xf32>, memref<3xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%a: f32, %f: f32, %o: f32):
      %0 = arith.mulf %a, %f : f32
      %1 = arith.addf %0, %o : f32
      linalg.yield %1 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// A sum that the threads of the block share: the parts that each adds up.

// CHECK-LABEL: func.func @squares
// CHECK: math.fma %[[A:.*]], %[[A]], %{{.*}} : f64
// CHECK: gpu.subgroup_reduce
func.func @squares(%x: memref<1x1024xf64>, %y: memref<1xf64>) {
  scf.forall (%b) in (1) {
    linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<1x1024xf64>) outs(%y : memref<1xf64>) {
    ^bb0(%a: f64, %o: f64):
      %0 = arith.mulf %a, %a : f64
      %1 = arith.addf %o, %0 : f64
      linalg.yield %1 : f64
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// No sum; a product that is used again; a narrow float, for which there is no such instruction.

// CHECK-LABEL: func.func @kept
// CHECK-NOT: math.fma
// CHECK: return
func.func @kept(%x: memref<64xf32>, %y: memref<64xf32>, %n: memref<64x8xf8E5M2>, %s: memref<64xf8E5M2>, %p: memref<64x8xf32>, %t: memref<64xf32>, %u: memref<64x8xf32>) {
  scf.forall (%b) in (1) {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.mulf %a, %a : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%n : memref<64x8xf8E5M2>) outs(%s : memref<64xf8E5M2>) {
    ^bb0(%a: f8E5M2, %o: f8E5M2):
      %0 = arith.mulf %a, %a : f8E5M2
      %1 = arith.addf %o, %0 : f8E5M2
      linalg.yield %1 : f8E5M2
    }
    linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "reduction"]}
        ins(%p : memref<64x8xf32>) outs(%t, %u : memref<64xf32>, memref<64x8xf32>) {
    ^bb0(%a: f32, %o: f32, %q: f32):
      %0 = arith.mulf %a, %a : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1, %0 : f32, f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
