// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-normalize-linalg)' -o /dev/null

func.func @copy(%a: tensor<4xcomplex<f32>>, %o: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @+1 {{'linalg.copy' op is on complex numbers, which are not compiled; split them into tensors of their real and imaginary parts}}
  %0 = linalg.copy ins(%a : tensor<4xcomplex<f32>>) outs(%o : tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// Not linalg yet, but it would become linalg.
func.func @splat(%x: complex<f32>) -> tensor<4xcomplex<f32>> {
  // expected-error @+1 {{'tensor.splat' op is on complex numbers}}
  %0 = tensor.splat %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @winograd(%f: tensor<2x3x3x2xf32>, %o: tensor<6x6x2x2xf32>) -> tensor<6x6x2x2xf32> {
  // expected-error @+1 {{'linalg.winograd_filter_transform' op is not compiled; write the convolution itself, such as linalg.conv_2d_nhwc_fhwc}}
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<2x3x3x2xf32>) outs(%o : tensor<6x6x2x2xf32>) -> tensor<6x6x2x2xf32>
  return %0 : tensor<6x6x2x2xf32>
}

// -----

func.func @diagonal(%x: tensor<8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{does not write each element of its result once, by parallel loops of its own, which is not compiled; make other loops reductions, write all elements, by a condition in the body, or loop over the result and read by tensor.extract}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @column(%y: memref<8x3xf32>, %f: f32) {
  // expected-error@+1 {{does not write each element of its result}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i, 1)>], iterator_types = ["parallel"]}
      outs(%y : memref<8x3xf32>) {
  ^bb0(%o: f32):
    linalg.yield %f : f32
  }
  return
}

// -----

// All columns at the same place.
func.func @columns(%x: tensor<8x4xf32>, %i: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{does not write each element of its result once}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%i : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %z = arith.addf %p, %o : f32
    linalg.yield %z : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @wide(%x: tensor<8xf128>) -> tensor<8xf128> {
  // expected-error@+1 {{is on numbers of type 'f128', which GPUs do not compute with; convert them to f64}}
  %r = linalg.add ins(%x, %x : tensor<8xf128>, tensor<8xf128>) outs(%x : tensor<8xf128>) -> tensor<8xf128>
  return %r : tensor<8xf128>
}
