// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// What is computed of each element before it is multiplied becomes an operation
// of its own, so that a contraction is left.

// REMARK: SplitOperand {{.+}} Function=quantized | Operand=0, Remark="an operand is computed before the contraction that reads it"
// REMARK: SplitOperand {{.+}} Function=quantized | Operand=1
// CHECK-LABEL: func.func @quantized(
// CHECK:         %[[A:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg2 : tensor<32x64xi16>, i32)
// CHECK-NEXT:    ^bb0(%[[X:.+]]: i16, %[[ZERO:.+]]: i32, %{{.+}}: i32):
// CHECK-NEXT:      %[[W:.+]] = arith.extsi %[[X]] : i16 to i32
// CHECK-NEXT:      %[[D:.+]] = arith.subi %[[W]], %[[ZERO]] : i32
// CHECK-NEXT:      linalg.yield %[[D]] : i32
// CHECK:         %[[B:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "parallel"]} ins(%arg1, %arg3 : tensor<64x48xi16>, i32)
// CHECK:         linalg.generic {{.+}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] : tensor<32x64xi32>, tensor<64x48xi32>) outs(%arg4 : tensor<32x48xi32>)
// CHECK-NEXT:    ^bb0(%[[L:.+]]: i32, %[[R:.+]]: i32, %[[O:.+]]: i32):
// CHECK-NEXT:      %[[M:.+]] = arith.muli %[[L]], %[[R]] : i32
// CHECK-NEXT:      %[[S:.+]] = arith.addi %[[O]], %[[M]] : i32
// CHECK-NEXT:      linalg.yield %[[S]] : i32
func.func @quantized(%a: tensor<32x64xi16>, %b: tensor<64x48xi16>, %za: i32, %zb: i32, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<32x64xi16>, tensor<64x48xi16>, i32, i32) outs(%c : tensor<32x48xi32>) -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}

// A weight with a scale for each column, transposed; the other operand is only
// converted, which the contraction does itself.
// REMARK: SplitOperand {{.+}} Function=scaled | Operand=1
// CHECK-LABEL: func.func @scaled(
// CHECK:         %[[N:.+]] = tensor.dim %arg1, %c0
// CHECK:         %[[K:.+]] = tensor.dim %arg1, %c1
// CHECK:         %[[E:.+]] = tensor.empty(%[[N]], %[[K]]) : tensor<?x?xf32>
// CHECK:         %[[B:.+]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME:      ins(%arg1, %arg2 : tensor<?x?xi8>, tensor<?xf32>) outs(%[[E]] : tensor<?x?xf32>)
// CHECK:         linalg.generic {{.+}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %[[B]] : tensor<?x?xf16>, tensor<?x?xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
#rows = affine_map<(i, j, k) -> (i, k)>
#columns = affine_map<(i, j, k) -> (j, k)>
#scales = affine_map<(i, j, k) -> (j)>
#result = affine_map<(i, j, k) -> (i, j)>
func.func @scaled(%a: tensor<?x?xf16>, %b: tensor<?x?xi8>, %s: tensor<?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #scales, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %s : tensor<?x?xf16>, tensor<?x?xi8>, tensor<?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f16, %y: i8, %z: f32, %o: f32):
    %1 = arith.sitofp %y : i8 to f32
    %2 = arith.mulf %1, %z : f32
    %3 = arith.extf %x : f16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %4, %o : f32
    linalg.yield %5 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Not where an element is multiplied a few times: it is cheaper to compute it
// each time.
// CHECK-LABEL: func.func @few_rows(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @few_rows(%a: tensor<4x64xi8>, %b: tensor<64x48xi8>, %za: i32, %zb: i32, %c: tensor<4x48xi32>) -> tensor<4x48xi32> {
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<4x64xi8>, tensor<64x48xi8>, i32, i32) outs(%c : tensor<4x48xi32>) -> tensor<4x48xi32>
  return %0 : tensor<4x48xi32>
}

// Nor where both factors depend on both operands, on where they are, or on what
// is summed up.
// CHECK-LABEL: func.func @distances(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @distances(%a: tensor<32x64xf32>, %b: tensor<48x64xf32>, %c: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x64xf32>, tensor<48x64xf32>) outs(%c : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %1 = arith.subf %x, %y : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}

// CHECK-LABEL: func.func @places(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @places(%a: tensor<32x64xi32>, %b: tensor<48x64xi32>, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x64xi32>, tensor<48x64xi32>) outs(%c : tensor<32x48xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %i = linalg.index 2 : index
    %1 = arith.index_cast %i : index to i32
    %2 = arith.subi %x, %1 : i32
    %3 = arith.muli %2, %y : i32
    %4 = arith.addi %o, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}

// CHECK-LABEL: func.func @total(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @total(%a: tensor<32x64xf32>, %b: tensor<48x64xf32>, %c: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x64xf32>, tensor<48x64xf32>) outs(%c : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %1 = arith.addf %x, %o : f32
    %2 = arith.mulf %1, %y : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}

// Nor where an input that nothing is made of tells how many iterations there are.
// CHECK-LABEL: func.func @unused(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @unused(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %z: i32, %w: tensor<5xf32>, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k)>, affine_map<(i, j, k, l) -> (k, j)>, affine_map<(i, j, k, l) -> ()>,
                                        affine_map<(i, j, k, l) -> (l)>, affine_map<(i, j, k, l) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b, %z, %w : tensor<32x64xi8>, tensor<64x48xi8>, i32, tensor<5xf32>) outs(%c : tensor<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %zero: i32, %u: f32, %o: i32):
    %1 = arith.extsi %x : i8 to i32
    %2 = arith.subi %1, %zero : i32
    %3 = arith.extsi %y : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %o, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}

// What is attached to the operation stays with the contraction.
// CHECK-LABEL: func.func @attached(
// CHECK:         linalg.generic {{.+}} outs(%{{.+}} : tensor<32x64xf32>) {
// CHECK:         linalg.generic {{.+}} attrs = {{ *}}{mine = 1 : i64}
func.func @attached(%a: tensor<32x64xf32>, %b: tensor<48x64xf32>, %c: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x64xf32>, tensor<48x64xf32>) outs(%c : tensor<32x48xf32>) attrs = {mine = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %1 = arith.maximumf %x, %zero : f32
    %2 = arith.mulf %1, %y : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}

// What is read by quotients is looked up. A loop that only such an operand went
// along keeps something that tells how many iterations it has.
// CHECK-LABEL: func.func @looked_up(
// CHECK:         %[[L:.+]] = tensor.empty() : tensor<5xi1>
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>]
// CHECK-SAME:      ins(%arg0, %[[L]] : tensor<32x64xf32>, tensor<5xi1>)
// CHECK:           tensor.extract %arg1
func.func @looked_up(%a: tensor<32x64xf32>, %b: tensor<32x48x5xf32>, %c: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k)>, affine_map<(i, j, k, l) -> (k floordiv 2, j, l)>, affine_map<(i, j, k, l) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<32x64xf32>, tensor<32x48x5xf32>) outs(%c : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}

// CHECK-LABEL: func.func @looked_up_dynamic(
// CHECK:         %[[N:.+]] = tensor.dim %arg1, %c2
// CHECK:         %[[L:.+]] = tensor.empty(%[[N]]) : tensor<?xi1>
// CHECK:         linalg.generic {{.+}} ins(%arg0, %[[L]] : tensor<32x64xf32>, tensor<?xi1>)
func.func @looked_up_dynamic(%a: tensor<32x64xf32>, %b: tensor<32x48x?xf32>, %c: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k)>, affine_map<(i, j, k, l) -> (k mod 32, j, l)>, affine_map<(i, j, k, l) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<32x64xf32>, tensor<32x48x?xf32>) outs(%c : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}
