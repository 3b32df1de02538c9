//===- ThreadMapper.cpp - Structured operations as loops of threads -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadMapper.h"
#include "PointEmitter.h"
#include "Support/Remarks.h"
#include "ThreadLoops.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Fills before sums
//===----------------------------------------------------------------------===//

/// The value that `op` fills its result with; null if it does something else.
static Value getFillValue(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      !llvm::hasSingleElement(*op.getBlock()))
    return nullptr;
  Value value = op.getBlock()->getTerminator()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == op.getBlock()) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    bool isScalar = op.isDpsInput(operand) && op.isScalar(operand);
    return isScalar ? operand->get() : Value();
  }
  return value;
}

/// The fill of `init` that nothing else of the block sees before `op`; null if
/// there is none.
static linalg::LinalgOp findFill(linalg::LinalgOp op, Value init) {
  Value root = getRootBuffer(init);
  if (llvm::count_if(op->getOperands(), [&](Value operand) {
        return isa<BaseMemRefType>(operand.getType()) &&
               getRootBuffer(operand) == root;
      }) != 1)
    return {};
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (isMemoryEffectFree(before) || isa<memref::AllocOp>(before) ||
        isa<memref::AllocaOp>(before))
      continue;
    auto structured = dyn_cast<linalg::LinalgOp>(before);
    if (!structured)
      return {};
    if (llvm::is_contained(structured.getDpsInits(), init))
      return getFillValue(structured) ? structured : linalg::LinalgOp();
    if (llvm::any_of(structured->getOperands(), [&](Value operand) {
          return isa<BaseMemRefType>(operand.getType()) &&
                 mayAlias(operand, init);
        }))
      return {};
  }
  return {};
}

/// Lets `op` start from what fills say, if each element of a result is reached.
void ThreadMapper::absorbFills(linalg::LinalgOp op) {
  SmallVector<Value> &starts = startsOf[op];
  starts.assign(op.getNumDpsInits(), Value());
  size_t numShared = getSharedLoops(op).size();
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    linalg::LinalgOp fill = findFill(op, init.get());
    if (!fill || !map.isProjectedPermutation() ||
        map.getNumResults() != numShared)
      continue;
    starts[number] = getFillValue(fill);
    absorbed.insert(fill);
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Emits `length` points from `ivs` on.
void ThreadMapper::emitPoints(const Work &work, ArrayRef<Value> ivs,
                              int64_t length) {
  unsigned fastest = work.shared.empty() ? 0 : work.shared.back();
  PointEmitter emitter(rewriter, work.op, work.extents, fastest, length);
  for (auto [loop, value] : llvm::zip_equal(work.shared, ivs))
    emitter.setLoop(loop, value);
  for (auto [number, start] : llvm::enumerate(work.starts))
    if (start)
      emitter.setInit(number, start);
  emitter.emit();
}

/// Emits what one thread does, with `ivs` of which the last one counts vectors.
void ThreadMapper::emitVector(const Work &work, const ThreadVector &vector,
                              ValueRange ivs) {
  linalg::LinalgOp op = work.op;
  Location loc = op->getLoc();
  IndexBuilder index{rewriter, loc};
  OpFoldResult length = rewriter.getIndexAttr(vector.length);
  SmallVector<Value> first(ivs);
  first.back() = index.value(index.mul(first.back(), length));
  if (!vector.hasRest)
    return emitPoints(work, first, vector.length);
  Value end = index.value(index.add(first.back(), length));
  Value extent = index.value(work.extents[work.shared.back()]);
  Value isWhole = arith::CmpIOp::create(rewriter, loc,
                                        arith::CmpIPredicate::sle, end, extent);
  auto branch =
      scf::IfOp::create(rewriter, loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  emitPoints(work, first, vector.length);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  Value one = index.value(rewriter.getIndexAttr(1));
  auto rest = scf::ForOp::create(rewriter, loc, first.back(), extent, one);
  rewriter.setInsertionPointToStart(rest.getBody());
  first.back() = rest.getInductionVar();
  emitPoints(work, first, /*length=*/1);
}

void ThreadMapper::mapPoints(const Work &work, const ThreadVector &vector) {
  SmallVector<OpFoldResult> counts;
  for (unsigned loop : work.shared)
    counts.push_back(work.extents[loop]);
  linalg::LinalgOp op = work.op;
  if (vector.length > 1) {
    AffineExpr extent = rewriter.getAffineDimExpr(0);
    counts.back() = affine::makeComposedFoldedAffineApply(
        rewriter, op->getLoc(), extent.ceilDiv(vector.length), counts.back());
  }
  createThreadLoop(rewriter, op->getLoc(), counts, [&](ValueRange ivs) {
    if (vector.length > 1)
      emitVector(work, vector, ivs);
    else
      emitPoints(work, llvm::to_vector(ivs), /*length=*/1);
  });
}

/// Maps points of rows of which each thread has its parts.
void ThreadMapper::mapParts(const Work &work) {
  linalg::LinalgOp op = work.op;
  Location loc = op->getLoc();
  IndexBuilder index{rewriter, loc};
  unsigned row = kept.findLoop(op);
  int64_t length = kept.getLength();
  auto emitPart = [&](Value first, int64_t part) {
    PointEmitter emitter(rewriter, op, work.extents, row, length);
    Value zero = index.value(rewriter.getIndexAttr(0));
    for (unsigned loop : work.shared)
      emitter.setLoop(loop, loop == row ? first : zero);
    for (auto [number, start] : llvm::enumerate(work.starts))
      if (start)
        emitter.setInit(number, start);
    emitter.setPrivate(part * length);
    emitter.emit();
  };
  createThreadLoop(
      rewriter, loc, OpFoldResult(rewriter.getIndexAttr(threads)),
      [&](ValueRange ids) {
        for (int64_t part = 0; part < kept.getNumParts(); ++part) {
          OpBuilder::InsertionGuard guard(rewriter);
          Value first = index.value(index.mul(
              index.add(rewriter.getIndexAttr(part * threads), ids.front()),
              rewriter.getIndexAttr(length)));
          if ((part + 1) * threads * length > kept.getExtent()) {
            Value end = index.value(rewriter.getIndexAttr(kept.getExtent()));
            Value isIn = arith::CmpIOp::create(
                rewriter, loc, arith::CmpIPredicate::slt, first, end);
            auto branch = scf::IfOp::create(rewriter, loc, isIn);
            rewriter.setInsertionPointToStart(branch.thenBlock());
          }
          emitPart(first, part);
        }
      });
}

/// Maps points, in vectors if that is seen to be possible when the kernel runs.
void ThreadMapper::mapChecked(const Work &work, const ThreadVector &vector) {
  if (vector.conditions.empty())
    return mapPoints(work, vector);
  Location loc = work.op->getLoc();
  Value condition = createCheck(rewriter, loc, vector);
  auto branch =
      scf::IfOp::create(rewriter, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  mapPoints(work, vector);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  mapPoints(work, ThreadVector());
}

/// Lets every thread compute all of `work`, for itself.
void ThreadMapper::emitForThread(const Work &work) {
  IndexBuilder index{rewriter, linalg::LinalgOp(work.op).getLoc()};
  SmallVector<Value> ivs;
  for (size_t dim = 0; dim < work.shared.size(); ++dim)
    ivs.push_back(index.value(rewriter.getIndexAttr(0)));
  emitPoints(work, ivs, /*length=*/1);
}

/// True if each thread has its own copy of the results.
static bool isReplicated(linalg::LinalgOp op) {
  return llvm::all_of(op.getDpsInits(), [](Value init) {
    return isPrivateMemory(init.getType());
  });
}

void ThreadMapper::mapReduction(const Work &work,
                                CooperativeReduction &reduction,
                                AlignmentAnalysis &alignment) {
  linalg::LinalgOp op = work.op;
  Location loc = op->getLoc();
  reduction.emitParts(rewriter, alignment);
  SmallVector<OpFoldResult> counts;
  for (unsigned loop : work.shared)
    counts.push_back(work.extents[loop]);
  auto emitTotals = [&](ValueRange ivs) {
    PointEmitter emitter(rewriter, op, work.extents);
    for (auto [loop, value] : llvm::zip_equal(work.shared, ivs))
      emitter.setLoop(loop, value);
    for (auto [number, start] : llvm::enumerate(work.starts)) {
      if (start)
        emitter.setInit(number, start);
      emitter.storeResult(
          number, reduction.emitTotal(rewriter, llvm::to_vector(ivs), number,
                                      emitter.getStart(number)));
    }
  };
  if (isReplicated(op))
    createSerialLoops(rewriter, loc, counts, emitTotals);
  else
    createThreadLoop(rewriter, loc, counts, emitTotals);
}

static std::optional<int64_t> getNumPoints(ArrayRef<OpFoldResult> extents,
                                           ArrayRef<unsigned> shared) {
  int64_t points = 1;
  for (unsigned loop : shared) {
    std::optional<int64_t> extent = getConstantIntValue(extents[loop]);
    if (!extent || llvm::MulOverflow(points, *extent, points))
      return std::nullopt;
  }
  return points;
}

void ThreadMapper::map(linalg::LinalgOp op) {
  rewriter.setInsertionPoint(op);
  Work work{op, {}, getSharedLoops(op), startsOf.lookup(op)};
  for (const Range &range : op.createLoopRanges(rewriter, op->getLoc()))
    work.extents.push_back(range.size);
  bool isKept = kept.isOn(op);
  if (isKept) // what a thread has of a row is shorter
    for (auto [loop, extent] : llvm::enumerate(work.extents))
      extent = rewriter.getIndexAttr(
          loop == kept.findLoop(op) ? kept.getExtent() : 1);
  AlignmentAnalysis alignment({argumentAlignment, /*workgroup=*/1, nullptr});
  if (std::optional<CooperativeReduction> reduction =
          CooperativeReduction::get(op, work.extents, threads, alignment)) {
    if (isKept)
      reduction->keepParts(kept.getLength(), kept.getNumParts());
    mapReduction(work, *reduction, alignment);
  } else if (isKept) {
    mapParts(work);
  } else if (isReplicated(op)) {
    emitForThread(work);
  } else {
    ThreadVector vector;
    if (!work.shared.empty()) {
      SmallVector<OpOperand *> operands;
      for (OpOperand &operand : op->getOpOperands())
        operands.push_back(&operand);
      unsigned fastest = work.shared.back();
      vector = chooseThreadVector(op, operands, fastest, work.extents[fastest],
                                  getNumPoints(work.extents, work.shared),
                                  threads, alignment);
    }
    mapChecked(work, vector);
  }
  rewriter.eraseOp(op);
}

void ThreadMapper::map(ArrayRef<linalg::LinalgOp> ops) {
  for (linalg::LinalgOp op : ops)
    absorbFills(op);
  for (linalg::LinalgOp op : ops) {
    if (absorbed.contains(op))
      rewriter.eraseOp(op);
    else
      map(op);
  }
}

} // namespace mlir::workgroup
