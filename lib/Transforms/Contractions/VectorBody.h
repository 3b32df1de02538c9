//===- VectorBody.h - Bodies of structured operations on vectors *- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a body of a structured operation says of one element is done on vectors
// of several: of `%p = arith.mulf %a, %b`, where `%a` is a vector of 4 elements
// and `%b` a scalar, `%b` is broadcast and `%p` a vector of 4 elements. What
// only has scalars for operands stays scalar.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_VECTORBODY_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_VECTORBODY_H

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// `value`, if it is a scalar, in each of `length` elements of a vector.
Value widen(RewriterBase &rewriter, Location loc, Value value, int64_t length);

/// Does `op`, of a body, on what `mapping` has for its operands, and adds its
/// result to that: on vectors of `length` elements if any operand is one.
void cloneOnVectors(RewriterBase &rewriter, Operation &op, IRMapping &mapping,
                    int64_t length);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_VECTORBODY_H
