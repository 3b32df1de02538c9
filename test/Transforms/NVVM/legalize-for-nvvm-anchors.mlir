// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(workgroup-legalize-for-nvvm),func.func(workgroup-legalize-for-nvvm)))' --verify-diagnostics
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(workgroup-legalize-for-nvvm)))' | FileCheck %s

// The pass touches nothing outside of the operation that it runs on: a kernel has
// its own buffers, but a function's belong to its module.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @kernel
  // CHECK-SAME:    workgroup(%{{[^:]+}} : memref<33xf32, #gpu.address_space<workgroup>>
  // CHECK-NOT:     gpu.all_reduce
  // CHECK:         gpu.return
  gpu.func @kernel(%x: f32, %out: memref<f32>) kernel {
    %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }
  func.func @called(%x: f32) -> f32 {
    // expected-error @+1 {{'gpu.all_reduce' op stands in a function whose module, which its buffer belongs to, is outside of the operation that the pass runs on; move it into the kernel}}
    %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
    return %sum : f32
  }
}
