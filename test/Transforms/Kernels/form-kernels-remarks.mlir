// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// What each kernel is made of, and what keeps an operation out of the kernel of its users.

#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// exp(x) - sum(exp(x)): rows are shared out, a block makes all of each.
func.func @joined(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%cst : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x8xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  // expected-remark @+1 {{[Passed] FormedKernel | Category:workgroup-form-kernels | Function=joined | Kernel=joined_0_reduction, Operations="elementwise, reduction, elementwise", Remark="operations became a kernel"}}
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %3 = arith.subf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// The host puts it elsewhere before the kernel of its other user ends.
func.func @in_between(%x: tensor<8xf32>, %y: tensor<16xf32>) -> (tensor<8xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  // expected-remark @+2 {{it is not in the kernel of what uses it: others use it before the kernel ends}}
  // expected-remark @+1 {{in_between_0_elementwise}}
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.insert_slice %0 into %y[4] [8] [1] : tensor<8xf32> into tensor<16xf32>
  // expected-remark @+1 {{in_between_1_elementwise}}
  %2 = linalg.negf ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<16xf32>
}

func.func @not_by_element(%x: tensor<11xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<11xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  // expected-remark @+2 {{it is not in the kernel of what uses it: it is not read element by element}}
  // expected-remark @+1 {{not_by_element_0_elementwise}}
  %0 = linalg.exp ins(%x : tensor<11xf32>) outs(%e : tensor<11xf32>) -> tensor<11xf32>
  // expected-remark @+1 {{not_by_element_1_elementwise}}
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<11xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %2 = arith.negf %p : f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

func.func @for_each_sum(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-remark @+2 {{it is not in the kernel of what uses it: a contraction or window would compute it again for each sum}}
  // expected-remark @+1 {{for_each_sum_0_elementwise}}
  %0 = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{for_each_sum_1_contraction}}
  %1 = linalg.matmul ins(%0, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

func.func @two_contractions(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-remark @+2 {{it is not in the kernel of what uses it: a kernel has one contraction or window}}
  // expected-remark @+1 {{two_contractions_0_contraction}}
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{two_contractions_1_contraction}}
  %1 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

func.func @reduction_behind(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %c: tensor<4x4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark @+2 {{it is not in the kernel of what uses it: a reduction is behind it}}
  // expected-remark @+1 {{reduction_behind_0_contraction}}
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{reduction_behind_1_reduction}}
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x4xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
  return %1 : tensor<4xf32>
}

func.func @contraction_behind(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %y: tensor<4x4x9xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-remark @+2 {{it is not in the kernel of what uses it: a contraction or window is behind it}}
  // expected-remark @+1 {{contraction_behind_0_reduction}}
  %0 = linalg.reduce { arith.addf } ins(%y : tensor<4x4x9xf32>) outs(%c : tensor<4x4xf32>) dimensions = [2]
  // expected-remark @+1 {{contraction_behind_1_contraction}}
  %1 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// The reduction nearest to the root has the say.
func.func @other_rows(%x: tensor<8x8xf32>, %v: tensor<8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  // expected-remark @+2 {{it is not in the kernel of what uses it: it is not along the rows of the other reductions}}
  // expected-remark @+1 {{other_rows_0_reduction}}
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<8x8xf32>) outs(%v : tensor<8xf32>) dimensions = [0]
  %1 = linalg.reduce { arith.addf } ins(%x : tensor<8x8xf32>) outs(%v : tensor<8xf32>) dimensions = [1]
  // expected-remark @+1 {{Operations="reduction, elementwise"}}
  %2 = linalg.generic {indexing_maps = [#column, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %3 = arith.subf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// No row is left to share out.
func.func @one_block(%x: tensor<?xf32>, %s: tensor<f32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  // expected-remark @+2 {{it is not in the kernel of what uses it: one block would do everything}}
  // expected-remark @+1 {{one_block_0_reduction}}
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%s : tensor<f32>) dimensions = [0]
  // expected-remark @+1 {{one_block_1_elementwise}}
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %0 : tensor<?xf32>, tensor<f32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %2 = arith.subf %p, %q : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// Little enough for one block.
func.func @small_block(%x: tensor<64xf32>, %s: tensor<f32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<64xf32>) outs(%s : tensor<f32>) dimensions = [0]
  // expected-remark @+1 {{Kernel=small_block_0_reduction, Operations="reduction, elementwise"}}
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %0 : tensor<64xf32>, tensor<f32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %2 = arith.subf %p, %q : f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// Distances between two sets of points are tiled as products are, not in rows of all of the other set.
func.func @like_a_product(%x: tensor<8x4xf32>, %y: tensor<16x4xf32>, %o: tensor<8x16xf32>, %m: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark @+2 {{it is not in the kernel of what uses it: it reads its operands again and again, and is tiled for that}}
  // expected-remark @+1 {{like_a_product_0_reduction}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<8x4xf32>, tensor<16x4xf32>) outs(%o : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %d = arith.subf %p, %q : f32
    %e = arith.mulf %d, %d : f32
    %s = arith.addf %r, %e : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  // expected-remark @+1 {{like_a_product_1_reduction}}
  %1 = linalg.reduce { arith.minimumf } ins(%0 : tensor<8x16xf32>) outs(%m : tensor<8xf32>) dimensions = [1]
  return %1 : tensor<8xf32>
}

// A tensor and its transpose: no tile has both.
func.func @several_orders(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  // expected-remark @+2 {{it is not in the kernel of what uses it: it is read in several orders}}
  // expected-remark @+1 {{several_orders_0_elementwise}}
  %0 = linalg.exp ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{several_orders_1_elementwise}}
  %1 = linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %2 = arith.addf %p, %q : f32
    linalg.yield %2 : f32
  } -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What is cheap is made in both orders, but not again for each of them without end.
func.func @orders_of_orders(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  // expected-remark @+2 {{it is not in the kernel of what uses it: it is read in several orders}}
  // expected-remark @+1 {{Kernel=orders_of_orders_0_elementwise, Operations="elementwise, elementwise"}}
  %1 = linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%1, %1 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  %3 = linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %2 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  // expected-remark @+1 {{Kernel=orders_of_orders_1_elementwise, Operations="elementwise, elementwise, elementwise"}}
  %4 = linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%3, %3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// What is dear for each column would be computed by the blocks of all rows; what is cheap may be.
func.func @several_blocks(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  // expected-remark @+2 {{it is not in the kernel of what uses it: several blocks would compute it}}
  // expected-remark @+1 {{several_blocks_0_elementwise}}
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.negf ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // expected-remark @+1 {{Kernel=several_blocks_1_elementwise, Operations="elementwise, elementwise"}}
  %2 = linalg.generic {indexing_maps = [#column, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %3 = arith.addf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// What a row makes is too much for a block: 8192 sums for each of the rows.
func.func @too_much(%x: tensor<4x8192x3xf32>, %s: tensor<4x8192xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark @+2 {{it is not in the kernel of what uses it: a block cannot keep what it makes}}
  // expected-remark @+1 {{too_much_0_reduction}}
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<4x8192x3xf32>) outs(%s : tensor<4x8192xf32>) dimensions = [2]
  // expected-remark @+1 {{too_much_1_reduction}}
  %1 = linalg.reduce { arith.maximumf } ins(%0 : tensor<4x8192xf32>) outs(%v : tensor<4xf32>) dimensions = [1]
  return %1 : tensor<4xf32>
}
