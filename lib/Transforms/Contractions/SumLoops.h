//===- SumLoops.h - Loops that go on adding ---------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops around a contraction whose iterations add to the same result: a sum
// is done in steps.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_SUMLOOPS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_SUMLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

/// True if `value` is defined outside of `loop`, or is what pure operations in
/// it compute from such values alone.
bool isLoopInvariant(Value value, scf::ForOp loop);

/// Moves what is the same in all iterations of the loops from `op` up to `root`
/// before them: the result is to be known there.
void hoistInvariants(Operation *op, Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_SUMLOOPS_H
