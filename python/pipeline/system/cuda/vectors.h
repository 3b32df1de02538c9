//===- vectors.h - Vectors of numbers --------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `int2`, `float4`, `make_uchar3` and their kin, and `dim3`: CUDA C++
// Programming Guide, "Built-in Vector Types", with the alignment from there.
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINE_CUDA_VECTORS_H
#define PIPELINE_CUDA_VECTORS_H

#define PIPELINE_MAKE static __inline__ __host__ __device__

#define PIPELINE_VECTORS(TYPE, ELEMENT, ALIGN2, ALIGN4)                        \
  struct TYPE##1 { ELEMENT x; };                                               \
  struct __align__(ALIGN2) TYPE##2 { ELEMENT x, y; };                          \
  struct TYPE##3 { ELEMENT x, y, z; };                                         \
  struct __align__(ALIGN4) TYPE##4 { ELEMENT x, y, z, w; };                    \
  PIPELINE_MAKE TYPE##1 make_##TYPE##1(ELEMENT x) { return {x}; }              \
  PIPELINE_MAKE TYPE##2 make_##TYPE##2(ELEMENT x, ELEMENT y) {                 \
    return {x, y};                                                             \
  }                                                                            \
  PIPELINE_MAKE TYPE##3 make_##TYPE##3(ELEMENT x, ELEMENT y, ELEMENT z) {      \
    return {x, y, z};                                                          \
  }                                                                            \
  PIPELINE_MAKE TYPE##4 make_##TYPE##4(ELEMENT x, ELEMENT y, ELEMENT z,        \
                                       ELEMENT w) {                            \
    return {x, y, z, w};                                                       \
  }

PIPELINE_VECTORS(char, signed char, 2, 4)
PIPELINE_VECTORS(uchar, unsigned char, 2, 4)
PIPELINE_VECTORS(short, short, 4, 8)
PIPELINE_VECTORS(ushort, unsigned short, 4, 8)
PIPELINE_VECTORS(int, int, 8, 16)
PIPELINE_VECTORS(uint, unsigned int, 8, 16)
PIPELINE_VECTORS(long, long, 16, 16)
PIPELINE_VECTORS(ulong, unsigned long, 16, 16)
PIPELINE_VECTORS(longlong, long long, 16, 16)
PIPELINE_VECTORS(ulonglong, unsigned long long, 16, 16)
PIPELINE_VECTORS(float, float, 8, 16)
PIPELINE_VECTORS(double, double, 16, 16)

#undef PIPELINE_VECTORS
#undef PIPELINE_MAKE

struct dim3 {
  unsigned int x, y, z;
  constexpr __host__ __device__ dim3(unsigned int x = 1, unsigned int y = 1,
                                     unsigned int z = 1)
      : x(x), y(y), z(z) {}
  constexpr __host__ __device__ dim3(uint3 sizes)
      : x(sizes.x), y(sizes.y), z(sizes.z) {}
  constexpr __host__ __device__ operator uint3() const { return {x, y, z}; }
};

#endif // PIPELINE_CUDA_VECTORS_H
