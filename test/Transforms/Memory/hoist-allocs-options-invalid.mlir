// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs{default-alignment=3})' 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs{default-alignment=0})' 2>&1 | FileCheck %s --check-prefix=ZERO

// THREE: error: default-alignment must be a power of two up to 65536, not 3
// ZERO: error: default-alignment must be a power of two up to 65536, not 0
gpu.module @kernels {
}
