// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{split=0,0,48 stream=32}))' -o /dev/null
// RUN: not mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{split=16 stream=32}))' -o /dev/null 2>&1 | FileCheck %s
// RUN: not mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{split=0,32,48 stream=48}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=COLUMNS

// COLUMNS-COUNT-2: error: 'linalg.matmul' op cannot share out its loop 1 to blocks that share its sum: each needs all of it for what it has of a row; give it the size 0 in 'split'

// CHECK: error: 'linalg.matmul' op has no parts of its sum, loop 2, in 'split'; give that a size

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

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
  // expected-error @+1 {{multiplies no softmax of scores, parts of which could be put together; give no 'split'}}
  %4 = linalg.matmul ins(%3, %w : tensor<48x80xf32>, tensor<80x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %4 : tensor<48x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

func.func private @softmax(%x: tensor<48x40xf32>, %v: tensor<40x96xf32>, %w: tensor<96x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<48x96xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x96xf32>) outs(%z : tensor<48x96xf32>) -> tensor<48x96xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%0 : tensor<48x96xf32>) outs(%u : tensor<48xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<48x96xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<48x96xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.divf %p, %q : f32
    linalg.yield %6 : f32
  } -> tensor<48x96xf32>
  // expected-error @+1 {{goes through parts of 48 columns, 32 at a time; let 'split' be a multiple of 'stream' along loop 2}}
  %5 = linalg.matmul ins(%4, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}
