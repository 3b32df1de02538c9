//===- IncomingValues.h - Where joined values come from ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments of blocks and results of loops and branches are what one of several
// operations hands on: which ones, whether branches or ends of regions.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_SUPPORT_INCOMINGVALUES_H
#define WORKGROUP_LIB_SUPPORT_INCOMINGVALUES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::workgroup {

/// The value that a join of paths has on one path to it.
struct IncomingValue {
  /// The operation that hands it on, and by which of its successors.
  Operation *op;
  unsigned successor;
  /// Null if that operation does not tell.
  Value value;
};

/// The value of `argument` of a block on all paths from the blocks of which
/// `isFrom` holds; null if they do not forward the same, or do not tell. If
/// these are all paths, the argument is that value, wherever it is used.
Value getCommonIncoming(
    BlockArgument argument,
    llvm::function_ref<bool(Block *)> isFrom = [](Block *) { return true; });

/// Looks up what values are on the paths to them. Each operation with regions
/// is asked once, so the IR must not change in between.
class IncomingValues {
public:
  /// The values of `value` on each path to it; empty if it is no join of paths,
  /// or is forwarded by what does not tell its paths.
  SmallVector<IncomingValue, 2> get(Value value);

private:
  DenseMap<Value, SmallVector<IncomingValue, 2>> ofRegions;
  DenseSet<Operation *> visited;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_SUPPORT_INCOMINGVALUES_H
