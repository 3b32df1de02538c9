//===- PrivateCopies.h - What a thread copies to multiply it ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule may copy what a thread multiplies to memory of the thread, the
// copy nearest to the core. On a GPU that is registers, which are loaded in the
// course of the products: the contraction reads what was copied where it is.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PRIVATECOPIES_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PRIVATECOPIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/ArgumentAliases.h"

namespace mlir::workgroup {

/// Has a contraction use the memory that private buffers are copies of: for
/// operands that are copied before it, and for a result that is copied before
/// it and back behind it. Returns the contraction, which is another operation
/// where a copy transposes, and counts what is gone in `numForwarded`.
linalg::LinalgOp forwardPrivateCopies(RewriterBase &rewriter,
                                      linalg::LinalgOp op,
                                      const ArgumentAliases &aliases,
                                      unsigned &numForwarded);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PRIVATECOPIES_H
