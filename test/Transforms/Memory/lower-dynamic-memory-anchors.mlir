// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(workgroup-lower-dynamic-memory)))' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics | FileCheck %s

// On a kernel the pass has no place for a symbol of the module: the op stays.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @kernel
  // CHECK:         gpu.dynamic_shared_memory
  gpu.func @kernel() kernel {
    // expected-remark @+1 {{[Missed] NotLowered | Category:workgroup-lower-dynamic-memory | Function=kernel | Reason="its module is outside of the operation that the pass runs on"}}
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}
