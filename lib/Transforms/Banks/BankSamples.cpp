//===- BankSamples.cpp - What warps address -------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankSamples.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

BankSampler::BankSampler(Operation *root, Operation *scope,
                         std::array<int64_t, 3> shape)
    : root(root), scope(scope), shape(shape) {
  int64_t numThreads = shape[0] * shape[1] * shape[2];
  numWarps = llvm::divideCeil(numThreads, kWarpSize);
  uint64_t numSampled = std::min<uint64_t>(numWarps, kMaxWarps);
  for (uint64_t i = 0; i < numSampled; ++i) {
    int64_t first = i * numWarps / numSampled * kWarpSize;
    warps.push_back(first);
    for (int64_t lane = 0; lane < kWarpSize && first + lane < numThreads;
         ++lane)
      threads.push_back(first + lane);
  }
}

const UniformityAnalysis &BankSampler::getUniformity() {
  if (!uniformity)
    uniformity.emplace(root);
  return *uniformity;
}

ThreadEvaluator &BankSampler::getEvaluator(unsigned sample,
                                           Knowledge knowledge) {
  std::unique_ptr<ThreadEvaluator> &evaluator = evaluators[sample][knowledge];
  if (!evaluator)
    evaluator = std::make_unique<ThreadEvaluator>(
        scope, shape, threads,
        [this, sample, knowledge](Value value, ThreadEvaluator &evaluator) {
          return supply(value, sample, knowledge, evaluator);
        });
  return *evaluator;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// The bounds and the step of a loop, where they are values or constants.
struct LoopBounds {
  OpFoldResult lower, upper, step; // null if they are neither
};
} // namespace

static LoopBounds getBounds(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  LoopBounds bounds;
  auto loop = dyn_cast<affine::AffineForOp>(op);
  if (!loop)
    return bounds;
  Builder builder(op->getContext());
  bounds.step = builder.getIndexAttr(loop.getStepAsInt());
  if (loop.hasConstantLowerBound())
    bounds.lower = builder.getIndexAttr(loop.getConstantLowerBound());
  if (loop.hasConstantUpperBound())
    bounds.upper = builder.getIndexAttr(loop.getConstantUpperBound());
  return bounds;
}

/// The most iterations that a thread takes, if that is a function of the
/// thread.
std::optional<int64_t> BankSampler::getTripCount(Operation *loop) {
  auto [it, isNew] = tripCounts.try_emplace(loop, std::nullopt);
  if (!isNew)
    return it->second;
  LoopBounds bounds = getBounds(loop);
  ThreadEvaluator &evaluator = getEvaluator(0, Iterations);
  std::optional<ThreadValues> lower = evaluator.evaluateMixed(bounds.lower);
  std::optional<ThreadValues> upper = evaluator.evaluateMixed(bounds.upper);
  std::optional<ThreadValues> step = evaluator.evaluateMixed(bounds.step);
  if (!lower || !upper || !step)
    return std::nullopt;
  int64_t most = 0;
  for (auto [from, to, by] : llvm::zip_equal(*lower, *upper, *step)) {
    int64_t length;
    if (by <= 0 || llvm::SubOverflow(to, from, length))
      return std::nullopt;
    if (length > 0)
      most = std::max<int64_t>(most, llvm::divideCeil(length, by));
  }
  return tripCounts[loop] = most;
}

/// The induction variable of `loop` in iteration number `iteration`.
std::optional<ThreadValues>
BankSampler::getIteration(Operation *loop, unsigned iteration,
                          ThreadEvaluator &evaluator) {
  LoopBounds bounds = getBounds(loop);
  std::optional<ThreadValues> values = evaluator.evaluateMixed(bounds.lower);
  std::optional<ThreadValues> step = evaluator.evaluateMixed(bounds.step);
  if (!values || !step)
    return std::nullopt;
  if (std::optional<int64_t> count = getTripCount(loop); count && *count > 0)
    iteration %= *count;
  for (auto [value, by] : llvm::zip_equal(*values, *step))
    value = uint64_t(value) + uint64_t(by) * iteration;
  return values;
}

/// The loop whose induction variable `value` is; null if it is none.
static Operation *getLoopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (auto loop = dyn_cast_or_null<scf::ForOp>(parent))
    return value == loop.getInductionVar() ? parent : nullptr;
  if (auto loop = dyn_cast_or_null<affine::AffineForOp>(parent))
    return value == loop.getInductionVar() ? parent : nullptr;
  return nullptr;
}

std::optional<ThreadValues> BankSampler::supply(Value value, unsigned sample,
                                                Knowledge knowledge,
                                                ThreadEvaluator &evaluator) {
  if (Operation *loop = getLoopOf(value))
    if (std::optional<ThreadValues> iteration =
            getIteration(loop, sample, evaluator))
      return iteration;
  if (knowledge == Iterations || !getUniformity().isUniform(value))
    return std::nullopt;
  return evaluator.splat(sample * alignments.getDivisor(value));
}

/// The number of times that a thread executes `op`, as far as constant trip
/// counts tell.
uint64_t BankSampler::getWeight(Operation *op) {
  constexpr uint64_t kUnknownTrips = 8;
  uint64_t weight = 1;
  for (; op != scope; op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op))
      weight = llvm::SaturatingMultiply<uint64_t>(
          weight, getTripCount(op).value_or(kUnknownTrips));
  return weight;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Which threads get to `block`, where loops and conditions that tell threads
/// apart can be evaluated; else all do.
ArrayRef<bool> BankSampler::getActiveThreads(Block *block, unsigned sample) {
  auto [it, isNew] = activeThreads[sample].try_emplace(block);
  SmallVector<bool, 0> &isActive = it->second;
  if (!isNew)
    return isActive;
  isActive.assign(threads.size(), true);
  ThreadEvaluator &evaluator = getEvaluator(sample, Iterations);
  for (Region *region = block->getParent(); region->getParentOp() != scope;
       region = region->getParentRegion()) {
    Operation *parent = region->getParentOp();
    if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      const ThreadValues *conditions =
          evaluator.evaluate(branch.getCondition());
      // Threads that go together go there.
      if (!conditions || llvm::all_equal(*conditions))
        continue;
      bool isThen = region == &branch.getThenRegion();
      for (auto [active, condition] : llvm::zip_equal(isActive, *conditions))
        active &= (condition != 0) == isThen;
    } else if (isa<scf::ForOp, affine::AffineForOp>(parent)) {
      std::optional<ThreadValues> iteration =
          getIteration(parent, sample, evaluator);
      std::optional<ThreadValues> end =
          evaluator.evaluateMixed(getBounds(parent).upper);
      if (!iteration || !end)
        continue;
      for (auto [active, index, bound] :
           llvm::zip_equal(isActive, *iteration, *end))
        active &= index < bound;
    }
  }
  return isActive;
}

std::optional<ThreadValues> BankSampler::getOffsets(const LinearIndex &offset,
                                                    unsigned sample) {
  ThreadEvaluator &evaluator = getEvaluator(sample, Samples);
  ThreadValues offsets = evaluator.splat(offset.constant);
  for (auto [value, factor] : offset.terms) {
    const ThreadValues *values = evaluator.evaluate(value);
    if (!values)
      return std::nullopt;
    for (size_t i = 0, e = offsets.size(); i < e; ++i)
      offsets[i] = uint64_t(offsets[i]) + uint64_t((*values)[i]) * factor;
  }
  return offsets;
}

/// True if `offset` is one in `buffer`; that of a thread that does not get
/// there may be anything.
static bool isInside(int64_t offset, int64_t numElements) {
  return offset >= 0 && offset < numElements;
}

void BankSampler::addRequests(SampledAccess &sampled, const BankBuffer &buffer,
                              const ThreadValues &offsets,
                              ArrayRef<bool> isActive) {
  RowRequest request;
  uint32_t columns = buffer.getColumns();
  int64_t numElements = buffer.type.getNumElements();
  for (size_t i = 0; i < threads.size(); ++i) {
    unsigned lane = threads[i] % kWarpSize;
    if (lane == 0)
      request.lanes = 0;
    if (isActive[i] && lane < sampled.access->numLanes &&
        isInside(offsets[i], numElements)) {
      request.lanes |= 1u << lane;
      request.rows[lane] = uint32_t(offsets[i]) / columns;
      request.columns[lane] = uint32_t(offsets[i]) % columns;
    }
    bool isLast = i + 1 == threads.size() || threads[i + 1] % kWarpSize == 0;
    if (isLast && request.lanes)
      sampled.requests.push_back(request);
  }
}

/// A matrix is read by rows of 16 bytes, as many as there are lanes at once.
void BankSampler::addMatrixRequests(SampledAccess &sampled,
                                    const BankBuffer &buffer, int64_t offset) {
  const BankAccess &access = *sampled.access;
  uint32_t columns = buffer.getColumns();
  int64_t step = sampled.pieceBytes / buffer.elementBytes;
  RowRequest request;
  unsigned lane = 0;
  for (int64_t run = 0; run < access.numElements; run += step)
    for (int64_t row = 0; row < access.numMatrixRows; ++row) {
      int64_t at = offset + row * access.leadDimension + run;
      if (!isInside(at, buffer.type.getNumElements()))
        continue;
      request.lanes |= 1u << lane;
      request.rows[lane] = uint32_t(at) / columns;
      request.columns[lane] = uint32_t(at) % columns;
      if (++lane < kWarpSize)
        continue;
      sampled.requests.push_back(request);
      request.lanes = lane = 0;
    }
  if (request.lanes)
    sampled.requests.push_back(request);
}

std::optional<SampledAccess> BankSampler::sample(const BankBuffer &buffer,
                                                 const BankAccess &access) {
  SampledAccess sampled;
  sampled.access = &access;
  sampled.pieceBytes = access.getPieceBytes(buffer.elementBytes);
  sampled.bytes = access.isOfMatrix() ? sampled.pieceBytes
                                      : access.getBytes(buffer.elementBytes);
  // Values of long kernels would fill the memory.
  constexpr size_t kMaxCached = 512;
  for (auto &ofSample : evaluators)
    for (std::unique_ptr<ThreadEvaluator> &evaluator : ofSample)
      if (evaluator && evaluator->getNumCached() > kMaxCached)
        evaluator.reset();
  std::array<std::optional<ThreadValues>, kMaxSamples> offsets;
  for (unsigned i = 0; i < kMaxSamples; ++i)
    if (!(offsets[i] = getOffsets(access.offset, i)))
      return std::nullopt;
  bool isSame = llvm::all_of(
      offsets, [&](const auto &other) { return *other == *offsets[0]; });
  unsigned numSamples = isSame ? 1 : kMaxSamples;
  sampled.weight = llvm::SaturatingMultiply<uint64_t>(getWeight(access.op),
                                                      kWeightUnit / numSamples);
  for (unsigned i = 0; i < numSamples; ++i) {
    ArrayRef<bool> isActive = getActiveThreads(access.op->getBlock(), i);
    if (!access.isOfMatrix()) {
      addRequests(sampled, buffer, *offsets[i], isActive);
      continue;
    }
    for (size_t thread = 0; thread < threads.size(); ++thread)
      if (threads[thread] % kWarpSize == 0 && isActive[thread])
        addMatrixRequests(sampled, buffer, (*offsets[i])[thread]);
  }
  return sampled;
}

} // namespace mlir::workgroup
