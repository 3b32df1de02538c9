//===- CopyStrategies.h - By what copies are done ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
