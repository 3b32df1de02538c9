// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-map-to-threads{threads=64},canonicalize)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-map-to-threads{threads=64},canonicalize,workgroup-map-to-threads{threads=64})' | FileCheck %s

#id12 = affine_map<(a, b, c, d, e, f, g, h, i, j, k, l) -> (a, b, c, d, e, f, g, h, i, j, k, l)>
#back12 = affine_map<(a, b, c, d, e, f, g, h, i, j, k, l) -> (l, k, j, i, h, g, f, e, d, c, b, a)>
// Ten dimensions have names; the two outermost are loops of each thread.
// CHECK-LABEL: func.func @twelve
// CHECK: scf.forall ({{.*}}) in (4, 5, 6, 7, 2, 3, 4, 5, 6, 7)
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: memref.load
// CHECK: memref.store
// CHECK: mapping = [#gpu.thread<linear_dim_9>, #gpu.thread<linear_dim_8>, {{.*}}, #gpu.thread<linear_dim_0>]
// CHECK: return
func.func @twelve(%x: memref<7x6x5x4x3x2x7x6x5x4x3x2xf32>, %y: memref<2x3x4x5x6x7x2x3x4x5x6x7xf32>) {
  scf.forall (%block) in (1) {
    linalg.generic {indexing_maps = [#back12, #id12],
                    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel",
                                      "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%x : memref<7x6x5x4x3x2x7x6x5x4x3x2xf32>) outs(%y : memref<2x3x4x5x6x7x2x3x4x5x6x7xf32>) {
    ^bb0(%p: f32, %o: f32):
      linalg.yield %p : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

#id11 = affine_map<(a, b, c, d, e, f, g, h, i, j, k) -> (a, b, c, d, e, f, g, h, i, j, k)>
// Those of one iteration take no name.
// CHECK-LABEL: func.func @eleven
// CHECK: scf.forall (%[[A:.*]], %[[K:.*]]) in (2, 3)
// CHECK: memref.load %arg0[%[[A]], %c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0, %[[K]]]
// CHECK: mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]
// CHECK: return
func.func @eleven(%x: memref<2x1x1x1x1x1x1x1x1x1x3xf32>, %y: memref<2x1x1x1x1x1x1x1x1x1x3xf32>) {
  scf.forall (%block) in (1) {
    linalg.generic {indexing_maps = [#id11, #id11],
                    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel",
                                      "parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%x : memref<2x1x1x1x1x1x1x1x1x1x3xf32>) outs(%y : memref<2x1x1x1x1x1x1x1x1x1x3xf32>) {
    ^bb0(%p: f32, %o: f32):
      linalg.yield %p : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Nothing to do.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: scf.forall
// CHECK-NEXT: memref.load
// CHECK-NEXT: gpu.printf
func.func @none(%x: memref<4xf32>) {
  scf.forall (%b) in (4) {
    %v = memref.load %x[%b] : memref<4xf32>
    gpu.printf "%f", %v : f32
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
