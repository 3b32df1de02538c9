// RUN: not mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=1,1,1,1}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=-1}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=1,1,4}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{reduction=-4}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=STEP

// LOOPS: {{[0-9]+}}:8: error: 'linalg.matmul' op has 3 loops, but 'block' gives 4 sizes; give one for each loop at most
// NEGATIVE: {{[0-9]+}}:8: error: 'linalg.matmul' op cannot be in tiles of -1; sizes in 'block' are positive, or 0 for all
// SUM: {{[0-9]+}}:8: error: 'linalg.matmul' op cannot share out its loop 2 to blocks: it is a sum; give it the size 0 in 'block'
// STEP: {{[0-9]+}}:8: error: 'linalg.matmul' op cannot be in tiles of -4; sizes in 'reduction' are positive, or 0 for all
func.func private @matmul(%x: tensor<50x40xf32>, %w: tensor<40x30xf32>, %o: tensor<50x30xf32>) -> tensor<50x30xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<50x40xf32>, tensor<40x30xf32>) outs(%o : tensor<50x30xf32>) -> tensor<50x30xf32>
  return %0 : tensor<50x30xf32>
}
