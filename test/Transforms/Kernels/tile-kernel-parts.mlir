// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 split=16,0,64 stream=32}))' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 split=16,0,64 stream=32}))' --mlir-print-local-scope | diff %t.once -

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Blocks have 64 of the 96 columns each, 32 at a time; what parts come to is put together behind.

// CHECK-LABEL: func.func private @softmax(
// CHECK:         %[[PARTS:.+]]:3 = scf.forall (%[[I:.+]], %[[J:.+]]) = (0, 0) to (48, 96) step (16, 64) {{.+}} -> (tensor<2x48xf32>, tensor<2x48xf32>, tensor<2x48x64xf32>)
// CHECK:           %[[SIZE:.+]] = affine.min affine_map<(d0) -> (64, -d0 + 96)>(%[[J]])
// CHECK:           %[[END:.+]] = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%[[J]])[%[[SIZE]]]
// CHECK:           %[[ALL:.+]]:3 = scf.for %{{.+}} = %[[J]] to %[[END]] step %{{.+}} -> (tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>)
// CHECK-NOT:         arith.divf
// CHECK:           %[[PART:.+]] = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%[[J]])
// CHECK:           tensor.extract_slice %{{.+}}[%[[PART]], %[[I]], 0] [1, 16, 64] [1, 1, 1]
// CHECK:           linalg.copy ins(%[[ALL]]#2 :
// CHECK:           linalg.copy ins(%[[ALL]]#0 :
// CHECK:           linalg.copy ins(%[[ALL]]#1 :
// CHECK:         mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]
// CHECK:         scf.forall
// CHECK:           %[[OF:.+]] = tensor.extract_slice %[[PARTS]]#0[0, %{{.+}}] [2, 16] [1, 1]
// CHECK:           %[[LARGEST:.+]] = linalg.generic {{.+}} ins(%[[OF]] :
// CHECK:             arith.maximumf
// CHECK:           %[[ACC:.+]] = tensor.extract_slice %[[PARTS]]#2
// CHECK:           %[[PRODUCTS:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[OF]], %[[LARGEST]], %[[ACC]] :
// CHECK:             arith.subf
// CHECK:             math.exp
// CHECK:             arith.mulf
// CHECK:             arith.addf
// CHECK:           %[[SUMS:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%[[OF]], %[[LARGEST]], %{{.+}} :
// CHECK:           linalg.generic {{.+}} ins(%[[PRODUCTS]], %[[SUMS]] :
// CHECK:             arith.divf
// CHECK:         mapping = [#gpu.block<linear_dim_0>]
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
  %5 = linalg.matmul ins(%4, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}
