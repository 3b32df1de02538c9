// RUN: mlir-opt %s -o %t.before
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-stage-operands{max-bytes=1024})' -o %t.after
// RUN: diff %t.before %t.after

// A contraction that is refused is left as it is: what its loop does not change
// stays in the loop.

func.func @too_large(%a: memref<64x256xf32>, %b: memref<256x64xf32>,
                     %c: memref<128x64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  scf.forall (%i) in (2) {
    scf.for %k = %c0 to %c256 step %c16 {
      %row = affine.apply affine_map<(d0) -> (d0 * 64)>(%i)
      %result = memref.subview %c[%row, 0] [64, 64] [1, 1]
        : memref<128x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
      %lhs = memref.subview %a[0, %k] [64, 16] [1, 1]
        : memref<64x256xf32> to memref<64x16xf32, strided<[256, 1], offset: ?>>
      %rhs = memref.subview %b[%k, 0] [16, 64] [1, 1]
        : memref<256x64xf32> to memref<16x64xf32, strided<[64, 1], offset: ?>>
      linalg.matmul ins(%lhs, %rhs : memref<64x16xf32, strided<[256, 1], offset: ?>>,
                                     memref<16x64xf32, strided<[64, 1], offset: ?>>)
                    outs(%result : memref<64x64xf32, strided<[64, 1], offset: ?>>)
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
