//===- SplitReduction.h - Sums that several blocks share --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel with few results, and long sums, is as slow as the few blocks that
// its results are shared out to. Its sum can be split: a loop over blocks makes
// partial sums, a tensor of them goes to another one, which puts them together
// and does the rest of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_SPLITREDUCTION_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_SPLITREDUCTION_H

#include "KernelGroups.h"

namespace mlir::workgroup {

/// The reduction of `group` that blocks can share; null if there is not just
/// one, or if what it is made from is a result of the kernel, too.
linalg::LinalgOp getSplittable(const KernelGroup &group);

/// Makes a loop over blocks that each do `sizes` of the loops of `op` (0 for
/// all), along with the operations that it reads from. The operation that
/// combines their results takes the place of `op`, with loops of the same
/// number and kinds.
LogicalResult splitReduction(RewriterBase &rewriter, linalg::LinalgOp op,
                             ArrayRef<int64_t> sizes);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_SPLITREDUCTION_H
