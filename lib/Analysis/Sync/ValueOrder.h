//===- ValueOrder.h - Writes of what was made of reads ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix operations take the values of all lanes of a warp at once. What is
// stored of their results comes after the reads of their operands, by whichever
// lane, though no barrier is between: a value cannot be there before what it is
// made of. A store of anything else may come before such a read.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_VALUEORDER_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_VALUEORDER_H

#include "Analysis/Conflict/PairRelation.h"

namespace mlir::workgroup {

/// True if all lanes of a warp have what they read by `read` before any of them
/// writes by `write`: a matrix operation took the one, and its result is stored
/// by the other. Says no where that is not certain, as where what is between
/// could be simplified to something that is made of less.
bool isMadeOfRead(Operation *read, Operation *write);

/// True if lanes of a warp load or store one matrix by both, in iterations as
/// `relation` has them: whose an element is, the same lane has it each time.
bool areOfSameFragment(Operation *first, Operation *second,
                       const PairRelation &relation);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_VALUEORDER_H
