//===- functions.h - Functions of the device that clang lacks --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clocks, sleep, bit casts, minima and maxima of all types: CUDA C++
// Programming Guide, "Time Function", "Nanosleep Function", and CUDA Math API.
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINE_CUDA_FUNCTIONS_H
#define PIPELINE_CUDA_FUNCTIONS_H

#define PIPELINE_DEVICE static __inline__ __attribute__((device, always_inline))

PIPELINE_DEVICE void __nanosleep(unsigned int nanoseconds) {
  __nvvm_nanosleep(nanoseconds);
}

// For integers; those of floats are clang's.
#define PIPELINE_EXTREMES(TYPE)                                                \
  PIPELINE_DEVICE TYPE min(TYPE a, TYPE b) { return b < a ? b : a; }           \
  PIPELINE_DEVICE TYPE max(TYPE a, TYPE b) { return a < b ? b : a; }
PIPELINE_EXTREMES(unsigned int)
PIPELINE_EXTREMES(long)
PIPELINE_EXTREMES(unsigned long)
PIPELINE_EXTREMES(long long)
PIPELINE_EXTREMES(unsigned long long)
#undef PIPELINE_EXTREMES

// Those of the host, which CUDA brings, and whose calls are parsed.
#define PIPELINE_EXTREMES(TYPE)                                                \
  static __inline__ __attribute__((host)) TYPE min(TYPE a, TYPE b) {           \
    return b < a ? b : a;                                                      \
  }                                                                            \
  static __inline__ __attribute__((host)) TYPE max(TYPE a, TYPE b) {           \
    return a < b ? b : a;                                                      \
  }
PIPELINE_EXTREMES(int)
PIPELINE_EXTREMES(unsigned int)
PIPELINE_EXTREMES(long)
PIPELINE_EXTREMES(unsigned long)
PIPELINE_EXTREMES(long long)
PIPELINE_EXTREMES(unsigned long long)
PIPELINE_EXTREMES(float)
PIPELINE_EXTREMES(double)
#undef PIPELINE_EXTREMES

#undef PIPELINE_DEVICE

#endif // PIPELINE_CUDA_FUNCTIONS_H
