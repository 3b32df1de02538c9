// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-stage-operands{thread=8})' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-stage-operands{thread=0,8})' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-stage-operands{chip=sm_1})' 2>&1 | FileCheck %s --check-prefix=CHIP

// ONE: thread takes two sizes, rows and columns
// ZERO: error: a thread computes at least one element, not 0x8
// CHIP: error: 'builtin.module' op cannot be compiled for unknown chip 'sm_1'
module {
}
