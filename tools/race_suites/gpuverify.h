//===- gpuverify.h - GPUVerify's annotations, for clang --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What GPUVerify's tests of CUDA kernels are annotated with ("Advanced
// features" of its documentation). A precondition that does not hold ends the
// launch, so that others can be tried; an assertion is one. What is said of two
// arbitrary threads, or only helps a proof, is nothing that a run can ask.
//
//===----------------------------------------------------------------------===//

#ifndef RACE_SUITES_GPUVERIFY_H
#define RACE_SUITES_GPUVERIFY_H

#include <cooperative_groups.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define RACE_SUITES_NOTHING ((void)0)

#define __requires(condition) ((condition) ? RACE_SUITES_NOTHING : __builtin_trap())
#define __assume(condition) __requires(condition)
#define __assert(condition) assert(condition)

#define __all(condition) (condition)
#define __implies(condition, other) (!(condition) || (other))
#define __enabled() true
#define __return_val_int() 0
#define __return_val_bool() true
#define __return_val_ptr() 0
#define __return_val_funptr(type) 0
#define __old(value) (value)

#define __ensures(condition) RACE_SUITES_NOTHING
#define __invariant(condition) RACE_SUITES_NOTHING
#define __global_invariant(condition) RACE_SUITES_NOTHING
#define __function_wide_invariant(condition) RACE_SUITES_NOTHING
#define __requires_fresh_array(pointer) RACE_SUITES_NOTHING
#define __axiom(condition) struct RaceSuitesAxiom

#define __uniform_int(value) true
#define __uniform_bool(value) true
#define __distinct_int(value) true
#define __at_most_one(value) true
#define __other_int(value) (value)
#define __ptr_offset_bytes(pointer) 0
#define __read(pointer) true
#define __write(pointer) true
#define __no_read(pointer) true
#define __no_write(pointer) true
#define __read_implies(pointer, condition) true
#define __write_implies(pointer, condition) true

#endif // RACE_SUITES_GPUVERIFY_H
