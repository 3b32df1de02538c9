//===- AlignedFills.h - Fills shared out as their readers are ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block fills a tile; then the threads, or warps, of a loop each add to a
// slice of it. If the slices make up the tile, each may as well fill its own:
// nobody has to wait, and what is filled need not be in memory.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LOOPS_ALIGNEDFILLS_H
#define WORKGROUP_LIB_TRANSFORMS_LOOPS_ALIGNEDFILLS_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// Puts fills of blocks inside `root` into loops like those that add to what
/// they fill. True if there was one.
bool alignFills(Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LOOPS_ALIGNEDFILLS_H
