//===- LinalgClasses.cpp - What kind of work an operation is --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgClasses.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if elements of a tensor come into the body, by its arguments or where
/// it looks them up.
static bool readsTensor(linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()) &&
        op.payloadUsesValueFromOperand(input))
      return true;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.payloadUsesValueFromOperand(&init))
      return true;
  return op->getRegion(0)
      .walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

LinalgClass classify(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return readsTensor(op) ? LinalgClass::Elementwise : LinalgClass::Generator;
  if (linalg::isaContractionOpInterface(op))
    return LinalgClass::Contraction;
  bool isProjected = llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isProjectedPermutation(/*allowZeroInResults=*/true);
  });
  return isProjected ? LinalgClass::Reduction : LinalgClass::Window;
}

StringRef getClassName(LinalgClass kind) {
  switch (kind) {
  case LinalgClass::Generator:
    return "fill";
  case LinalgClass::Elementwise:
    return "elementwise";
  case LinalgClass::Reduction:
    return "reduction";
  case LinalgClass::Contraction:
    return "contraction";
  case LinalgClass::Window:
    return "window";
  }
  llvm_unreachable("unknown class");
}

bool isCopyLike(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  if (op.getNumDpsInits() != 1 || !llvm::hasSingleElement(*body))
    return false;
  auto value = dyn_cast<BlockArgument>(body->getTerminator()->getOperand(0));
  return value && value.getArgNumber() < op.getNumDpsInputs();
}

bool isTensorOp(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && !isInDeviceCode(op);
}

bool isEmpty(linalg::LinalgOp op) {
  return llvm::is_contained(op.getStaticLoopRanges(), 0);
}

linalg::LinalgOp getTensorOp(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  return linalgOp && isTensorOp(linalgOp) ? linalgOp : linalg::LinalgOp();
}

TypedAttr getStart(linalg::LinalgOp op) {
  linalg::LinalgOp start =
      getTensorOp(op.getDpsInitOperand(0)->get().getDefiningOp());
  if (!start || classify(start) != LinalgClass::Generator ||
      start.getNumDpsInits() != 1)
    return {};
  Value value = start.getBlock()->getTerminator()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == start.getBlock())
    value = start.getMatchingOpOperand(argument)->get();
  TypedAttr constant;
  return matchPattern(value, m_Constant(&constant)) ? constant : TypedAttr();
}

/// True if all that the body of `op` does but compute is to assert.
static bool onlyAsserts(linalg::LinalgOp op) {
  return !op->getRegion(0)
              .walk([](Operation *inner) {
                return isMemoryEffectFree(inner) || isa<cf::AssertOp>(inner) ||
                               inner->hasTrait<
                                   OpTrait::HasRecursiveMemoryEffects>()
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool isUnused(Operation *op) {
  linalg::LinalgOp onTensors = getTensorOp(op);
  return isOpTriviallyDead(op) ||
         (onTensors && op->use_empty() && onlyAsserts(onTensors));
}

void eraseUnusedOps(Operation *root) {
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (getTensorOp(op) && isUnused(op))
      op->erase();
  });
}

bool readsAlong(linalg::LinalgOp op, const llvm::SmallBitVector &loops,
                const OpOperand *left) {
  llvm::SmallBitVector open = loops;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (!ShapedType::isDynamic(size))
      open.reset(loop);
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input == left)
      continue;
    for (AffineExpr at : op.getMatchingIndexingMap(input).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(at))
        open.reset(dim.getPosition());
  }
  return open.none();
}

bool isLengthOfSum(OpOperand &operand) {
  auto user = cast<linalg::LinalgOp>(operand.getOwner());
  if (user.isDpsInit(&operand))
    return false;
  SmallVector<utils::IteratorType> iterators = user.getIteratorTypesArray();
  llvm::SmallBitVector sums(user.getNumLoops());
  for (AffineExpr at : user.getMatchingIndexingMap(&operand).getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(at))
      sums[dim.getPosition()] =
          iterators[dim.getPosition()] == utils::IteratorType::reduction;
  return !readsAlong(user, sums, &operand);
}

bool readsAgain(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.payloadUsesValueFromOperand(input))
      maps.push_back(op.getMatchingIndexingMap(input));
  if (maps.size() != 2)
    return false;
  auto isOnlyOf = [&](AffineMap map, AffineMap other) {
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (map.isFunctionOfDim(loop) && !other.isFunctionOfDim(loop))
        return true;
    return false;
  };
  return isOnlyOf(maps[0], maps[1]) && isOnlyOf(maps[1], maps[0]);
}

bool isReadByTerms(linalg::LinalgOp op) {
  LinalgClass kind = classify(op);
  return kind == LinalgClass::Window ||
         (kind == LinalgClass::Contraction && readsAgain(op));
}

/// True if blocks that share out the loops of its owner read a tile of
/// `operand` each, and not all of it.
static bool isReadInTiles(OpOperand &operand) {
  // Who looks an element up, or takes a part, does so wherever it is.
  if (isa<tensor::ExtractOp, tensor::ExtractSliceOp>(operand.getOwner()))
    return false;
  auto user = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  if (!user || user.isDpsInit(&operand))
    return true;
  // A block would keep all that its sums go along.
  if (isReadByTerms(user))
    return false;
  if (user.getNumParallelLoops() == 0)
    return true;
  if (isLengthOfSum(operand))
    return false;
  SmallVector<utils::IteratorType> iterators = user.getIteratorTypesArray();
  auto isParallel = [&](AffineExpr at) {
    auto dim = dyn_cast<AffineDimExpr>(at);
    return !dim ||
           iterators[dim.getPosition()] == utils::IteratorType::parallel;
  };
  ArrayRef<AffineExpr> places =
      user.getMatchingIndexingMap(&operand).getResults();
  // What has several results goes through all of its row, for which a block
  // would keep the row.
  return user->getNumResults() > 1 ? llvm::all_of(places, isParallel)
                                   : llvm::any_of(places, isParallel);
}

bool isReadInTiles(linalg::LinalgOp op) {
  return llvm::all_of(op->getUses(),
                      [](OpOperand &use) { return isReadInTiles(use); });
}

} // namespace mlir::workgroup
