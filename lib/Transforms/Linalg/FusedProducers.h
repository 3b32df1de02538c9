//===- FusedProducers.h - What goes into the body of its user ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element-wise operation goes into the body of its user where it is computed
// no more often by that. Into products of matrices and convolutions, which read
// an element for many results, go copies and casts that change no value: the
// narrow tensor is what is read again, and what tensor cores multiply.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_FUSEDPRODUCERS_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_FUSEDPRODUCERS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// True if the producer of `use` goes into the body of its user.
bool isFusedIntoUser(OpOperand *use);

/// Patterns that reshape a tensor before a widening cast instead of behind it,
/// where a contraction reads that: the cast can go into it then.
void populateReshapeOfCastPatterns(RewritePatternSet &patterns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_FUSEDPRODUCERS_H
