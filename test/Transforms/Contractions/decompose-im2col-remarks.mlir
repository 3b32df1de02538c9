// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-decompose-im2col)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t

// What is no convolution of a block, or has no tile, is left alone, with the reason.
// CHECK-NOT: workgroup.gather
// CHECK-LABEL: func.func @whole_channels
// CHECK:         workgroup.gather
// CHECK-LABEL: func.func @matrix
// CHECK-NOT: workgroup.gather

#image = affine_map<(x, f, t, c) -> (x + t, c)>
#filter = affine_map<(x, f, t, c) -> (t, c, f)>
#result = affine_map<(x, f, t, c) -> (x, f)>
#each = affine_map<(x, c, t) -> (x + t, c)>
#taps = affine_map<(x, c, t) -> (t, c)>
#sums = affine_map<(x, c, t) -> (x, c)>

func.func @aliases(%x: memref<18x8xf32>, %w: memref<3x8x16xf32>, %y: memref<16x16xf32>) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{[Missed] NotDecomposed | Category:workgroup-decompose-im2col | Function=aliases | Reason="its result may be the memory of its image; say that arguments are distinct by llvm.noalias or the option assume-distinct-arguments", Remark="operation that reads its windows where they are"}}
    linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : memref<18x8xf32>, memref<3x8x16xf32>) outs(%y : memref<16x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @depthwise(%x: memref<18x8xf32>, %w: memref<3x8xf32>, %y: memref<16x8xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{[Missed] NotDecomposed | Category:workgroup-decompose-im2col | Function=depthwise | Reason="its loop 1 of 8 iterations is one of both operands; let blocks share it out, by tiles of size 1", Remark="operation that reads its windows where they are"}}
    linalg.generic {indexing_maps = [#each, #taps, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : memref<18x8xf32>, memref<3x8xf32>) outs(%y : memref<16x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @pooling(%a: memref<1x18x8xf32>, %b: memref<1x16x8xf32> {llvm.noalias}, %w: memref<3xf32>) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{[Missed] NotDecomposed | Category:workgroup-decompose-im2col | Function=pooling | Reason="its body does not sum up products", Remark="operation that reads its windows where they are"}}
    linalg.pooling_nwc_sum ins(%a, %w : memref<1x18x8xf32>, memref<3xf32>) outs(%b : memref<1x16x8xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @whole_channels(%x: memref<18x8xf32>, %w: memref<3x8x16xf32>, %y: memref<16x16xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{[Passed] Decomposed | Category:workgroup-decompose-im2col | Function=whole_channels | Remark="convolution made a contraction of tiles", Tile=16x3x8}}
    linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : memref<18x8xf32>, memref<3x8x16xf32>) outs(%y : memref<16x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// A matrix of windows: its body looks them up.
// CHECK:         linalg.generic {indexing_maps = [#{{.+}}], iterator_types = ["parallel", "parallel"]} outs(
// CHECK:           linalg.index 0
// CHECK:           tensor.extract %{{.+}}[%{{.+}}, %{{.+}}] : tensor<18x8xf32>
func.func @matrix(%x: tensor<18x8xf32>, %y: tensor<16x24xf32>) -> tensor<16x24xf32> {
  // expected-remark @+1 {{[Passed] LookedUp | Category:workgroup-decompose-im2col | Function=matrix | Remark="operation whose body looks up what divided indices find"}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m + k floordiv 8, k mod 8)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<18x8xf32>) outs(%y : tensor<16x24xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<16x24xf32>
  return %0 : tensor<16x24xf32>
}
