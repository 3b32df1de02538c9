//===- CooperativeCopies.h - Copies by the whole block ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy is done by the whole block together, or by each thread for itself. The
// block does it if all threads reach it with the same operands (uniformity);
// each thread does it if the operands differ by thread ids or private memory.
// Where a copy of workgroup memory is neither for certain, there is no right
// place for barriers, and it is refused.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_COOPERATIVECOPIES_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_COOPERATIVECOPIES_H

#include "CopyEmitter.h"

namespace mlir::workgroup {

/// Has kernels inside `root` that do not state how many threads a block has say
/// `size`, so that whoever launches them sees it; nothing if that is empty.
/// Fails if a launch contradicts it.
LogicalResult stateBlockSize(Operation *root, ArrayRef<int64_t> size);

/// Decides which of `copies`, inside `root`, the block does together. Takes
/// those out that neither the block nor each thread can do; fails if that is an
/// error.
LogicalResult decideCooperation(std::vector<Copy> &copies, Operation *root,
                                const LowerCopiesOptions &options);

/// Says why `copy` stays.
void reportLeft(const Copy &copy, StringRef why);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_COOPERATIVECOPIES_H
