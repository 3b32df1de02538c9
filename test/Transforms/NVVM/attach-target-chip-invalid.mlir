// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_90a})' --split-input-file --verify-diagnostics
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_91})' 2>&1 | FileCheck %s
// CHECK: error: unknown chip 'sm_91'; supported are sm_75, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_120

// A target that says another thing than the option.
gpu.module @same [#nvvm.target<chip = "sm_90a">] {
}
// expected-error @+1 {{'gpu.module' op has a target for sm_80, but is to be compiled for sm_90a; drop the target, or name its chip}}
gpu.module @other [#nvvm.target<chip = "sm_80">] {
}
