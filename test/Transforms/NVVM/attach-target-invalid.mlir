// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target)' --split-input-file --verify-diagnostics

// A chip that is in no table, new or misspelt.
// expected-error @+1 {{'gpu.module' op cannot be compiled for unknown chip 'sm_42'; supported are sm_75, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_120}}
gpu.module @kernels [#nvvm.target<chip = "sm_42">] {
}

// -----

// The chip that a target without a word means is older than all of these.
// expected-error @+1 {{cannot be compiled for unknown chip 'sm_50'}}
gpu.module @kernels [#nvvm.target] {
}

// -----

// Kernels that no pipeline would find.
module {
  module attributes {gpu.container_module} {
    // expected-error @+1 {{'gpu.module' op stands in a nested module, which is not compiled; move it to the outermost one}}
    gpu.module @kernels {
    }
  }
}
