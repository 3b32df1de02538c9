//===- ProductBody.cpp - What a contraction makes of elements -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which operands an operation depends on is the union of what its own operands
// do.
//
//===----------------------------------------------------------------------===//

#include "ProductBody.h"
#include "VectorBody.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::workgroup {

ProductBody::ProductBody(Contraction &contraction) : contraction(contraction) {
  enum { kLhs = 1, kRhs = 2, kSum = 4 };
  Block &body = *contraction.op.getBlock();
  DenseMap<Value, unsigned> uses;
  uses[getElement(contraction.lhs)] |= kLhs;
  uses[getElement(contraction.rhs)] |= kRhs;
  uses[body.getArguments().back()] |= kSum;
  for (Operation &op : body.without_terminator()) {
    unsigned used = 0;
    for (Value operand : op.getOperands())
      used |= uses.lookup(operand);
    uses[op.getResult(0)] = used;
    if (used == kLhs)
      ofLhs.push_back(&op);
    else if (used == kRhs)
      ofRhs.push_back(&op);
    else if (used != 0)
      ofBoth.push_back(&op);
  }
}

IRMapping ProductBody::computeShared(RewriterBase &rewriter) {
  IRMapping shared;
  linalg::LinalgOp op = contraction.op;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input == contraction.lhs || input == contraction.rhs)
      continue;
    Value value = input->get();
    if (isa<MemRefType>(value.getType()))
      value = memref::LoadOp::create(rewriter, op.getLoc(), value);
    shared.map(op.getMatchingBlockArgument(input), value);
  }
  auto depends = [&](Operation &inner) {
    return llvm::is_contained(ofLhs, &inner) ||
           llvm::is_contained(ofRhs, &inner) ||
           llvm::is_contained(ofBoth, &inner);
  };
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!depends(inner))
      cloneOnVectors(rewriter, inner, shared, /*length=*/1);
  return shared;
}

} // namespace mlir::workgroup
