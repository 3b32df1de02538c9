//===- layouts.cpp - Layouts against cuda.h -------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds the structures of layouts.h against NVIDIA's header, where a toolkit
// has one.
//
//===----------------------------------------------------------------------===//

#include "layouts.h"

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace stand_in {

#define SAME(ours, field, theirs, name)                                        \
  static_assert(offsetof(ours, field) == offsetof(theirs, name) &&             \
                sizeof(ours::field) == sizeof(theirs::name))

static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, block) ==
              offsetof(CUlaunchConfig, blockDimX));
SAME(LaunchConfig, sharedMemBytes, CUlaunchConfig, sharedMemBytes);
SAME(LaunchConfig, stream, CUlaunchConfig, hStream);
SAME(LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME(LaunchConfig, numAttributes, CUlaunchConfig, numAttrs);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME(LaunchAttribute, id, CUlaunchAttribute, id);
SAME(LaunchAttribute, value, CUlaunchAttribute, value);
SAME(LaunchAttributeValue, clusterDim, CUlaunchAttributeValue, clusterDim);
static_assert(sizeof(Memcpy2D) == sizeof(CUDA_MEMCPY2D));
SAME(Memcpy2D, srcXInBytes, CUDA_MEMCPY2D, srcXInBytes);
SAME(Memcpy2D, srcMemoryType, CUDA_MEMCPY2D, srcMemoryType);
SAME(Memcpy2D, srcHost, CUDA_MEMCPY2D, srcHost);
SAME(Memcpy2D, srcDevice, CUDA_MEMCPY2D, srcDevice);
SAME(Memcpy2D, srcPitch, CUDA_MEMCPY2D, srcPitch);
SAME(Memcpy2D, dstXInBytes, CUDA_MEMCPY2D, dstXInBytes);
SAME(Memcpy2D, dstMemoryType, CUDA_MEMCPY2D, dstMemoryType);
SAME(Memcpy2D, dstHost, CUDA_MEMCPY2D, dstHost);
SAME(Memcpy2D, dstDevice, CUDA_MEMCPY2D, dstDevice);
SAME(Memcpy2D, dstPitch, CUDA_MEMCPY2D, dstPitch);
SAME(Memcpy2D, widthInBytes, CUDA_MEMCPY2D, WidthInBytes);
SAME(Memcpy2D, height, CUDA_MEMCPY2D, Height);
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));

static_assert(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == 4 &&
              CU_JIT_ERROR_LOG_BUFFER == 5 &&
              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES == 6 &&
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8 &&
              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED == 14 &&
              CU_DEVICE_ATTRIBUTE_COMPUTE_MODE == 20 &&
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN == 97 &&
              CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED == 115 &&
              CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL == 9 &&
              CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == 12 &&
              CU_TENSOR_MAP_INTERLEAVE_32B == 2 &&
              CU_TENSOR_MAP_SWIZZLE_128B == 3 && CU_MEMORYTYPE_HOST == 1 &&
              CU_MEMORYTYPE_DEVICE == 2 &&
              CU_STREAM_CAPTURE_MODE_RELAXED == 2 &&
              CUDA_ERROR_STREAM_CAPTURE_IMPLICIT == 906 &&
              CUDA_ERROR_INVALID_CLUSTER_SIZE == 912);

} // namespace stand_in
#endif
