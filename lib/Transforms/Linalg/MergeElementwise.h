//===- MergeElementwise.h - Element-wise results made at once ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element-wise fusion leaves two operations where the result of the first one
// is also wanted by itself. Both go through the same elements, so that one
// operation with both results reads the inputs once. They are merged if nothing
// between them may write what they read.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_MERGEELEMENTWISE_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_MERGEELEMENTWISE_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Adds a pattern by which an element-wise operation whose result is wanted by
/// itself, and one that goes on from it, become one with both results.
void populateMergeElementwisePatterns(RewritePatternSet &patterns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_MERGEELEMENTWISE_H
