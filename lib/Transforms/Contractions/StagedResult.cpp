//===- StagedResult.cpp - Who uses the result of a contraction ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagedResult.h"
#include "ContractionShape.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

void StagedResult::findInit() {
  for (Operation *op = root->getPrevNode(); op; op = op->getPrevNode()) {
    if (!mayTouch(op))
      continue;
    OpOperand *written = nullptr;
    unsigned numUses = llvm::count_if(op->getOperands(), [&](Value operand) {
      return isa<BaseMemRefType>(operand.getType()) &&
             aliases.mayAlias(operand, view);
    });
    auto fill = dyn_cast<linalg::LinalgOp>(op);
    if (fill && isPointwise(fill) && fill.getNumDpsInits() == 1 &&
        !fill.payloadUsesValueFromOperand(fill.getDpsInitOperand(0)))
      written = fill.getDpsInitOperand(0);
    else if (auto copy = dyn_cast<memref::CopyOp>(op))
      written = &copy.getTargetMutable();
    if (written && numUses == 1 && isWhole(*written))
      init = written;
    return;
  }
}

/// Adds `op` if it uses the view only element by element in order.
bool StagedResult::addSink(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || !isPointwise(op))
    return false;
  SmallVector<OpOperand *> found;
  OpOperand *overwritten = nullptr;
  for (OpOperand &use : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(use.get().getType()) ||
        !aliases.mayAlias(use.get(), view))
      continue;
    if (!isWhole(use) || !op.getMatchingIndexingMap(&use).isPermutation())
      return false;
    if (op.isDpsInit(&use)) {
      if (overwritten)
        return false;
      overwritten = &use;
    } else {
      found.push_back(&use);
    }
  }
  if (overwritten) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    AffineMap map = op.getMatchingIndexingMap(overwritten);
    bool isInOrder = llvm::all_of(found, [&](OpOperand *use) {
      return op.getMatchingIndexingMap(use) == map;
    });
    if (!generic || !isInOrder)
      return false;
    inPlace = generic;
  }
  llvm::append_range(reads, found);
  return true;
}

void StagedResult::findSinks() {
  for (Operation *op = root->getNextNode(); op; op = op->getNextNode()) {
    if (!mayTouch(op))
      continue;
    auto generic = dyn_cast<linalg::LinalgOp>(op);
    if (generic && addSink(generic)) {
      if (inPlace)
        return;
      continue;
    }
    isNeeded = true;
    // What it writes may be what later operations are to read.
    return;
  }
  // Who is not in this block finds it in memory.
  Operation *buffer = getRootBuffer(view).getDefiningOp();
  if (!isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(buffer) ||
      buffer->getBlock() != root->getBlock())
    isNeeded = true;
}

void StagedResult::analyze() {
  findInit();
  findSinks();
}

//===----------------------------------------------------------------------===//
// Redirection
//===----------------------------------------------------------------------===//

/// Has the operation that overwrites the view read `part` where it read what
/// the view held.
void StagedResult::replaceInPlace(RewriterBase &rewriter, Value part) {
  OpOperand *output = nullptr;
  for (OpOperand &init : inPlace.getDpsInitsMutable())
    if (isWhole(init))
      output = &init;
  if (!inPlace.payloadUsesValueFromOperand(output))
    return;
  SmallVector<Value> inputs(inPlace.getInputs());
  SmallVector<AffineMap> maps = inPlace.getIndexingMapsArray();
  AffineMap map = inPlace.getMatchingIndexingMap(output);
  unsigned place = inputs.size();
  inputs.push_back(part);
  maps.insert(maps.begin() + place, map);
  rewriter.setInsertionPoint(inPlace);
  auto changed = linalg::GenericOp::create(
      rewriter, inPlace.getLoc(), inPlace.getResultTypes(), inputs,
      inPlace.getOutputs(), maps, inPlace.getIteratorTypesArray());
  Block *from = inPlace.getBody();
  BlockArgument old = inPlace.getMatchingBlockArgument(output);
  IRMapping mapping;
  Block *body = rewriter.createBlock(&changed.getRegion());
  for (auto [i, argument] : llvm::enumerate(from->getArguments())) {
    if (i == place)
      body->addArgument(old.getType(), old.getLoc());
    mapping.map(argument,
                body->addArgument(argument.getType(), argument.getLoc()));
  }
  mapping.map(old, body->getArgument(place));
  for (Operation &op : *from)
    rewriter.clone(op, mapping);
  rewriter.eraseOp(inPlace);
  inPlace = changed;
}

/// True if `init` writes the same constant everywhere, padding included.
static bool isConstantFill(OpOperand *init) {
  auto fill = dyn_cast<linalg::LinalgOp>(init->getOwner());
  return fill && llvm::none_of(fill.getDpsInputs(), [](Value input) {
           return isa<MemRefType>(input.getType());
         });
}

bool StagedResult::isKept() const {
  return init && isConstantFill(init) && (isNeeded || inPlace);
}

/// Has updates change what is in `part`.
void StagedResult::redirectUpdates(RewriterBase &rewriter, Value part) {
  for (OpOperand *update : updates)
    rewriter.modifyOpInPlace(update->getOwner(), [&] {
      for (OpOperand &use : update->getOwner()->getOpOperands())
        if (isa<BaseMemRefType>(use.get().getType()) && isWhole(use))
          use.set(part);
    });
}

Value StagedResult::redirectTo(RewriterBase &rewriter, Value tile,
                               function_ref<Value()> make) {
  rewriter.setInsertionPoint(init->getOwner());
  Value buffer = make();
  rewriter.modifyOpInPlace(init->getOwner(), [&] { init->set(buffer); });
  rewriter.setInsertionPointAfter(root);
  memref::CopyOp::create(rewriter, root->getLoc(), buffer, tile);
  return buffer;
}

Value StagedResult::redirect(RewriterBase &rewriter, bool isPadded,
                             function_ref<Value()> make) {
  Location loc = root->getLoc();
  rewriter.setInsertionPoint(init ? init->getOwner() : root);
  Value buffer = make();
  // The elements of the view; the others are padding.
  Value part = buffer;
  if (isPadded) {
    int64_t rank = cast<MemRefType>(view.getType()).getRank();
    SmallVector<OpFoldResult> zeros(rank, rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1)), sizes;
    for (int64_t dim = 0; dim < rank; ++dim)
      sizes.push_back(getExtent(rewriter, loc, init ? init->get() : view, dim));
    part = memref::SubViewOp::create(rewriter, loc, buffer, zeros, sizes, ones);
  }
  if (init) {
    // A constant may as well go to the padding, which is never used.
    bool isConstant = isConstantFill(init);
    rewriter.modifyOpInPlace(init->getOwner(),
                             [&] { init->set(isConstant ? buffer : part); });
  } else {
    rewriter.setInsertionPoint(root);
    memref::CopyOp::create(rewriter, loc, view, part);
  }

  if (isNeeded) {
    rewriter.setInsertionPointAfter(root);
    memref::CopyOp::create(rewriter, loc, part, view);
  }
  for (OpOperand *read : reads)
    rewriter.modifyOpInPlace(read->getOwner(), [&] { read->set(part); });
  redirectUpdates(rewriter, part);
  if (inPlace)
    replaceInPlace(rewriter, part);
  return buffer;
}

} // namespace mlir::workgroup
