//===- LaunchLimits.h - What GPUs take of a launch --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same on every supported chip (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TARGET_LAUNCHLIMITS_H
#define WORKGROUP_TARGET_LAUNCHLIMITS_H

#include <array>
#include <cstdint>

namespace mlir::workgroup {

/// The most threads of a block, and along x, y and z.
constexpr int64_t kMaxBlockThreads = 1024;
constexpr std::array<int64_t, 3> kMaxBlockSizes = {1024, 1024, 64};

/// The most blocks of a grid along x, y and z.
constexpr std::array<int64_t, 3> kMaxGridSizes = {INT32_MAX, 65535, 65535};

/// The most blocks of a cluster, on chips that have clusters. All of them take
/// eight; some take twice as many if the host asks the driver for it.
constexpr int64_t kMaxClusterBlocks = 16;

/// Largest static workgroup memory of a block in bytes; more has to be dynamic,
/// and the driver is asked for it.
constexpr int64_t kMaxStaticWorkgroupBytes = 49152;

} // namespace mlir::workgroup

#endif // WORKGROUP_TARGET_LAUNCHLIMITS_H
