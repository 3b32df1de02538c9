//===- HostLoops.cpp - Parallel loops of the host -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostLoops.h"
#include "LoopDistribution.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Which loops there are
//===----------------------------------------------------------------------===//

bool isUnmappedLoop(Operation *op) {
  if (!isParallelLoop(op))
    return false;
  auto mapping = op->getAttrOfType<ArrayAttr>("mapping");
  return !mapping || mapping.empty();
}

SmallVector<Operation *> collectHostLoops(Operation *root) {
  SmallVector<Operation *> loops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp, gpu::LaunchOp, linalg::LinalgOp>(op))
      return WalkResult::skip();
    if (!isParallelLoop(op))
      return WalkResult::advance();
    if (isUnmappedLoop(op) && !isInDeviceCode(op))
      loops.push_back(op);
    return WalkResult::skip();
  });
  return loops;
}

static SmallVector<LoopRange> getRanges(Operation *op) {
  SmallVector<LoopRange> ranges;
  auto add = [&](auto lower, auto upper, auto step) {
    for (auto [from, to, by] : llvm::zip_equal(lower, upper, step))
      ranges.push_back({from, to, by});
  };
  if (auto forall = dyn_cast<scf::ForallOp>(op)) {
    add(forall.getMixedLowerBound(), forall.getMixedUpperBound(),
        forall.getMixedStep());
  } else {
    auto parallel = cast<scf::ParallelOp>(op);
    add(getAsOpFoldResult(parallel.getLowerBound()),
        getAsOpFoldResult(parallel.getUpperBound()),
        getAsOpFoldResult(parallel.getStep()));
  }
  return ranges;
}

unsigned getNumDims(Operation *loop) { return getRanges(loop).size(); }

SmallVector<std::optional<int64_t>> getStaticCounts(Operation *loop) {
  SmallVector<std::optional<int64_t>> counts;
  for (const LoopRange &range : getRanges(loop))
    counts.push_back(getNumIterations(range));
  return counts;
}

//===----------------------------------------------------------------------===//
// What threads do of them
//===----------------------------------------------------------------------===//

/// True for a part of a tensor that may be copied, and is more than an element.
static bool movesSlice(Operation *op) {
  auto isElement = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && type.getNumElements() == 1;
  };
  if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op))
    return !isElement(insert.getSource());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return !isElement(insert.getSource());
  return false;
}

/// True for arithmetic on tensors and the like, which become structured
/// operations.
static bool computesTensor(Operation *op) {
  return (op->hasTrait<OpTrait::Elementwise>() &&
          llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>)) ||
         isa<tensor::PadOp, tensor::GenerateOp, tensor::SplatOp,
             tensor::GatherOp, tensor::ScatterOp, tensor::ConcatOp>(op);
}

bool hasStructuredWork(Operation *loop) {
  return loop
      ->walk([&](Operation *op) {
        bool isWork =
            isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()) ||
            isa<memref::CopyOp>(op) || movesSlice(op) || computesTensor(op);
        return isWork ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool isWorkOfThreads(Operation *loop) {
  if (hasStructuredWork(loop))
    return false;
  return !loop->walk([&](Operation *op) {
                return op != loop && isParallelLoop(op)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Tensors that iterations read
//===----------------------------------------------------------------------===//

/// The insertions into `argument` at the end of an iteration.
static SmallVector<tensor::ParallelInsertSliceOp>
getInsertions(BlockArgument argument) {
  SmallVector<tensor::ParallelInsertSliceOp> insertions;
  for (OpOperand &use : argument.getUses())
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(use.getOwner());
        insert && insert.getDest() == argument)
      insertions.push_back(insert);
  return insertions;
}

/// True if `use` is of the part of `argument` that the iteration writes alone,
/// or of no element.
static bool isOfOwnPart(OpOperand &use, BlockArgument argument) {
  auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(use.getOwner());
  if (insert)
    return insert.getDest() == argument && use.get() != insert.getSource();
  auto extract = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
  if (!extract)
    return isa<tensor::DimOp>(use.getOwner());
  return llvm::any_of(getInsertions(argument), [&](auto other) {
    return isEqualConstantIntOrValueArray(extract.getMixedOffsets(),
                                          other.getMixedOffsets()) &&
           isEqualConstantIntOrValueArray(extract.getMixedSizes(),
                                          other.getMixedSizes()) &&
           isEqualConstantIntOrValueArray(extract.getMixedStrides(),
                                          other.getMixedStrides());
  });
}

bool areReadsSeparate(scf::ForallOp loop) {
  return llvm::all_of(loop.getRegionIterArgs(), [](BlockArgument argument) {
    return llvm::all_of(argument.getUses(), [&](OpOperand &use) {
      return isOfOwnPart(use, argument);
    });
  });
}

void separateReads(RewriterBase &rewriter, scf::ForallOp loop) {
  for (auto [argument, output] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getOutputs()))
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses()))
      if (!isOfOwnPart(use, argument))
        rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(output); });
}

//===----------------------------------------------------------------------===//
// One iteration after the other
//===----------------------------------------------------------------------===//

/// What is carried on by an iteration of an `scf.forall`, whose values are
/// those of `mapping`.
static scf::ValueVector insertParts(OpBuilder &builder, scf::ForallOp loop,
                                    IRMapping &mapping) {
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(op);
    Value dest = insert.getDest();
    auto map = [&](ArrayRef<OpFoldResult> values) {
      SmallVector<OpFoldResult> mapped;
      for (OpFoldResult value : values)
        mapped.push_back(isa<Attribute>(value)
                             ? value
                             : mapping.lookupOrDefault(cast<Value>(value)));
      return mapped;
    };
    Value inserted = tensor::InsertSliceOp::create(
        builder, insert.getLoc(), mapping.lookupOrDefault(insert.getSource()),
        mapping.lookup(dest), map(insert.getMixedOffsets()),
        map(insert.getMixedSizes()), map(insert.getMixedStrides()));
    mapping.map(dest, inserted);
  }
  scf::ValueVector carried;
  for (Value argument : loop.getRegionIterArgs())
    carried.push_back(mapping.lookup(argument));
  return carried;
}

/// What is carried on by an iteration of an `scf.parallel`.
static scf::ValueVector reduceResults(OpBuilder &builder, scf::ParallelOp loop,
                                      ValueRange before, IRMapping &mapping) {
  auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  scf::ValueVector carried;
  for (auto [value, operand, region] :
       llvm::zip_equal(before, reduce.getOperands(), reduce.getReductions())) {
    Block &body = region.front();
    mapping.map(body.getArgument(0), value);
    mapping.map(body.getArgument(1), mapping.lookupOrDefault(operand));
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    carried.push_back(
        mapping.lookupOrDefault(body.getTerminator()->getOperand(0)));
  }
  return carried;
}

void serialize(RewriterBase &rewriter, Operation *loop) {
  Location loc = loop->getLoc();
  auto forall = dyn_cast<scf::ForallOp>(loop);
  if (forall)
    separateReads(rewriter, forall);
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> lower, upper, steps, inits;
  auto get = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, value);
  };
  for (const LoopRange &range : getRanges(loop)) {
    lower.push_back(get(range.lower));
    upper.push_back(get(range.upper));
    steps.push_back(get(range.step));
  }
  ValueRange start =
      forall ? ValueRange(forall.getOutputs())
             : ValueRange(cast<scf::ParallelOp>(loop).getInitVals());
  Block &body = loop->getRegion(0).front();
  auto makeBody = [&](OpBuilder &builder, Location, ValueRange ivs,
                      ValueRange carried) {
    IRMapping mapping;
    mapping.map(body.getArguments().take_front(ivs.size()), ivs);
    if (forall)
      mapping.map(forall.getRegionIterArgs(), carried);
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    return forall ? insertParts(builder, forall, mapping)
                  : reduceResults(builder, cast<scf::ParallelOp>(loop), carried,
                                  mapping);
  };
  llvm::append_range(inits, start);
  scf::LoopNest nest =
      scf::buildLoopNest(rewriter, loc, lower, upper, steps, inits, makeBody);
  rewriter.replaceOp(loop, nest.results);
}

} // namespace mlir::workgroup
