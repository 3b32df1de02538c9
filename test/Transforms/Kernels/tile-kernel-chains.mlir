// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 reduction=16 columns=32}))' --mlir-print-local-scope -o %t.check
// RUN: FileCheck %s < %t.check
// RUN: mlir-opt %t.check --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 reduction=16 columns=32}))' --mlir-print-local-scope | diff %t.check -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16}))' --mlir-print-local-scope | FileCheck %s --check-prefix=ONCE

// Of two chained contractions, the first makes its columns in steps; what is between puts its
// results where it reads. What is tiled already stays as it is.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func private @rows(
// CHECK:         scf.forall (%[[I:.+]]) = (0) to (48) step (16) shared_outs(%[[O:.+]] = %arg3)
// CHECK:           %[[A:.+]] = tensor.extract_slice %arg0[%[[I]], 0] [16, 40] [1, 1]
// CHECK:           %[[SUMS:.+]] = scf.for %[[J:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[T:.+]] = %{{.+}}) -> (tensor<16x80xf32>)
// CHECK:             %[[N:.+]] = affine.min affine_map<(d0) -> (-d0 + 80, 32)>(%[[J]])
// CHECK:             tensor.extract_slice %arg1[0, %[[J]]] [40, %[[N]]] [1, 1]
// CHECK:             %[[Z:.+]] = linalg.fill
// CHECK:             %[[PART:.+]] = scf.for {{.+}} iter_args(%{{.+}} = %[[Z]])
// CHECK:               linalg.matmul
// CHECK:             %[[PUT:.+]] = tensor.insert_slice %[[PART]] into %[[T]][0, %[[J]]] [16, %[[N]]] [1, 1]
// CHECK:             scf.yield %[[PUT]]
// CHECK:           %[[ROW:.+]] = linalg.tanh ins(%[[SUMS]] : {{.+}}) outs(%[[SUMS]] :
// CHECK:           %[[ALL:.+]] = linalg.reduce {{.+}} ins(%[[ROW]] :
// CHECK:           %[[DIV:.+]] = linalg.generic {{.+}} ins(%[[ROW]], %[[ALL]] : {{.+}}) outs(%[[ROW]] :
// CHECK:           scf.for
// CHECK:             tensor.extract_slice %[[DIV]][0, %{{.+}}] [16, 16] [1, 1]
// CHECK:             linalg.matmul
// CHECK:           tensor.parallel_insert_slice
// ONCE-LABEL:  func.func private @rows(
// ONCE-NOT:      scf.for{{ }}
// ONCE:          %[[SUM:.+]] = linalg.matmul
// ONCE:          %[[ROW:.+]] = linalg.tanh ins(%[[SUM]] : {{.+}}) outs(%[[SUM]] :
// ONCE:          %[[SUMS:.+]] = linalg.reduce {{.+}} ins(%[[ROW]] :
// ONCE:          %[[DIV:.+]] = linalg.generic {{.+}} ins(%[[ROW]], %[[SUMS]] : {{.+}}) outs(%[[ROW]] :
// ONCE:          linalg.matmul ins(%[[DIV]],
func.func private @rows(%x: tensor<48x40xf32>, %v: tensor<40x80xf32>, %w: tensor<80x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x80xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x80xf32>) -> tensor<48x80xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x80xf32>) outs(%z : tensor<48x80xf32>) -> tensor<48x80xf32>
  %1 = linalg.tanh ins(%0 : tensor<48x80xf32>) outs(%e : tensor<48x80xf32>) -> tensor<48x80xf32>
  %2 = linalg.reduce { arith.addf } ins(%1 : tensor<48x80xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%1, %2 : tensor<48x80xf32>, tensor<48xf32>) outs(%e : tensor<48x80xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %5 = arith.divf %p, %q : f32
    linalg.yield %5 : f32
  } -> tensor<48x80xf32>
  %4 = linalg.matmul ins(%3, %w : tensor<48x80xf32>, tensor<80x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %4 : tensor<48x64xf32>
}
