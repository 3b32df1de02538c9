// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-prepare-bufferization)' --verify-diagnostics

// Tensors of unknown rank, which cannot be copied.

func.func private @twice(%a: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  // expected-error @+1 {{'func.return' op hands on operand 1, of unknown rank, which shares memory with something else and cannot be copied; cast it to a ranked tensor before}}
  return %a, %a : tensor<*xf32>, tensor<*xf32>
}
func.func @main(%a: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %r:2 = call @twice(%a) : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %r#0, %r#1 : tensor<*xf32>, tensor<*xf32>
}
