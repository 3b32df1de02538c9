//===- VectorBody.cpp - Bodies of structured operations on vectors --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalars and vectors that an operation of a body has for operands, and what it
// becomes of them.
//
//===----------------------------------------------------------------------===//

#include "VectorBody.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::workgroup {

Value widen(RewriterBase &rewriter, Location loc, Value value, int64_t length) {
  if (isa<VectorType>(value.getType()))
    return value;
  // Of an element of a vector one operation, where it takes LLVM three.
  auto element = value.getDefiningOp<vector::ExtractOp>();
  if (element && !element.hasDynamicPosition() &&
      element.getSourceVectorType().getRank() == 1) {
    SmallVector<int64_t> places(length, element.getStaticPosition().front());
    return vector::ShuffleOp::create(rewriter, loc, element.getSource(),
                                     element.getSource(), places);
  }
  return vector::BroadcastOp::create(
      rewriter, loc, VectorType::get({length}, value.getType()), value);
}

void cloneOnVectors(RewriterBase &rewriter, Operation &op, IRMapping &mapping,
                    int64_t length) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(mapping.lookupOrDefault(operand));
  bool isOnVectors = llvm::any_of(operands, [](Value operand) {
    return isa<VectorType>(operand.getType());
  });
  if (isOnVectors)
    for (Value &operand : operands)
      operand = widen(rewriter, op.getLoc(), operand, length);
  Operation *done = rewriter.clone(op);
  done->setOperands(operands);
  Value result = done->getResult(0);
  if (isOnVectors)
    result.setType(VectorType::get({length}, result.getType()));
  mapping.map(op.getResult(0), result);
}

} // namespace mlir::workgroup
