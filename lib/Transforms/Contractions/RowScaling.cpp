//===- RowScaling.cpp - Elements times a factor for each row --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain that goes through columns scales its sums by the weight of what was
// the largest element of the row before, which is one unless there is a larger
// one: rarely, behind the first columns. A warp asks whether any of its rows
// has another factor. Times one, all numbers are what they were, and NaN is
// NaN.
//
//===----------------------------------------------------------------------===//

#include "RegisterChainEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::workgroup {

OpOperand *findRowFactor(const RegisterChain &chain, linalg::LinalgOp op) {
  Block *body = op.getBlock();
  auto product = dyn_cast<arith::MulFOp>(body->front());
  OpOperand *output = op.getDpsInitOperand(0);
  if (!product || body->getTerminator()->getOperand(0) != product.getResult())
    return nullptr;
  for (auto [value, other] : {std::pair(product.getLhs(), product.getRhs()),
                              std::pair(product.getRhs(), product.getLhs())}) {
    auto factor = dyn_cast<BlockArgument>(other);
    if (value != op.getMatchingBlockArgument(output) || !factor ||
        factor.getOwner() != body || factor == value)
      continue;
    OpOperand *operand = op.getMatchingOpOperand(factor);
    Value buffer = chain.getBuffer(operand->get());
    if (buffer && chain.isOfRows(buffer))
      return operand;
  }
  return nullptr;
}

bool usesBuffer(const RegisterChain &chain, Operation *op, Value buffer) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return chain.getBuffer(operand) == buffer;
  });
}

/// `first`, which multiplies by a factor for each row, and those behind it that
/// do so by the same one, and could as well be here.
SmallVector<linalg::LinalgOp>
RegisterChainEmitter::findScalings(linalg::LinalgOp first) const {
  SmallVector<linalg::LinalgOp> found(1, first);
  OpOperand *factor = findRowFactor(chain, first);
  Value factors = chain.getBuffer(factor->get());
  SmallVector<Operation *> between;
  for (Operation *op :
       llvm::make_range(llvm::find(chain.ops, first) + 1, chain.ops.end())) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (op->getBlock() != first->getBlock())
      break;
    OpOperand *other = structured ? findRowFactor(chain, structured) : nullptr;
    bool isSame = other && chain.getBuffer(other->get()) == factors;
    bool isWritten =
        structured && chain.getBuffer(structured.getDpsInits()[0]) == factors;
    if (isWritten)
      break;
    if (isSame && llvm::none_of(between, [&](Operation *before) {
          return usesBuffer(chain, before,
                            chain.getBuffer(structured.getDpsInits()[0]));
        }))
      found.push_back(structured);
    else
      between.push_back(op);
  }
  return found;
}

/// Whether one of the `factors` of a warp's rows is another number than one.
Value RegisterChainEmitter::differsFromOne(Value factors) {
  Location loc = factors.getLoc();
  // A power is one if the exponent is zero.
  SmallVector<Value> values = exponents.lookup(factors);
  bool isPower = !values.empty();
  if (!isPower)
    values = registers.lookup(factors);
  Value result;
  for (Value value : values) {
    Value usual = arith::ConstantOp::create(
        rewriter, loc, rewriter.getFloatAttr(value.getType(), !isPower));
    Value isOther = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::UNE, value, usual);
    result =
        result
            ? arith::OrIOp::create(rewriter, loc, result, isOther).getResult()
            : isOther;
  }
  Value all =
      arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(-1));
  return NVVM::VoteSyncOp::create(rewriter, loc, rewriter.getI1Type(), all,
                                  result, NVVM::VoteSyncKind::any);
}

/// Does `ops`, which multiply by the same factors. Where these are one for all
/// rows of a warp, as where none has a larger element than before, nothing is
/// multiplied.
void RegisterChainEmitter::scale(ArrayRef<linalg::LinalgOp> ops) {
  auto getTarget = [&](linalg::LinalgOp op) {
    return chain.getBuffer(op.getDpsInits()[0]);
  };
  SmallVector<Value> before, after;
  for (linalg::LinalgOp op : ops)
    llvm::append_range(before, registers.find(getTarget(op))->second);
  linalg::LinalgOp first = ops.front();
  Value factors = chain.getBuffer(findRowFactor(chain, first)->get());
  auto branch =
      scf::IfOp::create(rewriter, first.getLoc(), ValueRange(before).getTypes(),
                        differsFromOne(factors), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, first.getLoc(), before);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    for (linalg::LinalgOp op : ops)
      llvm::append_range(after, chain.isOfRows(getTarget(op))
                                    ? makeRows(op)
                                    : makeElements(op));
    scf::YieldOp::create(rewriter, first.getLoc(), after);
  }
  ValueRange results = branch.getResults();
  for (linalg::LinalgOp op : ops) {
    done.insert(op);
    for (Value &value : registers[getTarget(op)]) {
      value = results.front();
      results = results.drop_front();
    }
  }
}

} // namespace mlir::workgroup
