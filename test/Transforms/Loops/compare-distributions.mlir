// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-compare-distributions)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t

// A fill and a product that are distributed one after the other, on tensors as tiling leaves them:
// the same mapping, numbers of iterations, and slices.

func.func @agree(%a: tensor<64x32xf32>, %b: tensor<32x128xf32>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %filled = scf.forall (%i, %j) in (16, 32) shared_outs(%o = %c) -> (tensor<64x128xf32>) {
    %y = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %x = affine.apply affine_map<(d0) -> (d0 * 4)>(%j)
    %part = tensor.extract_slice %o[%y, %x] [4, 4] [1, 1] : tensor<64x128xf32> to tensor<4x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%part : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%y, %x] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<64x128xf32>
    }
  } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
  %sum = scf.forall (%i, %j) = (0, 0) to (64, 128) step (4, 4) shared_outs(%o = %filled) -> (tensor<64x128xf32>) {
    %p = tensor.extract_slice %a[%i, 0] [4, 32] [1, 1] : tensor<64x32xf32> to tensor<4x32xf32>
    %q = tensor.extract_slice %b[0, %j] [32, 4] [1, 1] : tensor<32x128xf32> to tensor<32x4xf32>
    %part = tensor.extract_slice %o[%i, %j] [4, 4] [1, 1] : tensor<64x128xf32> to tensor<4x4xf32>
    // expected-remark-re @+1 {{[Analysis] Agree | Category:workgroup-compare-distributions | Function=agree | Reason="they have the same mapping [#gpu.thread<y>, #gpu.thread<x>], iterations 16x32 and slices (d0 * 4, d1 * 4) of sizes (4, 4)", Remark="'linalg.matmul' goes on with what 'linalg.fill' at {{.*}}compare-distributions.mlir:12:10 has left"}}
    %m = linalg.matmul ins(%p, %q : tensor<4x32xf32>, tensor<32x4xf32>) outs(%part : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %m into %o[%i, %j] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<64x128xf32>
    }
  } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
  return %sum : tensor<64x128xf32>
}

// -----

!tile = memref<4x4xf32, strided<[128, 1], offset: ?>>
!row = memref<1x16xf32, strided<[128, 1], offset: ?>>
!rows = memref<4x32xf32, strided<[32, 1], offset: ?>>
!columns = memref<32x4xf32, strided<[128, 1], offset: ?>>

// The same elements, but other threads have them; or the mapping, or the number, is another one.
// Only the last one before counts, and loops over sums may be between.

func.func @differ(%a: memref<64x32xf32>, %b: memref<32x128xf32>, %c: memref<64x128xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i, %j) in (64, 8) {
    %x = affine.apply affine_map<(d0) -> (d0 * 16)>(%j)
    %part = memref.subview %c[%i, %x] [1, 16] [1, 1] : memref<64x128xf32> to !row
    linalg.fill ins(%zero : f32) outs(%part : !row)
  } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
  scf.for %k = %c0 to %n step %c1 {
    scf.forall (%i, %j) in (16, 32) {
      %y = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
      %x = affine.apply affine_map<(d0) -> (d0 * 4)>(%j)
      %p = memref.subview %a[%y, 0] [4, 32] [1, 1] : memref<64x32xf32> to !rows
      %q = memref.subview %b[0, %x] [32, 4] [1, 1] : memref<32x128xf32> to !columns
      %part = memref.subview %c[%y, %x] [4, 4] [1, 1] : memref<64x128xf32> to !tile
      // expected-remark @+1 {{Reason="they differ in their numbers of iterations: 64x8 against 16x32"}}
      linalg.matmul ins(%p, %q : !rows, !columns) outs(%part : !tile)
    } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
  }
  scf.forall (%i, %j) in (16, 32) {
    %y = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %x = affine.apply affine_map<(d0) -> (d0 * 4)>(%j)
    %part = memref.subview %c[%y, %x] [4, 4] [1, 1] : memref<64x128xf32> to !tile
    // expected-remark @+1 {{[Analysis] Differ | Category:workgroup-compare-distributions | Function=differ | Reason="they differ in their mapping: [#gpu.thread<y>, #gpu.thread<x>] against [#gpu.thread<x>, #gpu.thread<y>]", Remark="'linalg.generic' goes on with what 'linalg.matmul' at}}
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%part : !tile) {
    ^bb0(%o: f32):
      %s = arith.addf %o, %o : f32
      linalg.yield %s : f32
    }
  } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
  return
}

// -----

!tile = memref<4x4xf32, strided<[64, 1], offset: ?>>

// Slices that differ, and slices of which nothing is known.

func.func @slices(%c: memref<64x64xf32>, %at: memref<16xindex>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %j) in (16, 16) {
    %y = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %x = affine.apply affine_map<(d0) -> (d0 * 4)>(%j)
    %part = memref.subview %c[%y, %x] [4, 4] [1, 1] : memref<64x64xf32> to !tile
    linalg.fill ins(%zero : f32) outs(%part : !tile)
  } {mapping = [#gpu.warp<y>, #gpu.warp<x>]}
  scf.forall (%i, %j) in (16, 16) {
    %y = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %x = affine.apply affine_map<(d0) -> (60 - d0 * 4)>(%j)
    %part = memref.subview %c[%y, %x] [4, 4] [1, 1] : memref<64x64xf32> to !tile
    // expected-remark @+1 {{Reason="they differ in their slices: (d0 * 4, d1 * 4) of sizes (4, 4) against (d0 * 4, d1 * -4 + 60) of sizes (4, 4)"}}
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%part : !tile) {
    ^bb0(%o: f32):
      %s = arith.addf %o, %o : f32
      linalg.yield %s : f32
    }
  } {mapping = [#gpu.warp<y>, #gpu.warp<x>]}
  scf.forall (%i, %j) in (16, 16) {
    %y = memref.load %at[%i] : memref<16xindex>
    %x = affine.apply affine_map<(d0) -> (d0 * 4)>(%j)
    %part = memref.subview %c[%y, %x] [4, 4] [1, 1] : memref<64x64xf32> to !tile
    // expected-remark @+1 {{[Analysis] Undecided | Category:workgroup-compare-distributions | Function=slices | Reason="of 'linalg.generic', where its slice is follows from memref.load"}}
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%part : !tile) {
    ^bb0(%o: f32):
      %s = arith.addf %o, %o : f32
      linalg.yield %s : f32
    }
  } {mapping = [#gpu.warp<y>, #gpu.warp<x>]}
  return
}
