// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{split=4,128}))' -o /dev/null
// RUN: not mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{split=0,-2}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mlir-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{split=0,0,4}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOPS

// NEGATIVE: error: 'linalg.generic' op cannot be in tiles of -2; sizes in 'split' are positive, or 0 for all
// LOOPS: error: 'linalg.generic' op has 2 loops, but 'split' gives 3 sizes; give one for each loop at most

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @sum(%x: tensor<8x512xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x512xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @no_sum(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'linalg.exp' op belongs to a kernel that cannot be split: it has none or several sums, or one of which partial results cannot be put together, or of something that the kernel returns; give no 'split'}}
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// No neutral element is known of what puts the results together.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @difference(%x: tensor<8x512xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{belongs to a kernel that cannot be split}}
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x512xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.subf %a, %acc : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// What is added up is a result, too.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @returned(%x: tensor<8x512xf32>, %y: tensor<8x512xf32>, %o: tensor<8xf32>) -> (tensor<8x512xf32>, tensor<8xf32>) {
  %0 = linalg.exp ins(%x : tensor<8x512xf32>) outs(%y : tensor<8x512xf32>) -> tensor<8x512xf32>
  // expected-error @+1 {{belongs to a kernel that cannot be split}}
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<8x512xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8x512xf32>, tensor<8xf32>
}
