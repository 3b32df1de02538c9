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
  // expected-error@+1 {{does not write each element of its result #0 once: a loop is in two of its indices; let loops of their own go through its dimensions, with a condition in the body, or tensor.extract of what is read}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Two iterations at one place.
func.func @steps(%x: tensor<8x3xf32>, %y: tensor<17xf32>) -> tensor<17xf32> {
  // expected-error@+1 {{does not write each element of its result #0 once: its index d0 * 2 + d1 may reach an element twice, or leave some out, as the steps of one loop are not as long as what the next ones go through; let loops of their own}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i * 2 + j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x3xf32>) outs(%y : tensor<17xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<17xf32>
  return %0 : tensor<17xf32>
}

// -----

// The sum up to each element.
func.func @running(%x: tensor<8x3xf32>, %p: tensor<8x3xf32>, %s: tensor<8xf32>) -> (tensor<8x3xf32>, tensor<8xf32>) {
  // expected-error@+1 {{does not write each element of its result #0 once: it goes along the reduction d1, and reads what another result has up to there; compute these one after the other, by scf.for}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x3xf32>) outs(%p, %s : tensor<8x3xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0, %0 : f32, f32
  } -> (tensor<8x3xf32>, tensor<8xf32>)
  return %r#0, %r#1 : tensor<8x3xf32>, tensor<8xf32>
}

// -----

// All columns at the same place.
func.func @columns(%x: tensor<8x4xf32>, %i: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{does not write each element of its result #0 once: the iterations of the parallel loop d1 write to the same place; make it a reduction}}
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
