//===- WarpGroups.h - Where whole warp groups are together ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four warps of which the first has a number divisible by four execute some
// operations together. Branches that other groups take are no matter to them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_VERIFY_WARPGROUPS_H
#define WORKGROUP_LIB_TRANSFORMS_VERIFY_WARPGROUPS_H

#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

constexpr int64_t kWarpGroupThreads = 128;

/// True if a branch around `op` that threads of the block part at lets whole
/// warp groups through, the first ones or those behind them, and all else
/// around it is the same for all threads.
bool isOfWholeGroups(Operation *op, const UniformityAnalysis &uniformity);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_VERIFY_WARPGROUPS_H
