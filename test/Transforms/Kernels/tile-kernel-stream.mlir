// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 stream=32}))' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 stream=32}))' --mlir-print-local-scope | diff %t.once -

// Two contractions go through the columns of the first: what a softmax between them sums up is
// scaled when there is a larger score, and the division comes last.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func private @softmax(
// CHECK:         %[[LEAST:.+]] = arith.constant -3.40282347E+38 : f32
// CHECK:         scf.forall
// CHECK:           %[[M0:.+]] = linalg.fill ins(%[[LEAST]] : f32)
// CHECK:           %[[ALL:.+]]:3 = scf.for %[[J:.+]] = {{.+}} iter_args(%[[M:.+]] = %[[M0]], %[[L:.+]] = %{{.+}}, %[[A:.+]] = %{{.+}}) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>)
// CHECK:             tensor.extract_slice %arg1[0, %[[J]]] [40, 32] [1, 1]
// CHECK:             %[[S:.+]] = linalg.matmul
// CHECK:             %[[COPY:.+]] = linalg.copy ins(%[[M]] :
// CHECK:             %[[NOW:.+]] = linalg.reduce { arith.maximumf } ins(%[[S]] : {{.+}}) outs(%[[COPY]] :
// CHECK:             %[[F:.+]] = linalg.generic {{.+}} ins(%[[M]], %[[NOW]] :
// CHECK:               arith.subf
// CHECK:               math.exp
// CHECK:             %[[P:.+]] = linalg.generic {{.+}} ins(%[[S]], %[[NOW]] : {{.+}}) outs(%[[S]] :
// CHECK:             %[[LF:.+]] = linalg.generic {{.+}} ins(%[[F]] : {{.+}}) outs(%[[L]] :
// CHECK:             %[[L1:.+]] = linalg.reduce { arith.addf } ins(%[[P]] : {{.+}}) outs(%[[LF]] :
// CHECK:             %[[M1:.+]] = linalg.copy ins(%[[NOW]] : {{.+}}) outs(%[[M]] :
// CHECK:             %[[AF:.+]] = linalg.generic {{.+}} ins(%[[F]] : {{.+}}) outs(%[[A]] :
// CHECK:             %[[A1:.+]] = linalg.matmul ins(%[[P]], %{{.+}} : {{.+}}) outs(%[[AF]] :
// CHECK:             scf.yield %[[M1]], %[[L1]], %[[A1]]
// CHECK:           linalg.generic {{.+}} ins(%[[ALL]]#2, %[[ALL]]#1 :
// CHECK:             arith.divf
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

// Of sizes that only the launch knows tiles are of constant sizes: what is missing is zero, or
// makes no difference to sums. Without columns there is nothing to divide.
// CHECK-LABEL: func.func private @dynamic(
// CHECK:           tensor.insert_slice %{{.+}} into %{{.+}} : tensor<?x40xf16> into tensor<16x40xf16>
// CHECK:           scf.for
// CHECK:             %[[N:.+]] = affine.min
// CHECK:             tensor.insert_slice %{{.+}} into %{{.+}} : tensor<40x?xf16> into tensor<40x32xf16>
// CHECK:             linalg.matmul {{.+}} -> tensor<16x32xf32>
// CHECK:             arith.maximumf
// CHECK:             math.exp2
// CHECK:             math.exp2
// CHECK:             arith.select
// CHECK:             arith.truncf
// CHECK:             tensor.insert_slice %{{.+}} into %{{.+}} : tensor<?x64xf16> into tensor<32x64xf16>
// CHECK:             linalg.matmul {{.+}} -> tensor<16x64xf32>
// CHECK:           arith.divf
// CHECK:           arith.select
func.func private @dynamic(%x: tensor<?x40xf16>, %v: tensor<40x?xf16>, %w: tensor<?x64xf16>, %o: tensor<?x64xf32>, %m: index, %n: index) -> tensor<?x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %h = tensor.empty(%m, %n) : tensor<?x?xf16>
  %g = tensor.empty(%m) : tensor<?xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<?x64xf32>) -> tensor<?x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<?xf32>) -> tensor<?xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<?x40xf16>, tensor<40x?xf16>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%0 : tensor<?x?xf32>) outs(%u : tensor<?xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp2 %6 : f32
    linalg.yield %7 : f32
  } -> tensor<?x?xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<?x?xf32>) outs(%t : tensor<?xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<?x?xf32>, tensor<?xf32>) outs(%h : tensor<?x?xf16>) {
  ^bb0(%p: f32, %q: f32, %r: f16):
    %6 = arith.divf %p, %q : f32
    %7 = arith.truncf %6 : f32 to f16
    linalg.yield %7 : f16
  } -> tensor<?x?xf16>
  %5 = linalg.matmul ins(%4, %w : tensor<?x?xf16>, tensor<?x64xf16>) outs(%y : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %5 : tensor<?x64xf32>
}

// Without sums along rows, nothing but products is carried.
// CHECK-LABEL: func.func private @layers(
// CHECK:           scf.for {{.+}} iter_args(%[[A:.+]] = %{{.+}}) -> (tensor<16x64xf32>)
// CHECK:             linalg.matmul
// CHECK:             linalg.tanh
// CHECK:             %[[R:.+]] = linalg.matmul {{.+}} outs(%[[A]] :
// CHECK:             scf.yield %[[R]]
func.func private @layers(%x: tensor<48x40xf32>, %v: tensor<40x96xf32>, %w: tensor<96x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x96xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x96xf32>) outs(%z : tensor<48x96xf32>) -> tensor<48x96xf32>
  %1 = linalg.tanh ins(%0 : tensor<48x96xf32>) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %2 : tensor<48x64xf32>
}
