//===- kernels.h - What CUDA has, for clang without CUDA -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Is included before each CUDA program. It declares what kernels are written
// with, as NVIDIA's CUDA C++ Programming Guide describes it ("C++ Language
// Extensions"); nothing of it is from CUDA. Built-in variables, shuffles,
// votes, conversions and mathematics are those that clang itself brings.
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINE_CUDA_KERNELS_H
#define PIPELINE_CUDA_KERNELS_H

// Clang's headers ask for it: that of the first CUDA that has all they use.
#define CUDA_VERSION 12000
#define CUDART_VERSION CUDA_VERSION
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)

// What is inlined from here is at the line of the program that calls it.
#pragma clang attribute push(__attribute__((nodebug)),                         \
                             apply_to = hasType(functionType))

#include <__clang_cuda_math_forward_declares.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "vectors.h"

#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>

#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

extern "C" {
__device__ int vprintf(const char *, const char *);
__device__ int printf(const char *, ...);
__device__ void *malloc(size_t);
__device__ void free(void *);
__device__ void __assertfail(const char *message, const char *file,
                             unsigned line, const char *function,
                             size_t charSize);
// What the macro `assert` of the host's library calls.
static __device__ __inline__ void __assert_fail(const char *message,
                                                const char *file, unsigned line,
                                                const char *function) {
  __assertfail(message, file, line, function, sizeof(char));
}
}
#include <cassert>

#define PIPELINE_CONVERT(TYPE)                                                 \
  __device__ inline TYPE::operator dim3() const { return dim3(x, y, z); }      \
  __device__ inline TYPE::operator uint3() const { return {x, y, z}; }
PIPELINE_CONVERT(__cuda_builtin_threadIdx_t)
PIPELINE_CONVERT(__cuda_builtin_blockIdx_t)
PIPELINE_CONVERT(__cuda_builtin_blockDim_t)
PIPELINE_CONVERT(__cuda_builtin_gridDim_t)
#undef PIPELINE_CONVERT

// What clang's intrinsics.h has from cuda.h.
typedef uint32_t cuuint32_t;

#include <__clang_cuda_cmath.h>
#include <__clang_cuda_intrinsics.h>

#include "atomics.h"
#include "functions.h"
#include "host.h"

#pragma clang attribute pop

#endif // PIPELINE_CUDA_KERNELS_H
