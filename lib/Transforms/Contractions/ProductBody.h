//===- ProductBody.h - What a contraction makes of elements -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of a contraction's body by the operands that they depend on.
// Of `sum[i, j] += f(lhs[i, k]) * rhs[k, j]`, `f` is of one operand, product
// and sum are of both.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PRODUCTBODY_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PRODUCTBODY_H

#include "ContractionShape.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

struct ProductBody {
  explicit ProductBody(Contraction &contraction);

  /// The element of `operand`, one of the two factors, in the body.
  Value getElement(OpOperand *operand) {
    return contraction.op.getMatchingBlockArgument(operand);
  }

  /// Computes, where `rewriter` stands, the values of the body that are the
  /// same for all elements.
  IRMapping computeShared(RewriterBase &rewriter);

  Contraction &contraction;
  /// What is done with one operand only, and with both.
  SmallVector<Operation *> ofLhs, ofRhs, ofBoth;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PRODUCTBODY_H
