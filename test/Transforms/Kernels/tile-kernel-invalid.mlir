// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=0,4,1,1,1,1,1,1,1,1,1,1}))' -o /dev/null

// Two operations, neither of which is of use to the other.
// expected-error @+1 {{'func.func' op is not one kernel but 2; let workgroup-form-kernels make a function of each}}
func.func private @two(%x: tensor<8xf32>, %o: tensor<8xf32>, %p: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.exp ins(%x : tensor<8xf32>) outs(%p : tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// expected-error @+1 {{'func.func' op does not return the result of its last operation last; let workgroup-form-kernels make it}}
func.func private @not_last(%x: tensor<8xf32>, %o: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %0, %x : tensor<8xf32>, tensor<8xf32>
}

// -----

// More loops than there are ids.
func.func private @many(%x: tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>, %o: tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32> {
  // expected-error @+1 {{'linalg.exp' op would be shared out along more than 10 loops; give some the size 0 in 'block'}}
  %0 = linalg.exp ins(%x : tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>) outs(%o : tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>
  return %0 : tensor<2x2x2x2x2x2x2x2x2x2x2x2xf32>
}
