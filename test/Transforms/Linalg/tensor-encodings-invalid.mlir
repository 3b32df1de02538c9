// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-normalize-linalg)' -o /dev/null
// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-form-kernels)' -o /dev/null
// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-prepare-bufferization)' -o /dev/null
// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-bufferize)' -o /dev/null
// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel))' -o /dev/null

// What an encoding says would be lost with the tensor: refused where the value is made.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
// expected-error @+1 {{argument 0 of 'func.func' op is of type 'tensor<8x8xf32, #sparse_tensor.encoding}}
func.func @matvec(%a: tensor<8x8xf32, #csr>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.matvec ins(%a, %x : tensor<8x8xf32, #csr>, tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

#coo = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton)}>
func.func @made(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{result 0 of 'sparse_tensor.convert' op is of type 'tensor<8x8xf32, #sparse_tensor.encoding}}
  %s = sparse_tensor.convert %a : tensor<8x8xf32> to tensor<8x8xf32, #coo>
  %r = sparse_tensor.convert %s : tensor<8x8xf32, #coo> to tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

#vec = #sparse_tensor.encoding<{map = (i) -> (i : compressed), posWidth = 32, crdWidth = 32}>
// expected-error @+1 {{whose sparse encoding kernels of dense loops would lose; run the sparsifier first (mlir-opt --sparsifier, or --sparsification-and-bufferization)}}
func.func @dynamic(%a: tensor<?xf64, #vec>, %y: tensor<f64>) -> tensor<f64> {
  %r = linalg.dot ins(%a, %a : tensor<?xf64, #vec>, tensor<?xf64, #vec>) outs(%y : tensor<f64>) -> tensor<f64>
  return %r : tensor<f64>
}

// -----

// Whatever the attribute means to others.
// expected-error @+1 {{argument 0 of 'func.func' op is of type 'tensor<8xf32, "blocked">', whose encoding would be lost when the tensor becomes a buffer; leave it out of the type, or lower what it means before}}
func.func @text(%a: tensor<8xf32, "blocked">) -> tensor<8xf32, "blocked"> {
  return %a : tensor<8xf32, "blocked">
}

// -----

// expected-error @+1 {{a result of '@number' is of type 'tensor<?xi8, 1 : i64>'}}
func.func @number(%n: index) -> tensor<?xi8, 1 : i64> {
  // expected-error @+1 {{result 0 of 'tensor.empty' op is of type 'tensor<?xi8, 1 : i64>', whose encoding would be lost}}
  %e = tensor.empty(%n) : tensor<?xi8, 1 : i64>
  return %e : tensor<?xi8, 1 : i64>
}

// -----

// expected-error @+1 {{argument 1 of 'func.func' op is of type 'tensor<4xf32, {order = 1 : i64}>', whose encoding}}
func.func @loop(%n: index, %a: tensor<4xf32, {order = 1 : i64}>) -> tensor<4xf32, {order = 1 : i64}> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{argument 1 of 'scf.for' op is of type 'tensor<4xf32, {order = 1 : i64}>'}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (tensor<4xf32, {order = 1 : i64}>) {
    scf.yield %t : tensor<4xf32, {order = 1 : i64}>
  }
  return %r : tensor<4xf32, {order = 1 : i64}>
}
