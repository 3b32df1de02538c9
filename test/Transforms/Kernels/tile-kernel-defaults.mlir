// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{default-threads=128}))' | FileCheck %s

// Sizes of tiles that nobody gives: 64 rows and columns of a contraction, in steps
// of 16 along the sum.
// CHECK-LABEL: func.func private @contraction
// CHECK:         scf.forall {{.*}} step (64, 64)
// CHECK:           scf.for {{.*}} step %c16
func.func private @contraction(%a: tensor<128x64xf32>, %b: tensor<64x256xf32>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %d = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<128x64xf32>, tensor<64x256xf32>) outs(%c : tensor<128x256xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<128x256xf32>
  return %d : tensor<128x256xf32>
}

// Four elements for each thread along the last loop.
// CHECK-LABEL: func.func private @elementwise
// CHECK:         scf.forall {{.*}} step (1, 512)
func.func private @elementwise(%a: tensor<8x4096xf32>, %b: tensor<8x4096xf32>) -> tensor<8x4096xf32> {
  %d = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x4096xf32>) outs(%b : tensor<8x4096xf32>) {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %x : f32
      linalg.yield %s : f32
    } -> tensor<8x4096xf32>
  return %d : tensor<8x4096xf32>
}

// A row for each block, whose threads share the sum; of a size that only the launch
// knows, too.
// CHECK-LABEL: func.func private @rows
// CHECK:         scf.forall (%{{.*}}) in (%{{.*}})
// CHECK:           tensor.extract_slice %{{.*}} [1, %{{.*}}] [1, 1]
func.func private @rows(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %d = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x?xf32>) outs(%b : tensor<?xf32>) {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
  return %d : tensor<?xf32>
}
