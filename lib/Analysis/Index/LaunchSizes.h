//===- LaunchSizes.h - What is known of a block and of its grid -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many threads a block has along x, y and z, and how many blocks the grid:
// from attributes of the kernel, from the launches in sight, or from the kernel
// itself. Whoever never asks for `thread_id y` does not differ along y.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_LAUNCHSIZES_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_LAUNCHSIZES_H

#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The sizes of the block and of the grid of one kernel.
struct LaunchSizes {
  LaunchSizes(Operation *scope, const ArgumentAliases &arguments);

  BlockShape shape;
  /// The number of blocks along x, y and z, where known.
  std::array<std::optional<int64_t>, 3> grid;
  /// The most that launches in sight pass, where they differ.
  std::array<std::optional<int64_t>, 3> mostThreads, mostBlocks;

private:
  void addLaunched(ArrayRef<gpu::LaunchFuncOp> launches, unsigned dim);
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_LAUNCHSIZES_H
