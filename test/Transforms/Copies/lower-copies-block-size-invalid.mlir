// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{block-size=64,1,1})' --verify-diagnostics
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{block-size=64})' 2>&1 | FileCheck %s
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{block-size=64,0,1})' 2>&1 | FileCheck %s
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{block-size=64,32,1})' 2>&1 | FileCheck %s

// Sizes of blocks that no block has, or that launches contradict.

// CHECK: error: block-size must be three numbers from 1 on, of at most 1024 threads in all

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%a: memref<64xf32>, %b: memref<64xf32>) kernel {
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
      gpu.return
    }
  }
  func.func @host(%a: memref<64xf32>, %b: memref<64xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%a : memref<64xf32>, %b : memref<64xf32>)
    // expected-error @+1 {{'gpu.launch_func' op launches blocks of another size than 64x1x1, which block-size promises}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%a : memref<64xf32>, %b : memref<64xf32>)
    return
  }
}
