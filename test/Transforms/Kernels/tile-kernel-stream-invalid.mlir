// RUN: not mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{stream=32}))' --split-input-file -o /dev/null 2>&1 | FileCheck %s
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{stream=-1}))' --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{stream=16 columns=16}))' --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOTH

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A mean of the row is subtracted from its elements, which the sum of products does not tell.
// CHECK: {{[0-9]+}}:8: error: 'linalg.matmul' op needs whole rows of what it multiplies, which is none of the softmax of scores; give no 'stream'
// NEGATIVE: {{[0-9]+}}:8: error: 'linalg.matmul' op cannot be in tiles of -1; 'stream' is positive, or 0 for whole rows
// BOTH: {{[0-9]+}}:8: error: 'linalg.matmul' op cannot both keep rows and go through them; give no 'columns' or no 'stream'
func.func private @mean(%x: tensor<48x40xf32>, %v: tensor<40x80xf32>, %w: tensor<80x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x80xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x80xf32>) -> tensor<48x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x80xf32>) outs(%z : tensor<48x80xf32>) -> tensor<48x80xf32>
  %2 = linalg.reduce { arith.addf } ins(%0 : tensor<48x80xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %2 : tensor<48x80xf32>, tensor<48xf32>) outs(%e : tensor<48x80xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %5 = arith.subf %p, %q : f32
    linalg.yield %5 : f32
  } -> tensor<48x80xf32>
  %4 = linalg.matmul ins(%3, %w : tensor<48x80xf32>, tensor<80x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %4 : tensor<48x64xf32>
}

// -----

// CHECK: {{[0-9]+}}:8: error: 'linalg.matmul' op belongs to a kernel without a contraction of what another one makes; give no 'stream'
func.func private @matmul(%x: tensor<50x40xf32>, %w: tensor<40x30xf32>, %o: tensor<50x30xf32>) -> tensor<50x30xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<50x40xf32>, tensor<40x30xf32>) outs(%o : tensor<50x30xf32>) -> tensor<50x30xf32>
  return %0 : tensor<50x30xf32>
}
