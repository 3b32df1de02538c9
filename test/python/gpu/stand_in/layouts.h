//===- layouts.h - Structures of the driver ------------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structures of the driver's interface, as NVIDIA lays them out in cuda.h, so
// that the stand-in is built where there is no CUDA toolkit. layouts.cpp holds
// them against the header where there is one, and a test against cuda-bindings.
//
//===----------------------------------------------------------------------===//

#ifndef STAND_IN_LAYOUTS_H
#define STAND_IN_LAYOUTS_H

#include <cstddef>
#include <cstdint>

namespace stand_in {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

union LaunchAttributeValue {
  char pad[64];
  Dim3 clusterDim;
  LaunchAttributeValue() : pad() {}
};

struct LaunchAttribute {
  int id;
  char pad[4];
  LaunchAttributeValue value;
};

struct LaunchConfig {
  Dim3 grid, block;
  unsigned sharedMemBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

struct Memcpy2D {
  size_t srcXInBytes, srcY;
  unsigned srcMemoryType;
  const void *srcHost;
  uint64_t srcDevice;
  void *srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  unsigned dstMemoryType;
  void *dstHost;
  uint64_t dstDevice;
  void *dstArray;
  size_t dstPitch;
  size_t widthInBytes, height;
};

struct TensorMap {
  uint64_t opaque[16];
};

} // namespace stand_in

#endif // STAND_IN_LAYOUTS_H
