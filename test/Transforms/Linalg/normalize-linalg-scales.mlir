// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg{narrow=true})' --mlir-print-local-scope | FileCheck %s --check-prefix=NARROW

// Constants that scale factors of f16 scale the sums of their products: both are read as they are.

// CHECK-LABEL: func.func @both(
// CHECK-DAG:     %[[SCALE:.+]] = arith.constant 1.250000e-01 : f32
// CHECK:         %[[SUMS:.+]] = linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<8x16xf16>, tensor<16x4xf16>)
// CHECK:           arith.extf
// CHECK:           arith.extf
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:         %[[RESULT:.+]] = linalg.generic {{.+}} ins(%[[SUMS]] : tensor<8x4xf32>)
// CHECK:           arith.mulf %{{.+}}, %[[SCALE]] : f32
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[RESULT]]
func.func @both(%a: tensor<8x16xf16>, %b: tensor<16x4xf16>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c = arith.constant dense<2.5e-01> : tensor<8x16xf32>
  %d = arith.constant dense<5.0e-01> : tensor<16x4xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = arith.extf %a : tensor<8x16xf16> to tensor<8x16xf32>
  %1 = arith.mulf %0, %c : tensor<8x16xf32>
  %2 = arith.extf %b : tensor<16x4xf16> to tensor<16x4xf32>
  %3 = arith.mulf %d, %2 : tensor<16x4xf32>
  %4 = linalg.matmul ins(%1, %3 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

#id = affine_map<(i, j, k) -> (i, j, k)>

// As PyTorch writes it: the constant is rounded in the body, keys are transposed before they are
// scaled, and heads are put together. The sums are multiplied by the product, rounded once.

// CHECK-LABEL: func.func @heads(
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<2x3x?x64xf16>, tensor<2x3x?x64xf16>)
// CHECK:         linalg.generic
// CHECK:           arith.mulf %{{.+}}, %{{.+}} : f32
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @heads(%a: tensor<2x3x?x64xf16>, %b: tensor<2x3x?x64xf16>) -> tensor<6x?x?xf32> {
  %c = arith.constant 0.35355339059327379 : f64
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c2 : tensor<2x3x?x64xf16>
  %n = tensor.dim %b, %c2 : tensor<2x3x?x64xf16>
  %ae = tensor.empty(%m) : tensor<2x3x?x64xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(h, i, j, k) -> (h, i, j, k)>, affine_map<(h, i, j, k) -> (h, i, j, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a : tensor<2x3x?x64xf16>) outs(%ae : tensor<2x3x?x64xf32>) {
  ^bb0(%p: f16, %o: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.truncf %c : f64 to f32
    %2 = arith.mulf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x3x?x64xf32>
  %be = tensor.empty(%n) : tensor<2x3x64x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(h, i, j, k) -> (h, i, k, j)>, affine_map<(h, i, j, k) -> (h, i, j, k)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b : tensor<2x3x?x64xf16>) outs(%be : tensor<2x3x64x?xf32>) {
  ^bb0(%p: f16, %o: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.truncf %c : f64 to f32
    %2 = arith.mulf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x3x64x?xf32>
  %xc = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<2x3x?x64xf32> into tensor<6x?x64xf32>
  %yc = tensor.collapse_shape %y [[0, 1], [2], [3]] : tensor<2x3x64x?xf32> into tensor<6x64x?xf32>
  %e = tensor.empty(%m, %n) : tensor<6x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x?x?xf32>) -> tensor<6x?x?xf32>
  %r = linalg.batch_matmul ins(%xc, %yc : tensor<6x?x64xf32>, tensor<6x64x?xf32>) outs(%f : tensor<6x?x?xf32>) -> tensor<6x?x?xf32>
  return %r : tensor<6x?x?xf32>
}

// One factor is scaled, and read by others, too: they go on reading it as it was.

// CHECK-LABEL: func.func @read_by_others(
// CHECK:         %[[SCALED:.+]] = linalg.generic {{.+}} ins(%arg0 : tensor<8x16xf16>)
// CHECK:           arith.mulf
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<8x16xf16>, tensor<16x4xf16>)
// CHECK:         return %[[SCALED]],
func.func @read_by_others(%a: tensor<8x16xf16>, %b: tensor<16x4xf16>) -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = arith.constant dense<2.5e-01> : tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = arith.extf %a : tensor<8x16xf16> to tensor<8x16xf32>
  %1 = arith.mulf %0, %c : tensor<8x16xf32>
  %2 = arith.extf %b : tensor<16x4xf16> to tensor<16x4xf32>
  %4 = linalg.matmul ins(%1, %2 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1, %4 : tensor<8x16xf32>, tensor<8x4xf32>
}

// Sums of bf16 may be infinite before they are scaled: that has to be allowed.

// CHECK-LABEL: func.func @bf16(
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<8x16xf32>, tensor<16x4xbf16>)
// NARROW-LABEL: func.func @bf16(
// NARROW:        linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<8x16xbf16>, tensor<16x4xbf16>)
func.func @bf16(%a: tensor<8x16xbf16>, %b: tensor<16x4xbf16>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c = arith.constant dense<2.5e-01> : tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = arith.extf %a : tensor<8x16xbf16> to tensor<8x16xf32>
  %1 = arith.mulf %0, %c : tensor<8x16xf32>
  %2 = arith.extf %b : tensor<16x4xbf16> to tensor<16x4xf32>
  %4 = linalg.matmul ins(%1, %2 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// What the sum starts from is not scaled.

// CHECK-LABEL: func.func @started(
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<8x16xf32>, tensor<16x4xf16>)
func.func @started(%a: tensor<8x16xf16>, %b: tensor<16x4xf16>, %f: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c = arith.constant dense<2.5e-01> : tensor<8x16xf32>
  %0 = arith.extf %a : tensor<8x16xf16> to tensor<8x16xf32>
  %1 = arith.mulf %0, %c : tensor<8x16xf32>
  %2 = arith.extf %b : tensor<16x4xf16> to tensor<16x4xf32>
  %4 = linalg.matmul ins(%1, %2 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// Zero times a negative number is minus zero; large constants leave the range; products by f32 are
// not exact.

// CHECK-LABEL: func.func @others(
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<8x16xf32>, tensor<16x4xf16>)
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<8x16xf32>, tensor<16x4xf16>)
// CHECK:         linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<8x16xf32>, tensor<16x4xf32>)
func.func @others(%a: tensor<8x16xf16>, %b: tensor<16x4xf16>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = arith.constant dense<-2.5e-01> : tensor<8x16xf32>
  %d = arith.constant dense<1.0e+20> : tensor<8x16xf32>
  %h = arith.constant dense<5.0e-01> : tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = arith.extf %a : tensor<8x16xf16> to tensor<8x16xf32>
  %1 = arith.mulf %0, %c : tensor<8x16xf32>
  %2 = arith.extf %b : tensor<16x4xf16> to tensor<16x4xf32>
  %3 = linalg.matmul ins(%1, %2 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = arith.mulf %0, %d : tensor<8x16xf32>
  %5 = linalg.matmul ins(%4, %2 : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  %6 = arith.mulf %0, %h : tensor<8x16xf32>
  %7 = linalg.matmul ins(%6, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %3, %5, %7 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
