//===- StagedResult.cpp - Who uses the result of a contraction ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagedResult.h"
#include "Analysis/Program/OpEffects.h"
#include "ContractionShape.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

OpFoldResult getExtent(OpBuilder &builder, Location loc, Value memref,
                       int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  if (auto part = memref.getDefiningOp<memref::SubViewOp>())
    if (part.getType().getRank() == part.getSourceType().getRank())
      return part.getMixedSizes()[dim];
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return alloc.getMixedSizes()[dim];
  return memref::getMixedSize(builder, loc, memref, dim);
}

/// The extents of `memref`, as far as they are values or constants already.
static SmallVector<OpFoldResult> getKnownExtents(Value memref) {
  Builder builder(memref.getContext());
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return alloc.getMixedSizes();
  auto part = memref.getDefiningOp<memref::SubViewOp>();
  if (part && part.getType().getRank() == part.getSourceType().getRank())
    return part.getMixedSizes();
  SmallVector<OpFoldResult> extents;
  for (int64_t extent : cast<MemRefType>(memref.getType()).getShape())
    extents.push_back(ShapedType::isDynamic(extent)
                          ? OpFoldResult()
                          : OpFoldResult(builder.getIndexAttr(extent)));
  return extents;
}

/// True if both values are computed in the same way from the same ones.
static bool isSameComputation(Value lhs, Value rhs, unsigned depth = 0) {
  constexpr unsigned kMaxDepth = 8;
  if (lhs == rhs)
    return true;
  Operation *left = lhs.getDefiningOp(), *right = rhs.getDefiningOp();
  if (!left || !right || left->getNumRegions() != 0 || depth == kMaxDepth ||
      left->getName() != right->getName() || !isPure(left) ||
      left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getNumResults() != 1 ||
      left->getResultTypes() != right->getResultTypes() ||
      left->getNumOperands() != right->getNumOperands())
    return false;
  return llvm::all_of(
      llvm::zip_equal(left->getOperands(), right->getOperands()),
      [&](auto pair) {
        return isSameComputation(std::get<0>(pair), std::get<1>(pair),
                                 depth + 1);
      });
}

static bool areEqual(ArrayRef<OpFoldResult> lhs, ArrayRef<OpFoldResult> rhs) {
  return lhs.size() == rhs.size() &&
         llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           auto [left, right] = pair;
           if (!left || !right)
             return false;
           auto a = dyn_cast<Value>(left), b = dyn_cast<Value>(right);
           return isEqualConstantIntOrValue(left, right) ||
                  (a && b && isSameComputation(a, b));
         });
}

/// What `view` is all of, in the same order.
static Value skipWholeViews(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      if (!isa<MemRefType>(cast.getSource().getType()))
        break;
      view = cast.getSource();
      continue;
    }
    auto part = dyn_cast<memref::SubViewOp>(op);
    if (!part || part.getType().getRank() != part.getSourceType().getRank() ||
        !areAllConstantIntValue(part.getMixedOffsets(), 0) ||
        !areAllConstantIntValue(part.getMixedStrides(), 1) ||
        !areEqual(part.getMixedSizes(), getKnownExtents(part.getSource())))
      break;
    view = part.getSource();
  }
  return view;
}

bool isSameView(Value lhs, Value rhs) {
  lhs = skipWholeViews(lhs);
  rhs = skipWholeViews(rhs);
  if (lhs == rhs)
    return true;
  auto left = lhs.getDefiningOp<memref::SubViewOp>();
  auto right = rhs.getDefiningOp<memref::SubViewOp>();
  return left && right && left.getType() == right.getType() &&
         isSameView(left.getSource(), right.getSource()) &&
         areEqual(left.getMixedOffsets(), right.getMixedOffsets()) &&
         areEqual(left.getMixedSizes(), right.getMixedSizes()) &&
         areEqual(left.getMixedStrides(), right.getMixedStrides());
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

/// True if `op` itself may write `memref` or, unless `onlyWrites`, read it.
static bool mayAccess(Operation *op, Value memref,
                      const ArgumentAliases &aliases, bool onlyWrites) {
  auto mayAlias = [&](Value other) {
    return isa<BaseMemRefType>(other.getType()) &&
           aliases.mayAlias(other, memref);
  };
  // What a group of asynchronous copies accesses, its copies tell.
  if (std::optional<AsyncGroup> group = getAsyncGroup(op);
      group && !group->isWhole)
    return false;
  if (std::optional<Accesses> accesses = getAccesses(op))
    return llvm::any_of(accesses->written, mayAlias) ||
           (!onlyWrites && llvm::any_of(accesses->read, mayAlias));
  bool isKnown = isa<MemoryEffectOpInterface>(op) ||
                 op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  return !isKnown || llvm::any_of(op->getOperands(), mayAlias);
}

static bool mayAccessInside(Operation *op, Value memref,
                            const ArgumentAliases &aliases, bool onlyWrites,
                            Operation *except) {
  WalkResult result = op->walk([&](Operation *inner) {
    bool isHarmless =
        inner == except || isMemoryEffectFree(inner) ||
        isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(inner) ||
        !mayAccess(inner, memref, aliases, onlyWrites);
    return isHarmless ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted();
}

bool mayTouch(Operation *op, Value memref, const ArgumentAliases &aliases,
              Operation *except) {
  return mayAccessInside(op, memref, aliases, /*onlyWrites=*/false, except);
}

bool mayWrite(Operation *op, Value memref, const ArgumentAliases &aliases) {
  return mayAccessInside(op, memref, aliases, /*onlyWrites=*/true,
                         /*except=*/nullptr);
}

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
