//===- LoopCopies.h - What moving copies of a loop takes --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy in a loop may be done in another iteration, or before the loop, if its
// operands can be computed there and if nothing that the loop does would be
// seen in its source.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_LOOPCOPIES_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_LOOPCOPIES_H

#include "MemoryAccesses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

/// The operations of a loop's body that compute some value, each after those
/// that it takes values from.
using LoopSlice = llvm::SetVector<Operation *>;

/// Adds to `slice` what computes `value` in the body of `loop`: operations
/// without side effects, and `allocation` if it is not null, from the induction
/// variable and from values that are the same in all iterations. False if there
/// is anything else, or too much.
bool addToSlice(Value value, scf::ForOp loop, LoopSlice &slice,
                Operation *allocation = nullptr, unsigned depth = 0);

/// The reason why `writes`, of a loop, forbid to read `source` in an earlier
/// iteration than the program does, with the operation in the way; empty if
/// they do not.
std::string getObstacleToReadAhead(const GlobalWrites &writes, Value source,
                                   const ArgumentAliases &aliases);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_LOOPCOPIES_H
