//===- BlockContractions.cpp - Sums of products of a block ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockContractions.h"
#include "Sharers.h"
#include "SumLoops.h"
#include "Transforms/Loops/ParallelLoops.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "workgroup/IR/Workgroup.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Blocks and loops
//===----------------------------------------------------------------------===//

bool isInBlock(Operation *op) {
  if (isInLoopOverThreads(op))
    return false;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    std::optional<ParallelLoop> loop = ParallelLoop::getMapped(parent);
    if (isa<gpu::LaunchOp>(parent) ||
        (loop && loop->goesTo(ProcessorLevel::Blocks)))
      return true;
  }
  return false;
}

Operation *findSumLoops(linalg::LinalgOp op) {
  Operation *root = op;
  while (auto loop = dyn_cast<scf::ForOp>(root->getParentOp())) {
    bool isSum =
        loop.getNumResults() == 0 &&
        isLoopInvariant(op.getDpsInits()[0], loop) &&
        llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &in) {
          return &in == root || isMemoryEffectFree(&in) || isa<GatherOp>(in);
        });
    if (!isSum)
      break;
    root = loop;
  }
  return root;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::string findTileSizes(linalg::LinalgOp op, TileSizes &tile) {
  tile.sizes.assign(op.getNumLoops(), ShapedType::kDynamic);
  tile.isRagged.assign(op.getNumLoops(), true);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      auto dim = dyn_cast<AffineDimExpr>(map.getResult(i));
      if (!dim)
        continue;
      unsigned loop = dim.getPosition();
      int64_t extent = cast<MemRefType>(operand.get().getType()).getDimSize(i);
      bool isKnown = !ShapedType::isDynamic(extent);
      if (!isKnown) {
        FailureOr<int64_t> bound =
            ValueBoundsConstraintSet::computeConstantBound(
                presburger::BoundType::UB,
                {operand.get(), static_cast<int64_t>(i)},
                /*stopCondition=*/nullptr, /*closedUB=*/true);
        if (failed(bound))
          continue;
        extent = *bound;
      }
      int64_t &size = tile.sizes[loop];
      if (isKnown || ShapedType::isDynamic(size) || extent < size)
        size = extent;
      if (isKnown)
        tile.isRagged[loop] = false;
    }
  }
  constexpr int64_t kMaxSize = 1 << 16;
  for (auto [loop, size] : llvm::enumerate(tile.sizes)) {
    if (size == 0)
      return llvm::formatv("its loop {0} has no iteration", loop).str();
    if (ShapedType::isDynamic(size) || size < 0 || size > kMaxSize)
      return llvm::formatv("nothing keeps its loop {0} small; let "
                           "workgroup-tile-kernel make tiles of it",
                           loop)
          .str();
  }
  return "";
}

/// `size`, of rows or columns of a tile, such that threads can share it.
static int64_t roundUp(int64_t size) {
  constexpr int64_t kLeast = 4, kStep = 32;
  if (size > kStep)
    return llvm::alignTo(size, kStep);
  return std::max<int64_t>(llvm::PowerOf2Ceil(size), kLeast);
}

/// Sums at once: vectors of any type are aligned in rows of 16 elements, and so
/// many of 16 bits are the sums of a matrix.
static constexpr int64_t kSumStep = 16;

/// True if tensor cores of `chip` have the types of `contraction`.
static bool hasMatrixProducts(const Contraction &contraction,
                              const Chip &chip) {
  Type lhs = getElementTypeOrSelf(contraction.lhs->get());
  return lhs == getElementTypeOrSelf(contraction.rhs->get()) &&
         chip.hasMatrixProducts(lhs);
}

/// Adds to the two innermost loops of the sum as few iterations as make whole
/// matrices of a tile; none if it would be more than twice as large.
static void fillMatrices(const Contraction &contraction, TileSizes &tile) {
  SmallVector<unsigned> loops;
  int64_t outer = 1;
  for (unsigned loop : llvm::reverse(contraction.sums.loops))
    if (tile.sizes[loop] != 1 && loops.size() < 2)
      loops.push_back(loop);
    else
      outer *= tile.sizes[loop];
  if (loops.size() < 2)
    return;
  int64_t &inner = tile.sizes[loops[0]], &next = tile.sizes[loops[1]];
  int64_t bestInner = inner, bestNext = next, least = 2 * inner * next + 1;
  for (int64_t i = inner; i < inner + kSumStep; ++i)
    for (int64_t j = next; j < next + kSumStep; ++j)
      if (i * j < least && outer * i * j % kSumStep == 0) {
        least = i * j;
        bestInner = i;
        bestNext = j;
      }
  tile.isRagged[loops[0]] = tile.isRagged[loops[0]] || bestInner != inner;
  tile.isRagged[loops[1]] = tile.isRagged[loops[1]] || bestNext != next;
  inner = bestInner;
  next = bestNext;
}

std::string roundTileSizes(const Contraction &contraction, bool hasLoop,
                           const Chip &chip, TileSizes &tile) {
  for (const LoopGroup *group : {&contraction.rows, &contraction.columns}) {
    int64_t &size = tile.sizes[group->loops.back()];
    int64_t rounded = roundUp(size);
    tile.isRagged[group->loops.back()] =
        tile.isRagged[group->loops.back()] || rounded != size;
    size = rounded;
  }
  constexpr int64_t kMaxSteps = 256;
  if (contraction.isZeroNeutral && hasMatrixProducts(contraction, chip))
    fillMatrices(contraction, tile);
  int64_t numSums = 1;
  for (unsigned loop : contraction.sums.loops) {
    int64_t size = tile.sizes[loop];
    if (!hasLoop && loop == contraction.sums.loops.back() &&
        contraction.isZeroNeutral && size % kSumStep != 0) {
      tile.sizes[loop] = llvm::alignTo(size, size > 4 ? kSumStep : 4);
      tile.isRagged[loop] = true;
    }
    if (tile.isRagged[loop] && !contraction.isZeroNeutral)
      return "its sums are ragged, and its body is not one that zeros do not "
             "change";
    numSums *= tile.sizes[loop];
  }
  if (numSums > kMaxSteps)
    return llvm::formatv("it sums up {0} products at once; let "
                         "workgroup-tile-kernel go through them in steps",
                         numSums)
        .str();
  return "";
}

} // namespace mlir::workgroup
