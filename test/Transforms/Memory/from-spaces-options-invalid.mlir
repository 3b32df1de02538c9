// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs{from-spaces=1:workgroup,L1:private})' 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs{from-spaces=-1:private})' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs{from-spaces=1:shared})' 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs{from-spaces=1})' 2>&1 | FileCheck %s --check-prefix=NO-WORD
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs{from-spaces=1:private,2:global,1:workgroup})' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{from-spaces=0:private})' 2>&1 | FileCheck %s --check-prefix=ZERO

// NUMBER: {{[0-9]+}}:1: error: option from-spaces cannot take 'L1:private': it does not start with the number of a space; write N:workgroup, N:private or N:global once for each memory space N, as in from-spaces=1:workgroup,2:private
// NEGATIVE: error: option from-spaces cannot take '-1:private': it does not start with the number of a space
// WORD: error: option from-spaces cannot take '1:shared': it does not end with the name of a memory
// NO-WORD: error: option from-spaces cannot take '1': it does not end with the name of a memory
// TWICE: error: option from-spaces cannot take '1:workgroup': the number has a meaning already
// ZERO: error: option from-spaces cannot take '0:private': 0 is the default memory space

module {
}
