//===- DistributeLoops.cpp - Iterations of parallel loops for processors --===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First it is decided for all loops what becomes of them, so that nothing is
// changed if one cannot be distributed; then they are replaced, outermost
// first.
//
//===----------------------------------------------------------------------===//

#include "AlignedFills.h"
#include "Analysis/Program/OpEffects.h"
#include "LoopReach.h"
#include "ParallelLoops.h"
#include "ProcessorIds.h"
#include "Support/Remarks.h"
#include "UniformLoops.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

namespace mlir::workgroup {

namespace {

/// Decides what becomes of a loop, and does it.
class LoopDistributor {
public:
  LoopDistributor(ParallelLoop loop, const DistributeLoopsOptions &options)
      : loop(std::move(loop)), options(options), reach(options),
        grid(getExecutionScope(this->loop.op)) {}

  LogicalResult decide(UniformLoops &barriers);
  void apply(RewriterBase &rewriter);

private:
  /// Dimensions that are distributed together: one, or all that are linear.
  struct Share {
    SmallVector<unsigned> dims;
    std::optional<ProcessorTarget> target;
    DistributionStrategy strategy = DistributionStrategy::Cyclic;
  };

  void makeShares();
  LogicalResult decide(Share &share);
  LogicalResult checkArguments();
  LogicalResult checkReach() const;
  LogicalResult checkIndices(const Share &share) const;
  LogicalResult checkBarriers(UniformLoops &barriers);
  LogicalResult checkPartingBarriers() const;
  std::optional<int64_t> getNumIterations(const Share &share) const;
  std::optional<int64_t> getCount(const ProcessorTarget &target) const;
  bool isTogether(const Share &share, UniformLoops &barriers) const;
  Processor getProcessor(OpBuilder &builder, const Share &share) const;
  LoopRange getRange(OpBuilder &builder, const Share &share) const;
  SmallVector<std::pair<ProcessorLevel, unsigned>> findOthers() const;
  ArrayRef<unsigned> findOtherArguments() const;
  void guardOthers(OpBuilder &builder) const;
  void setInductionVars(OpBuilder &builder, const Share &share,
                        OpFoldResult iteration,
                        SmallVectorImpl<OpFoldResult> &values) const;

  ParallelLoop loop;
  const DistributeLoopsOptions &options;
  LoopReach reach;
  ProcessorGrid grid;
  SmallVector<Share, 3> shares;
  bool isWorkOfBlock = false, isInFirstWarp = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Linear dimensions of a level go together, the fastest one last.
void LoopDistributor::makeShares() {
  std::map<ProcessorLevel, Share> linear;
  for (auto [dim, target] : llvm::enumerate(loop.targets)) {
    Share share{{unsigned(dim)}, target, options.getStrategy(dim)};
    // Every processor executes all of what goes to none.
    if (!target)
      share.strategy = DistributionStrategy::Cyclic;
    if (target && target->isLinear) {
      auto [it, isNew] = linear.try_emplace(target->level, share);
      if (!isNew)
        it->second.dims.push_back(dim);
    } else {
      shares.push_back(std::move(share));
    }
  }
  for (auto &[_, share] : linear) {
    llvm::sort(share.dims, [&](unsigned lhs, unsigned rhs) {
      return loop.targets[lhs]->dim > loop.targets[rhs]->dim;
    });
    shares.push_back(std::move(share));
  }
}

std::optional<int64_t>
LoopDistributor::getCount(const ProcessorTarget &target) const {
  if (target.level == ProcessorLevel::Arguments)
    return std::nullopt;
  return target.isLinear ? grid.getLinearCount(target.level)
                         : grid.getCount(target.level, target.dim);
}

/// The number of iterations of `share`: the product over its dimensions.
std::optional<int64_t>
LoopDistributor::getNumIterations(const Share &share) const {
  int64_t product = 1;
  for (unsigned dim : share.dims) {
    auto count = mlir::workgroup::getNumIterations(loop.ranges[dim]);
    if (!count || llvm::MulOverflow(product, *count, product))
      return std::nullopt;
  }
  return product;
}

LogicalResult LoopDistributor::decide(Share &share) {
  if (!share.target)
    return success();
  const ProcessorTarget &target = *share.target;
  bool isArgument = target.level == ProcessorLevel::Arguments;
  if (!target.isLinear && !isArgument && !grid.hasDimensions(target.level))
    return loop.op->emitOpError(
        target.level == ProcessorLevel::Lanes
            ? "lanes have no x, y and z; map the loop to "
              "#gpu.lane<linear_dim_0>"
            : "warps have no x, y and z unless the size of the block along x "
              "is "
              "known to be a multiple of 32; map the loop to "
              "#gpu.warp<linear_dim_0>");
  for (unsigned dim : share.dims)
    if (options.getStrategy(dim) != share.strategy)
      return loop.op->emitOpError(
          "counts linear dimensions together; give them "
          "one strategy");
  std::optional<int64_t> number = getNumIterations(share);
  std::optional<int64_t> processors = getCount(target);
  bool isWrong = number && processors &&
                 ((share.strategy == DistributionStrategy::Exact &&
                   number != processors) ||
                  (share.strategy == DistributionStrategy::Guarded &&
                   *number > *processors));
  if (isWrong)
    return loop.op->emitOpError("has ")
           << *number << " iterations for " << *processors
           << " processors; use another strategy than "
           << (share.strategy == DistributionStrategy::Exact ? "exact"
                                                             : "guarded");
  bool isAssumed = share.strategy == DistributionStrategy::Exact ||
                   share.strategy == DistributionStrategy::Guarded;
  if (isAssumed && !(number && processors))
    recordRemark(RemarkId::DistributeLoops_AssumedCount, loop.op)
        << (share.strategy == DistributionStrategy::Exact
                ? "it is taken that there are as many iterations as processors"
                : "it is taken that there are no more iterations than "
                  "processors");
  LoopRange range = loop.ranges[share.dims.front()];
  if (share.dims.size() > 1 && number)
    range.lower = loop.getIndex(0), range.upper = loop.getIndex(*number),
    range.step = loop.getIndex(1);
  if (share.dims.size() == 1 || number)
    share.strategy = simplify(share.strategy, range, processors);
  return success();
}

LogicalResult LoopDistributor::checkArguments() {
  if (!loop.goesTo(ProcessorLevel::Arguments))
    return success();
  Operation *scope = getExecutionScope(loop.op);
  auto function = dyn_cast<FunctionOpInterface>(scope);
  if (!function)
    return loop.op->emitOpError("is in a gpu.launch, which has no arguments "
                                "that tell processors; use other levels, or "
                                "outline it");
  size_t rank = loop.ranges.size();
  if (options.ids.size() < rank)
    return loop.op->emitOpError("has ")
           << rank << " dimensions for " << options.ids.size()
           << " processors that arguments tell; name an id and a count for "
              "each";
  for (unsigned number :
       llvm::concat<const unsigned>(options.ids, options.counts))
    if (number >= function.getNumArguments() ||
        !isa<IndexType>(function.getArgument(number).getType()))
      return loop.op->emitOpError("goes to processors that arguments tell, but "
                                  "number ")
             << number
             << " is no argument of the function of type index; name one that "
                "is";
  return success();
}

/// Iterations of processors that do not get to the loop would be lost.
LogicalResult LoopDistributor::checkReach() const {
  for (ProcessorLevel level : {ProcessorLevel::Blocks, ProcessorLevel::Threads,
                               ProcessorLevel::Warps, ProcessorLevel::Lanes}) {
    if (!loop.goesTo(level))
      continue;
    Operation *scope = getExecutionScope(loop.op);
    Operation *parting = reach.findParting(loop.op, scope, level);
    if (!parting)
      continue;
    InFlightDiagnostic error = loop.op->emitOpError(
        "is not reached by all processors that it goes to, so that iterations "
        "are lost; put the condition into the loop");
    error.attachNote(parting->getLoc()) << "they part here";
    return error;
  }
  return success();
}

/// Checks that the iteration that a processor would execute next, behind its
/// last one, is an index as well.
LogicalResult LoopDistributor::checkIndices(const Share &share) const {
  int64_t chunk =
      share.strategy == DistributionStrategy::BlockCyclic ? options.chunk : 1;
  std::optional<int64_t> processors =
      share.target ? getCount(*share.target) : std::optional<int64_t>(1);
  for (unsigned dim : share.dims) {
    const LoopRange &range = loop.ranges[dim];
    auto lower = getConstantIntValue(range.lower);
    auto upper = getConstantIntValue(range.upper);
    auto step = getConstantIntValue(range.step);
    int64_t stride, last, extent;
    bool isWrong =
        (step && (llvm::MulOverflow(*step, processors.value_or(1), stride) ||
                  llvm::MulOverflow(stride, chunk, stride) ||
                  (upper && llvm::AddOverflow(*upper, stride, last)))) ||
        (lower && upper && llvm::SubOverflow(*upper, *lower, extent));
    if (isWrong)
      return loop.op->emitOpError(
          "has indices that overflow 64 bits when processors share it; count "
          "from 0 in steps of 1, and compute the indices in the body");
  }
  return success();
}

/// True if all threads that get to the loop execute as many iterations.
bool LoopDistributor::isTogether(const Share &share,
                                 UniformLoops &barriers) const {
  std::optional<int64_t> number = getNumIterations(share);
  if (number == 0 || share.strategy == DistributionStrategy::Exact)
    return true;
  if (!share.target || share.target->level == ProcessorLevel::Blocks)
    return llvm::all_of(share.dims, [&](unsigned dim) {
      return barriers.areUniform(loop.ranges[dim]);
    });
  std::optional<int64_t> processors = getCount(*share.target);
  bool isInChunks = share.strategy == DistributionStrategy::BlockCyclic;
  int64_t chunk = isInChunks ? options.chunk : 1, round;
  return number && processors &&
         !llvm::MulOverflow(*processors, chunk, round) && *number % round == 0;
}

/// Dimensions of processors that nothing is mapped to: only the first of them
/// does something.
SmallVector<std::pair<ProcessorLevel, unsigned>>
LoopDistributor::findOthers() const {
  std::map<ProcessorLevel, std::set<unsigned>> used;
  for (const Share &share : shares)
    if (share.target && !share.target->isLinear &&
        share.target->level != ProcessorLevel::Arguments)
      used[share.target->level].insert(share.target->dim);
  SmallVector<std::pair<ProcessorLevel, unsigned>> others;
  for (const auto &[level, dims] : used)
    for (unsigned dim = 0; dim < 3; ++dim)
      if (!dims.count(dim) && grid.getCount(level, dim) != 1)
        others.emplace_back(level, dim);
  return others;
}

/// Ids of processors that arguments tell, likewise.
ArrayRef<unsigned> LoopDistributor::findOtherArguments() const {
  if (!loop.goesTo(ProcessorLevel::Arguments))
    return {};
  return ArrayRef(options.ids).drop_front(loop.ranges.size());
}

/// Barriers in an iteration under control that follows from who executes it.
LogicalResult LoopDistributor::checkPartingBarriers() const {
  WalkResult result = loop.op->walk([&](Operation *op) {
    bool isMeeting = isBlockMeeting(op);
    Operation *parting =
        isMeeting ? reach.findParting(op, loop.op, ProcessorLevel::Threads)
                  : nullptr;
    if (!parting)
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitError(
        "barrier that not all threads of the block get to; put it where they "
        "all are");
    error.attachNote(parting->getLoc()) << "they part here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult LoopDistributor::checkBarriers(UniformLoops &barriers) {
  Operation *meeting = UniformLoops::findMeeting(loop.op);
  if (!meeting)
    return success();
  bool isGuarded = isInFirstWarp || !findOtherArguments().empty() ||
                   llvm::any_of(findOthers(), [](auto other) {
                     return other.first != ProcessorLevel::Blocks;
                   });
  if (!isGuarded && llvm::all_of(shares, [&](const Share &share) {
        return isTogether(share, barriers);
      }))
    return checkPartingBarriers();
  InFlightDiagnostic error =
      meeting->emitError(isa<CallOpInterface>(meeting) ? "call of a function "
                                                         "with a barrier "
                                                       : "barrier ")
      << "in a loop of which threads may execute different numbers of "
         "iterations; split the loop at the barrier";
  error.attachNote(loop.op->getLoc()) << "the loop";
  return error;
}

LogicalResult LoopDistributor::decide(UniformLoops &barriers) {
  if (std::string obstacle = loop.getObstacle(); !obstacle.empty())
    return loop.op->emitOpError(obstacle);
  makeShares();
  if (failed(checkArguments()) || failed(checkReach()))
    return failure();
  isInFirstWarp =
      grid.getLinearCount(ProcessorLevel::Warps) != 1 && reach.isOfNoWarp(loop);
  isWorkOfBlock = loop.isWorkOfBlock() && barriers.isUniformIn(loop.op);
  for (Share &share : shares)
    if (!isWorkOfBlock &&
        (failed(checkIndices(share)) || failed(decide(share))))
      return failure();
  return isWorkOfBlock ? success() : checkBarriers(barriers);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

Processor LoopDistributor::getProcessor(OpBuilder &builder,
                                        const Share &share) const {
  const ProcessorTarget &target = *share.target;
  Location loc = loop.op->getLoc();
  if (target.level == ProcessorLevel::Arguments) {
    auto function = cast<FunctionOpInterface>(getExecutionScope(loop.op));
    return {function.getArgument(options.ids[target.dim]),
            function.getArgument(options.counts[target.dim])};
  }
  return target.isLinear ? grid.getLinear(builder, loc, target.level)
                         : grid.get(builder, loc, target.level, target.dim);
}

/// The range of one dimension, or the number of all iterations of several.
LoopRange LoopDistributor::getRange(OpBuilder &builder,
                                    const Share &share) const {
  if (share.dims.size() == 1)
    return loop.ranges[share.dims.front()];
  SignedIndexBuilder index{builder, loop.op->getLoc()};
  OpFoldResult product = builder.getIndexAttr(1);
  for (unsigned dim : share.dims)
    product = index.multiply(product, loop.count(builder, dim));
  return {builder.getIndexAttr(0), product, builder.getIndexAttr(1)};
}

void LoopDistributor::setInductionVars(
    OpBuilder &builder, const Share &share, OpFoldResult iteration,
    SmallVectorImpl<OpFoldResult> &values) const {
  if (share.dims.size() == 1) {
    values[share.dims.front()] = iteration;
    return;
  }
  SignedIndexBuilder index{builder, loop.op->getLoc()};
  for (unsigned dim : llvm::reverse(share.dims)) {
    const LoopRange &range = loop.ranges[dim];
    OpFoldResult number = iteration;
    if (dim != share.dims.front()) {
      OpFoldResult count = loop.count(builder, dim);
      number = index.remainder(iteration, count);
      iteration = index.divide(iteration, count);
    }
    values[dim] = index.add(range.lower, index.multiply(number, range.step));
  }
}

void LoopDistributor::guardOthers(OpBuilder &builder) const {
  Location loc = loop.op->getLoc();
  for (unsigned id : findOtherArguments())
    guardFirst(
        builder, loc,
        cast<FunctionOpInterface>(getExecutionScope(loop.op)).getArgument(id));
  for (auto [level, dim] : findOthers())
    guardFirst(builder, loc, grid.getId(builder, loc, level, dim));
  if (isInFirstWarp)
    guardFirst(builder, loc,
               grid.getLinear(builder, loc, ProcessorLevel::Warps).id);
}

void LoopDistributor::apply(RewriterBase &rewriter) {
  Location loc = loop.op->getLoc();
  loop.readRanges();
  rewriter.setInsertionPoint(loop.op);
  SmallVector<OpFoldResult> values(loop.ranges.size());
  if (isWorkOfBlock) {
    for (auto [value, range] : llvm::zip_equal(values, loop.ranges))
      value = range.lower;
  } else {
    guardOthers(rewriter);
    for (const Share &share : shares) {
      LoopRange range = getRange(rewriter, share);
      Processor processor{rewriter.getIndexAttr(0), rewriter.getIndexAttr(1)};
      if (share.target)
        processor = getProcessor(rewriter, share);
      OpFoldResult iteration = distribute(rewriter, loc, range, processor,
                                          share.strategy, options.chunk);
      setInductionVars(rewriter, share, iteration, values);
    }
  }
  loop.replaceBody(rewriter, values);
}

//===----------------------------------------------------------------------===//
// All loops
//===----------------------------------------------------------------------===//

/// Checks that loops in a loop, or in a function that is called there, do not
/// go to the same processors: what a processor executes of a loop it executes
/// whole.
static LogicalResult
checkNesting(const ParallelLoop &loop, Operation *scope,
             const llvm::MapVector<Operation *, ParallelLoop> &loops,
             DenseSet<Operation *> &visited) {
  WalkResult result = scope->walk([&](Operation *op) {
    auto inner = loops.find(op);
    if (op != loop.op && inner != loops.end() &&
        inner->second.sharesProcessors(loop)) {
      InFlightDiagnostic error = op->emitOpError(
          "goes to processors of which each executes iterations of a loop "
          "around it; make them dimensions of one loop");
      error.attachNote(loop.op->getLoc()) << "the loop around it";
      return WalkResult::interrupt();
    }
    auto call = dyn_cast<CallOpInterface>(op);
    Operation *callee = call ? call.resolveCallable() : nullptr;
    return callee && visited.insert(callee).second &&
                   failed(checkNesting(loop, callee, loops, visited))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Decides what becomes of all loops.
static LogicalResult decide(Operation *root,
                            const DistributeLoopsOptions &options,
                            std::vector<LoopDistributor> &distributors) {
  distributors.clear();
  llvm::MapVector<Operation *, ParallelLoop> loops;
  UniformLoops barriers(root);
  DenseSet<Operation *> hostFunctions = findHostFunctions(root);
  bool isFailed = false;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<ParallelLoop> loop = ParallelLoop::get(op, options);
    if (!loop || hostFunctions.contains(getExecutionScope(op)))
      return;
    distributors.emplace_back(*loop, options);
    isFailed |= failed(distributors.back().decide(barriers));
    loops[op] = std::move(*loop);
  });
  for (const auto &[op, loop] : loops) {
    DenseSet<Operation *> visited;
    isFailed |= failed(checkNesting(loop, op, loops, visited));
  }
  return failure(isFailed);
}

LogicalResult distributeLoops(Operation *root,
                              const DistributeLoopsOptions &options) {
  std::vector<LoopDistributor> distributors;
  if (failed(decide(root, options, distributors)) ||
      (alignFills(root) && failed(decide(root, options, distributors))))
    return failure();
  IRRewriter rewriter(root->getContext());
  for (LoopDistributor &distributor : distributors)
    distributor.apply(rewriter);
  return success();
}

} // namespace mlir::workgroup
