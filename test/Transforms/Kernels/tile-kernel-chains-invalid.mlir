// RUN: not mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{columns=32}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{columns=-2}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// ONE: {{[0-9]+}}:8: error: 'linalg.matmul' op belongs to a kernel without a contraction of what another one makes; give no 'columns'
// NEGATIVE: {{[0-9]+}}:8: error: 'linalg.matmul' op cannot be in tiles of -2; 'columns' is positive, or 0 for all
func.func private @matmul(%x: tensor<50x40xf32>, %w: tensor<40x30xf32>, %o: tensor<50x30xf32>) -> tensor<50x30xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<50x40xf32>, tensor<40x30xf32>) outs(%o : tensor<50x30xf32>) -> tensor<50x30xf32>
  return %0 : tensor<50x30xf32>
}
