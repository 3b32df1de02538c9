// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope | diff %t.once -

// Casts that change no value go into the sums of products that read them.

// CHECK-LABEL: func.func @both(
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<8x16xf16>, tensor<16x4xf16>)
// CHECK:           arith.extf
// CHECK:           arith.extf
// CHECK:           arith.mulf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @both(%a: tensor<8x16xf16>, %b: tensor<16x4xf16>, %c: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = arith.extf %a : tensor<8x16xf16> to tensor<8x16xf32>
  %1 = arith.extf %b : tensor<16x4xf16> to tensor<16x4xf32>
  %2 = linalg.matmul ins(%0, %1 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// Integers, of which one has no sign, and a transposition.
// CHECK-LABEL: func.func @integers(
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, {{.+}} ins(%arg0, %arg1 : tensor<8x16xi8>, tensor<4x16xi8>)
// CHECK-DAG:       arith.extui
// CHECK-DAG:       arith.extsi
// CHECK:           arith.muli
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @integers(%a: tensor<8x16xi8>, %b: tensor<4x16xi8>, %t: tensor<16x4xi32>, %c: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %0 = arith.extui %a : tensor<8x16xi8> to tensor<8x16xi32>
  %1 = arith.extsi %b : tensor<4x16xi8> to tensor<4x16xi32>
  %2 = linalg.transpose ins(%1 : tensor<4x16xi32>) outs(%t : tensor<16x4xi32>) permutation = [1, 0]
  %3 = linalg.matmul ins(%0, %2 : tensor<8x16xi32>, tensor<16x4xi32>) outs(%c : tensor<8x4xi32>) -> tensor<8x4xi32>
  return %3 : tensor<8x4xi32>
}

// Behind a reshape, of sizes that only the launch knows.
// CHECK-LABEL: func.func @reshaped(
// CHECK:         %[[ROWS:.+]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<2x?x16xbf16> into tensor<?x16xbf16>
// CHECK:         linalg.generic {{.+}} ins(%[[ROWS]], %arg1 : tensor<?x16xbf16>, tensor<16x4xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @reshaped(%a: tensor<2x?x16xbf16>, %b: tensor<16x4xf32>, %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = arith.extf %a : tensor<2x?x16xbf16> to tensor<2x?x16xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x?x16xf32> into tensor<?x16xf32>
  %2 = linalg.matmul ins(%1, %b : tensor<?x16xf32>, tensor<16x4xf32>) outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// Who else reads the wide tensor goes on doing so.
// CHECK-LABEL: func.func @returned_too(
// CHECK:         %[[WIDE:.+]] = linalg.generic {{.+}} ins(%arg0 : tensor<8x8xf16>)
// CHECK:         %[[PRODUCT:.+]] = linalg.generic {{.+}} ins(%arg0, %arg0 : tensor<8x8xf16>, tensor<8x8xf16>)
// CHECK:         return %[[WIDE]], %[[PRODUCT]]
func.func @returned_too(%a: tensor<8x8xf16>, %c: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = arith.extf %a : tensor<8x8xf16> to tensor<8x8xf32>
  %1 = linalg.matmul ins(%0, %0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Into a convolution.
// CHECK-LABEL: func.func @convolution(
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<2x10x10x4xf16>, tensor<3x3x4x8xf16>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @convolution(%a: tensor<2x10x10x4xf16>, %b: tensor<3x3x4x8xf16>, %c: tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32> {
  %0 = arith.extf %a : tensor<2x10x10x4xf16> to tensor<2x10x10x4xf32>
  %1 = arith.extf %b : tensor<3x3x4x8xf16> to tensor<3x3x4x8xf32>
  %2 = linalg.conv_2d_nhwc_hwcf ins(%0, %1 : tensor<2x10x10x4xf32>, tensor<3x3x4x8xf32>) outs(%c : tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
  return %2 : tensor<2x8x8x8xf32>
}

// Nothing that rounds: the factors would be others.
// CHECK-LABEL: func.func @rounded(
// CHECK:         %[[NARROW:.+]] = linalg.generic {{.+}} ins(%arg0 : tensor<8x16xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.truncf
// CHECK:         linalg.generic {{.+}} ins(%[[NARROW]], %arg1 :
// CHECK:         return
func.func @rounded(%a: tensor<8x16xf32>, %b: tensor<16x4xf16>, %c: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = arith.truncf %a : tensor<8x16xf32> to tensor<8x16xf16>
  %1 = linalg.matmul ins(%0, %b : tensor<8x16xf16>, tensor<16x4xf16>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// Nor what rounds an integer, or computes behind the cast.
// CHECK-LABEL: func.func @computed(
// CHECK-DAG:     %[[INTEGERS:.+]] = linalg.generic {{.+}} ins(%arg0 : tensor<8x16xi32>)
// CHECK-DAG:     %[[SCALED:.+]] = linalg.generic {{.+}} ins(%arg1 : tensor<16x4xf16>)
// CHECK:         linalg.generic {{.+}} ins(%[[INTEGERS]], %[[SCALED]] : tensor<8x16xf32>, tensor<16x4xf32>)
// CHECK:         return
func.func @computed(%a: tensor<8x16xi32>, %b: tensor<16x4xf16>, %c: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = arith.sitofp %a : tensor<8x16xi32> to tensor<8x16xf32>
  %1 = arith.extf %b : tensor<16x4xf16> to tensor<16x4xf32>
  %2 = arith.mulf %1, %1 : tensor<16x4xf32>
  %3 = linalg.matmul ins(%0, %2 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// A float of 8 bits, which takes many instructions to convert, goes to tensor cores only.
// CHECK-LABEL: func.func @bytes(
// CHECK-DAG:     %[[WIDE:.+]] = linalg.generic {{.+}} ins(%arg1 : tensor<16x4xf8E4M3FN>)
// CHECK-DAG:     linalg.generic {{.+}} ins(%arg0, %[[WIDE]] : tensor<8x16xf32>, tensor<16x4xf32>)
// CHECK-DAG:     linalg.generic {{.+}} ins(%arg3, %arg1 : tensor<8x16xf16>, tensor<16x4xf8E4M3FN>)
// CHECK:         return
func.func @bytes(%a: tensor<8x16xf32>, %b: tensor<16x4xf8E4M3FN>, %c: tensor<8x4xf32>, %h: tensor<8x16xf16>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = arith.extf %b : tensor<16x4xf8E4M3FN> to tensor<16x4xf32>
  %1 = linalg.matmul ins(%a, %0 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = arith.extf %h : tensor<8x16xf16> to tensor<8x16xf32>
  %3 = linalg.matmul ins(%2, %0 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<8x4xf32>
}

// Of less than a byte, several elements are read at once.
// CHECK-LABEL: func.func @bits(
// CHECK:         %[[WIDE:.+]] = linalg.generic {{.+}} ins(%arg0 : tensor<8x16xi1>)
// CHECK:         linalg.generic {{.+}} ins(%[[WIDE]], %arg1 : tensor<8x16xi32>, tensor<16x4xi32>)
// CHECK:         return
func.func @bits(%a: tensor<8x16xi1>, %b: tensor<16x4xi32>, %c: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %0 = arith.extui %a : tensor<8x16xi1> to tensor<8x16xi32>
  %1 = linalg.matmul ins(%0, %b : tensor<8x16xi32>, tensor<16x4xi32>) outs(%c : tensor<8x4xi32>) -> tensor<8x4xi32>
  return %1 : tensor<8x4xi32>
}
