// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels{chain-bytes=65536 chain-blocks=50})' --remarks-filter-missed='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// What keeps contractions apart that could be chained.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

func.func @large(%x: tensor<800x48xf32>, %v: tensor<48x1000xf32>, %w: tensor<1000x64xf32>) -> tensor<800x64xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<800x1000xf32>
  %f = tensor.empty() : tensor<800x64xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<800x1000xf32>) -> tensor<800x1000xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<800x64xf32>) -> tensor<800x64xf32>
  // expected-remark @+1 {{it is not in the kernel of what uses it: a reduction is behind it}}
  %0 = linalg.matmul ins(%x, %v : tensor<800x48xf32>, tensor<48x1000xf32>) outs(%z : tensor<800x1000xf32>) -> tensor<800x1000xf32>
  %g = tensor.empty() : tensor<800xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<800xf32>) -> tensor<800xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<800x1000xf32>) outs(%t : tensor<800xf32>) dimensions = [1]
  // expected-remark @+1 {{it is not in the kernel of what uses it: its rows and the tiles it multiplies do not fit into memory}}
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<800x1000xf32>, tensor<800xf32>) outs(%e : tensor<800x1000xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %4 = arith.subf %p, %q : f32
    linalg.yield %4 : f32
  } -> tensor<800x1000xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<800x1000xf32>, tensor<1000x64xf32>) outs(%y : tensor<800x64xf32>) -> tensor<800x64xf32>
  return %3 : tensor<800x64xf32>
}

// The reason is given at what the second contraction reads.
func.func @long(%x: tensor<800x300xf32>, %v: tensor<300x80xf32>, %w: tensor<80x64xf32>) -> tensor<800x64xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<800x80xf32>
  %f = tensor.empty() : tensor<800x64xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<800x80xf32>) -> tensor<800x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<800x64xf32>) -> tensor<800x64xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<800x300xf32>, tensor<300x80xf32>) outs(%z : tensor<800x80xf32>) -> tensor<800x80xf32>
  // expected-remark @+1 {{it is not in the kernel of what uses it: there is more to do with its rows than to write and read them}}
  %1 = linalg.tanh ins(%0 : tensor<800x80xf32>) outs(%e : tensor<800x80xf32>) -> tensor<800x80xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<800x80xf32>, tensor<80x64xf32>) outs(%y : tensor<800x64xf32>) -> tensor<800x64xf32>
  return %2 : tensor<800x64xf32>
}

func.func @flat(%x: tensor<15x48xf32>, %v: tensor<48x80xf32>, %w: tensor<80x64xf32>) -> tensor<15x64xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15x80xf32>
  %f = tensor.empty() : tensor<15x64xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<15x80xf32>) -> tensor<15x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<15x64xf32>) -> tensor<15x64xf32>
  // expected-remark @+1 {{it is not in the kernel of what uses it: there are few rows}}
  %0 = linalg.matmul ins(%x, %v : tensor<15x48xf32>, tensor<48x80xf32>) outs(%z : tensor<15x80xf32>) -> tensor<15x80xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<15x80xf32>, tensor<80x64xf32>) outs(%y : tensor<15x64xf32>) -> tensor<15x64xf32>
  return %1 : tensor<15x64xf32>
}

func.func @unknown(%x: tensor<800x48xf32>, %v: tensor<48x?xf32>, %w: tensor<?x64xf32>) -> tensor<800x64xf32> {
  %cst = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %v, %c1 : tensor<48x?xf32>
  %e = tensor.empty(%n) : tensor<800x?xf32>
  %f = tensor.empty() : tensor<800x64xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<800x?xf32>) -> tensor<800x?xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<800x64xf32>) -> tensor<800x64xf32>
  // expected-remark @+1 {{it is not in the kernel of what uses it: a reduction is behind it}}
  %0 = linalg.matmul ins(%x, %v : tensor<800x48xf32>, tensor<48x?xf32>) outs(%z : tensor<800x?xf32>) -> tensor<800x?xf32>
  %g = tensor.empty() : tensor<800xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<800xf32>) -> tensor<800xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<800x?xf32>) outs(%t : tensor<800xf32>) dimensions = [1]
  // expected-remark @+1 {{it is not in the kernel of what uses it: the sizes of its rows are not known}}
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<800x?xf32>, tensor<800xf32>) outs(%e : tensor<800x?xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %4 = arith.subf %p, %q : f32
    linalg.yield %4 : f32
  } -> tensor<800x?xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<800x?xf32>, tensor<?x64xf32>) outs(%y : tensor<800x64xf32>) -> tensor<800x64xf32>
  return %3 : tensor<800x64xf32>
}

// 49 blocks of 16 rows, with 2^21 products and more in each. One of 50 such blocks is not here.
func.func @idle(%x: tensor<784x256xf32>, %v: tensor<256x257xf32>, %w: tensor<257x256xf32>) -> tensor<784x256xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<784x257xf32>
  %f = tensor.empty() : tensor<784x256xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<784x257xf32>) -> tensor<784x257xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<784x256xf32>) -> tensor<784x256xf32>
  // expected-remark @+1 {{it is not in the kernel of what uses it: few blocks would have much to do}}
  %0 = linalg.matmul ins(%x, %v : tensor<784x256xf32>, tensor<256x257xf32>) outs(%z : tensor<784x257xf32>) -> tensor<784x257xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<784x257xf32>, tensor<257x256xf32>) outs(%y : tensor<784x256xf32>) -> tensor<784x256xf32>
  return %1 : tensor<784x256xf32>
}

func.func @busy(%x: tensor<785x256xf32>, %v: tensor<256x257xf32>, %w: tensor<257x256xf32>) -> tensor<785x256xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<785x257xf32>
  %f = tensor.empty() : tensor<785x256xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<785x257xf32>) -> tensor<785x257xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<785x256xf32>) -> tensor<785x256xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<785x256xf32>, tensor<256x257xf32>) outs(%z : tensor<785x257xf32>) -> tensor<785x257xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<785x257xf32>, tensor<257x256xf32>) outs(%y : tensor<785x256xf32>) -> tensor<785x256xf32>
  return %1 : tensor<785x256xf32>
}

// Memory is counted for the chain alone.
func.func @more(%x: tensor<50x48xf32>, %v: tensor<48x80xf32>, %w: tensor<80x64xf32>, %r: tensor<50x64xf32>) -> (tensor<50x64xf32>, tensor<50x64xf32>) {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x80xf32>
  %f = tensor.empty() : tensor<50x64xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<50x80xf32>) -> tensor<50x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%f : tensor<50x64xf32>) -> tensor<50x64xf32>
  // expected-remark @+1 {{it is not in the kernel of what uses it: the kernel has the memory it needs for two contractions only}}
  %s = linalg.exp ins(%r : tensor<50x64xf32>) outs(%f : tensor<50x64xf32>) -> tensor<50x64xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<50x48xf32>, tensor<48x80xf32>) outs(%z : tensor<50x80xf32>) -> tensor<50x80xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<50x80xf32>, tensor<80x64xf32>) outs(%y : tensor<50x64xf32>) -> tensor<50x64xf32>
  %2 = linalg.add ins(%1, %s : tensor<50x64xf32>, tensor<50x64xf32>) outs(%f : tensor<50x64xf32>) -> tensor<50x64xf32>
  return %2, %s : tensor<50x64xf32>, tensor<50x64xf32>
}
