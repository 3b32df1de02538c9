//===- CarriedValues.h - Values handed through loops ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation cannot get further results, so that a loop or a branch that is
// to carry more values is replaced by a new one. That takes over the old
// regions; values inside stay valid, and only the old results have to be
// replaced.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_CARRIEDVALUES_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_CARRIEDVALUES_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// `loop` with further values that it carries, which it yields as they are;
/// they are its last ones.
scf::ForOp addCarriedValues(RewriterBase &rewriter, scf::ForOp loop,
                            ValueRange initial);

/// Lets `loop` yield `values` as its last ones.
void yieldLast(RewriterBase &rewriter, scf::ForOp loop, ValueRange values);

/// `branch` with further results, its last ones, which are `values` in either
/// case.
scf::IfOp addResults(RewriterBase &rewriter, scf::IfOp branch,
                     ValueRange values);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_CARRIEDVALUES_H
