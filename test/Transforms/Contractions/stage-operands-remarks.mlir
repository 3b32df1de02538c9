// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-stage-operands{max-bytes=16384})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-stage-operands{assume-distinct-arguments max-bytes=65536})' | FileCheck %s --check-prefix=DISTINCT

// Which contractions are staged and which are not, and why. Those that are not
// are left as they are.

// CHECK-COUNT-1: memref.alloca
// CHECK-NOT:     memref.alloca
// DISTINCT-COUNT-3: memref.alloca
// DISTINCT-NOT:     memref.alloca

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

func.func @staged(%a: memref<32x16xf32>, %b: memref<16x32xf32>, %c: memref<32x32xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{[Passed] StagedOperands | Category:workgroup-stage-operands | Function=staged | Remark="operands of a contraction copied to tiles in workgroup memory", Tile=32x32x16}}
    linalg.matmul ins(%a, %b : memref<32x16xf32>, memref<16x32xf32>) outs(%c : memref<32x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @aliases(%a: memref<32x16xf32>, %b: memref<16x32xf32>, %c: memref<32x32xf32>) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{[Missed] NotStaged | Category:workgroup-stage-operands | Function=aliases | Reason="its result may be the memory of an operand; say that arguments are distinct by llvm.noalias or the option assume-distinct-arguments", Remark="contraction whose operands are read where they are"}}
    linalg.matmul ins(%a, %b : memref<32x16xf32>, memref<16x32xf32>) outs(%c : memref<32x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @same(%a: memref<32x32xf32>) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{its result may be the memory of an operand}}
    linalg.matmul ins(%a, %a : memref<32x32xf32>, memref<32x32xf32>) outs(%a : memref<32x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @batch(%a: memref<2x32x16xf32>, %b: memref<2x16x32xf32>, %c: memref<2x32x32xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{its loop 0 of 2 iterations is one of both operands; let blocks share it out, by tiles of size 1}}
    linalg.batch_matmul ins(%a, %b : memref<2x32x16xf32>, memref<2x16x32xf32>) outs(%c : memref<2x32x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @vector(%a: memref<32x16xf32>, %b: memref<16xf32>, %c: memref<32xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{its result has one row or one column only}}
    linalg.matvec ins(%a, %b : memref<32x16xf32>, memref<16xf32>) outs(%c : memref<32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @unbounded(%a: memref<?x16xf32>, %b: memref<16x32xf32>, %c: memref<?x32xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{nothing keeps its loop 0 small; let workgroup-tile-kernel make tiles of it}}
    linalg.matmul ins(%a, %b : memref<?x16xf32>, memref<16x32xf32>) outs(%c : memref<?x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @sums(%a: memref<32x512xf32>, %b: memref<512x32xf32>, %c: memref<32x32xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{it sums up 512 products at once; let workgroup-tile-kernel go through them in steps}}
    linalg.matmul ins(%a, %b : memref<32x512xf32>, memref<512x32xf32>) outs(%c : memref<32x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @bytes(%a: memref<128x32xf32>, %b: memref<32x128xf32>, %c: memref<128x128xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{its tiles take 32768 bytes of workgroup memory, of which a block has 16384}}
    linalg.matmul ins(%a, %b : memref<128x32xf32>, memref<32x128xf32>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Zeros past the edge would be terms of the sum.
func.func @not_neutral(%a: memref<32x?xf32>, %b: memref<?x32xf32>, %s: index, %c: memref<32x32xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.forall (%i) in (1) {
    scf.for %k = %c0 to %s step %c16 {
      %l = affine.min affine_map<(d)[s] -> (-d + s, 16)>(%k)[%s]
      %x = memref.subview %a[0, %k] [32, %l] [1, 1] : memref<32x?xf32> to memref<32x?xf32, strided<[?, 1], offset: ?>>
      %y = memref.subview %b[%k, 0] [%l, 32] [1, 1] : memref<?x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
      // expected-remark @+1 {{its sums are ragged, and its body is not one that zeros do not change}}
      linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : memref<32x?xf32, strided<[?, 1], offset: ?>>, memref<?x32xf32, strided<[32, 1], offset: ?>>)
        outs(%c : memref<32x32xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %0 = arith.addf %p, %q : f32
        %1 = arith.maximumf %o, %0 : f32
        linalg.yield %1 : f32
      }
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @bits(%a: memref<32x16xi1>, %b: memref<16x32xi1>, %c: memref<32x32xi1> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{vectors of i1 are not in memory as its elements}}
    linalg.matmul ins(%a, %b : memref<32x16xi1>, memref<16x32xi1>) outs(%c : memref<32x32xi1>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @empty(%a: memref<32x0xf32>, %b: memref<0x32xf32>, %c: memref<32x32xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{its loop 2 has no iteration}}
    linalg.matmul ins(%a, %b : memref<32x0xf32>, memref<0x32xf32>) outs(%c : memref<32x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @no_strides(%a: memref<32x16xf32, affine_map<(i, j) -> (i mod 4, j)>>, %b: memref<16x32xf32>, %c: memref<32x32xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{the layout of an operand has no strides}}
    linalg.matmul ins(%a, %b : memref<32x16xf32, affine_map<(i, j) -> (i mod 4, j)>>, memref<16x32xf32>) outs(%c : memref<32x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @window(%a: memref<1x8x8x4xf32>, %b: memref<3x3x4x8xf32>, %c: memref<1x6x6x8xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{it reads its operands otherwise than element by element}}
    linalg.conv_2d_nhwc_hwcf ins(%a, %b : memref<1x8x8x4xf32>, memref<3x3x4x8xf32>) outs(%c : memref<1x6x6x8xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

func.func @huge(%a: memref<9223372036854775807x3xf32>, %b: memref<3x1099511627776xf32>, %c: memref<9223372036854775807x1099511627776xf32> {llvm.noalias}) {
  scf.forall (%i) in (1) {
    // expected-remark @+1 {{nothing keeps its loop 0 small}}
    linalg.matmul ins(%a, %b : memref<9223372036854775807x3xf32>, memref<3x1099511627776xf32>) outs(%c : memref<9223372036854775807x1099511627776xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
