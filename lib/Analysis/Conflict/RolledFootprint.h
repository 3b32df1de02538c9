//===- RolledFootprint.h - Copies of an access as one -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unrolling makes many accesses of one, at places that differ by constants and,
// where tiles are ragged, each in a condition of its own:
//
//   place 1000 * row + 0, + 8, + 16, ...  where row + 0, + 8, + 16, ... < 1000
//
// Rolled up again, with a number for the copy, they are one access:
//
//   place 1000 * (row + 8 * copy), where row + 8 * copy < 1000
//
// What this does not touch none of them does: one question for all.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_ROLLEDFOOTPRINT_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_ROLLEDFOOTPRINT_H

#include "Analysis/Index/SymbolicIndex.h"
#include "SymbolicFootprint.h"

namespace mlir::workgroup {

/// A footprint that contains `copies`, which differ by the constants of their
/// places and by their conditions only; nothing if they are too far apart.
std::optional<SymbolicFootprint>
rollUp(SymbolicIndex &index, ArrayRef<const SymbolicFootprint *> copies);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_ROLLEDFOOTPRINT_H
