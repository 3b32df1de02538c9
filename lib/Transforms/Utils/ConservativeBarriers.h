//===- ConservativeBarriers.h - Barriers next to what needs them *- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conservative barriers that a rewrite needs for itself. They are not
// placed where one stands already with nothing but address arithmetic between,
// nor where a kernel begins or ends.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_CONSERVATIVEBARRIERS_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_CONSERVATIVEBARRIERS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// True if all that precedes `op` in its kernel is not ordered before `op` yet
/// by a barrier next to it.
bool needsBarrierBefore(Operation *op);

/// Orders all that precedes `op` in its kernel before `op` and all that
/// follows. `op` must be a block-uniform point. Returns true if a barrier was
/// created.
bool insertBarrierBefore(RewriterBase &rewriter, Operation *op);

/// Orders `op` and all that precedes it before all that follows. `op` must be a
/// block-uniform point. Returns true if a barrier was created.
bool insertBarrierAfter(RewriterBase &rewriter, Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_CONSERVATIVEBARRIERS_H
