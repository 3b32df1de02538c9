//===- FilledCopies.cpp - Copies of what was just filled ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FilledCopies.h"
#include "CopyShape.h"
#include "MemoryAccesses.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

namespace {

/// What an operation, and what is in it, may do to a buffer.
struct Touch {
  bool reads = false, writes = false;
};

} // namespace

static Touch getTouch(Operation *op, Value buffer,
                      const ArgumentAliases &aliases) {
  Touch touch;
  op->walk([&](Operation *inner) {
    std::optional<Accesses> accesses = getAccesses(inner);
    auto isBuffer = [&](Value memref) {
      return aliases.mayAlias(memref, buffer);
    };
    bool isFreed = isa<memref::AllocOp, memref::DeallocOp>(inner);
    touch.reads |= !accesses || llvm::any_of(accesses->read, isBuffer);
    touch.writes |=
        !accesses || (!isFreed && llvm::any_of(accesses->written, isBuffer));
  });
  return touch;
}

/// True if both are the same elements: one value, or views by equal operations.
static bool areSameView(Value lhs, Value rhs) {
  if (lhs == rhs)
    return true;
  auto left = lhs.getDefiningOp<memref::SubViewOp>();
  auto right = rhs.getDefiningOp<memref::SubViewOp>();
  return left && right &&
         OperationEquivalence::isEquivalentTo(
             left, right, OperationEquivalence::IgnoreLocations);
}

/// The fill of all of `memref` that is the last write to it before `op`, in its
/// block; null if that is something else.
static linalg::FillOp findFill(Operation *op, Value memref,
                               const ArgumentAliases &aliases) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (!getTouch(before, memref, aliases).writes)
      continue;
    auto fill = dyn_cast<linalg::FillOp>(before);
    return fill && fill.hasPureBufferSemantics() ? fill : linalg::FillOp();
  }
  return {};
}

static bool isViewOf(Value view, Value whole) {
  while (!areSameView(view, whole)) {
    Operation *op = view.getDefiningOp();
    Value source = op ? getViewSource(op) : Value();
    if (!source)
      return false;
    view = source;
  }
  return true;
}

/// True if `fill` puts into its buffer what is there already.
static bool isRepeated(linalg::FillOp fill, const ArgumentAliases &aliases) {
  Value target = fill.getOutputs().front();
  linalg::FillOp before = findFill(fill, target, aliases);
  return before && isViewOf(target, before.getOutputs().front()) &&
         before.getInputs().front() == fill.getInputs().front();
}

/// True if, behind `fill`, all of what it fills is overwritten before anybody
/// reads it.
static bool isDead(linalg::FillOp fill, const ArgumentAliases &aliases) {
  Value target = fill.getOutputs().front();
  for (Operation *after = fill->getNextNode(); after;
       after = after->getNextNode()) {
    Touch touch = getTouch(after, target, aliases);
    if (!touch.reads && !touch.writes)
      continue;
    std::optional<CopyOperands> copy = getCopyOperands(after);
    return copy && !touch.reads && areSameView(copy->target, target);
  }
  return false;
}

/// Makes a fill of the copy `op` if its source was filled.
static void forward(RewriterBase &rewriter, Operation *op,
                    const ArgumentAliases &aliases) {
  std::optional<CopyOperands> copy = getCopyOperands(op);
  if (!copy ||
      getElementTypeOrSelf(copy->source) != getElementTypeOrSelf(copy->target))
    return;
  linalg::FillOp fill = findFill(op, copy->source, aliases);
  if (!fill || !isViewOf(copy->source, fill.getOutputs().front()))
    return;
  recordRemark(RemarkId::HoistCopies_FilledCopy, op)
      << "copy of what was filled became a fill";
  rewriter.setInsertionPoint(op);
  linalg::FillOp::create(rewriter, op->getLoc(), fill.getInputs().front(),
                         copy->target);
  rewriter.eraseOp(op);
}

void forwardFills(RewriterBase &rewriter, Operation *scope,
                  const ArgumentAliases &aliases) {
  SmallVector<Operation *> copies;
  SmallVector<linalg::FillOp> fills;
  bool hasFills = false;
  scope->walk([&](Operation *op) {
    hasFills |= isa<linalg::FillOp>(op);
    if (isa<memref::CopyOp, linalg::CopyOp>(op))
      copies.push_back(op);
  });
  if (!hasFills)
    return;
  for (Operation *copy : copies)
    forward(rewriter, copy, aliases);
  scope->walk([&](linalg::FillOp fill) { fills.push_back(fill); });
  for (linalg::FillOp fill : fills)
    if (fill.hasPureBufferSemantics() &&
        (isRepeated(fill, aliases) || isDead(fill, aliases)))
      rewriter.eraseOp(fill);
}

} // namespace mlir::workgroup
