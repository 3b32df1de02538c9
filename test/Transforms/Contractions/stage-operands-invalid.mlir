// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-stage-operands{chip=sm_1})' 2>&1 | FileCheck %s

// A chip that there is not.

// CHECK: error: 'builtin.module' op cannot be compiled for unknown chip 'sm_1'
module {
}
