// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-rings{producers=640})' --verify-diagnostics

// expected-error @+1 {{producers must be whole warps, up to 512 threads, not 640 threads}}
module {
}
