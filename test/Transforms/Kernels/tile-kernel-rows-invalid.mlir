// RUN: mlir-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=0,4}))' -o /dev/null

// Its row has to be in one block, as a sum of it is needed.
func.func private @all_of_a_row(%x: tensor<64x8xf32>, %s: tensor<64xf32>, %o: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<64x8xf32>) outs(%s : tensor<64xf32>) dimensions = [1]
  // expected-error @+1 {{'linalg.generic' op cannot share out its loop 1 to blocks: operations of the kernel need all of it; give it the size 0 in 'block'}}
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %0 : tensor<64x8xf32>, tensor<64xf32>) outs(%o : tensor<64x8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %2 = arith.divf %p, %q : f32
    linalg.yield %2 : f32
  } -> tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}
