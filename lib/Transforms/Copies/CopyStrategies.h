//===- CopyStrategies.h - By what copies are done ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine of a copy from global to workgroup memory: loads and stores
// through registers, `cp.async`, or TMA. Which are possible follows from the
// chip, from the memory of both sides, and from whether the block does the copy
// together and converts elements; the option of the pass says which is wanted.
// Alignment decides later, when the copy is emitted. In a loop that leaves
// groups of copies pending there is no other `cp.async`, as waits would also
// wait for the pending ones.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_COPYSTRATEGIES_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_COPYSTRATEGIES_H

#include "Copy.h"
#include "workgroup/Transforms/Copies.h"

namespace mlir::workgroup {

/// Decides which of `copies`, inside `root`, may be asynchronous, and by what.
LogicalResult decideStrategy(MutableArrayRef<Copy> copies, Operation *root,
                             const LowerCopiesOptions &options);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_COPYSTRATEGIES_H
