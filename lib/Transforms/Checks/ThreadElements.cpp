//===- ThreadElements.cpp - The elements that threads touch ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/VectorInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/Sequence.h"
#include <map>

namespace mlir::workgroup {

/// Thread by thread and iteration by iteration, for all accesses of a kernel:
/// some tenths of a second.
static constexpr int64_t kMaxEffort = 1 << 22;
/// An iteration costs as much as that of so many threads, however few they are.
static constexpr int64_t kMinEffort = 256;

ThreadElements::ThreadElements(Operation *scope, std::array<int64_t, 3> shape,
                               const UniformityAnalysis &uniformity)
    : scope(scope), shape(shape), uniformity(uniformity) {
  llvm::append_range(threads, llvm::seq(shape[0] * shape[1] * shape[2]));
}

/// True if `access` may leave out some of what it is said to touch: by a mask,
/// or as it is beyond an end of its memref that is none of the buffer.
static bool mayLeaveOut(const ThreadAccess &access) {
  if (!access.footprint->isPartial)
    return false;
  auto transfer = dyn_cast<VectorTransferOpInterface>(access.op);
  if (!transfer || transfer.getMaskType() || !access.operand)
    return true;
  Value buffer = access.operand->get();
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return !type || type.getRank() > 1 || !type.getLayout().isIdentity() ||
         !isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(
             buffer.getDefiningOp());
}

std::optional<ThreadTouches> ThreadElements::find(const ThreadAccess &asked,
                                                  const BufferUnits &buffer) {
  access = &asked;
  units = buffer;
  bool isOfThread = asked.accessScope != AccessScope::Warp && !asked.isAsync;
  if (!asked.footprint || asked.footprint->basis || !isOfThread ||
      asked.footprint->coordinates.size() != 1)
    return std::nullopt;
  nest.clear();
  for (Operation *op = asked.op->getParentOp(); op && op != scope;
       op = op->getParentOp())
    nest.insert(nest.begin(), op);
  needed.clear();
  addNeeded(asked);
  auto isReachedInside = [&](Operation *op) { return isReached(op); };
  touched.units.assign(threads.size(), llvm::BitVector(units.count));
  touched.isCertain = isReached(asked.op) &&
                      llvm::all_of(nest, isReachedInside) &&
                      !mayLeaveOut(asked) && !isDropped(asked.op);
  Place all;
  all.active.resize(threads.size(), true);
  if (!visit(/*depth=*/0, all))
    return std::nullopt;
  return std::move(touched);
}

Operation *findMappedLoop(Operation *op, Value buffer) {
  Operation *home = buffer.getParentBlock()->getParentOp();
  while ((op = op->getParentOp()) && op != home && !op->isAncestor(home))
    if (std::optional<ParallelLoop> loop = ParallelLoop::getMapped(op);
        loop && (loop->goesTo(ProcessorLevel::Threads) ||
                 loop->goesTo(ProcessorLevel::Warps) ||
                 loop->goesTo(ProcessorLevel::Lanes)))
      return op;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Certainty
//===----------------------------------------------------------------------===//

/// True if all threads that enter the region of `op` get to it, or none does.
bool ThreadElements::isReached(Operation *op) const {
  return op->getBlock()->isEntryBlock() || uniformity.isUniformPoint(op);
}

/// True if some threads may drop all that `op` loads.
bool ThreadElements::isDropped(Operation *op) const {
  return !op->use_empty() && llvm::all_of(op->getUses(), [&](OpOperand &use) {
    auto select = dyn_cast<arith::SelectOp>(use.getOwner());
    return select && use.getOperandNumber() != 0 &&
           !uniformity.isUniform(select.getCondition());
  });
}

bool ThreadElements::areUniform(ValueRange values) const {
  return llvm::all_of(values,
                      [&](Value value) { return uniformity.isUniform(value); });
}

/// True if all threads of a block do the same iterations of `loop`, those that
/// are their block's.
bool ThreadElements::isSharedByBlocks(const ParallelLoop &loop) const {
  return !loop.unknown && areUniform(loop.op->getOperands()) &&
         llvm::all_of(loop.targets, [](const auto &target) {
           return target && target->level == ProcessorLevel::Blocks;
         });
}

/// True if all threads do the iterations of `share`, however many there are.
bool ThreadElements::isSameInAll(const Share &share) const {
  auto isUniform = [&](OpFoldResult bound) {
    auto value = dyn_cast<Value>(bound);
    return !value || uniformity.isUniform(value);
  };
  return !share.target &&
         llvm::all_of(share.ranges, [&](const LoopRange &range) {
           return isUniform(range.lower) && isUniform(range.upper) &&
                  isUniform(range.step);
         });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Adds what the access depends on: a loop that it does not depend on is as
/// good as one iteration of it.
void ThreadElements::addNeeded(const ThreadAccess &access) {
  SmallVector<Value> worklist;
  auto add = [&](OpFoldResult value) {
    if (auto dynamic = dyn_cast_if_present<Value>(value))
      worklist.push_back(dynamic);
  };
  for (auto [value, factor] : access.footprint->coordinates.front().terms)
    worklist.push_back(value);
  for (const LinearIndex::AffineTerm &term :
       access.footprint->coordinates.front().affineTerms)
    llvm::append_range(worklist, term.operands);
  for (const AccessFootprint::Extent &extent : access.footprint->box)
    add(extent.count);
  for (Operation *op : nest)
    llvm::append_range(worklist, op->getOperands());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (needed.insert(value).second)
      if (Operation *op = value.getDefiningOp())
        llvm::append_range(worklist, op->getOperands());
  }
}

ThreadEvaluator ThreadElements::makeEvaluator(const Place &place) const {
  auto lookUp = [&place](Value value,
                         ThreadEvaluator &) -> std::optional<ThreadValues> {
    auto known = place.values.find(value);
    return known == place.values.end() ? std::nullopt
                                       : std::optional(known->second);
  };
  return ThreadEvaluator(scope, shape, threads, lookUp);
}

/// Adds `factor` times what `map` makes of `operands` to `sum`; false if that
/// is not known.
static bool addTerm(const LinearIndex::AffineTerm &term,
                    ThreadEvaluator &evaluator, ThreadValues &sum) {
  SmallVector<const ThreadValues *> operands;
  for (Value operand : term.operands) {
    operands.push_back(evaluator.evaluate(operand));
    if (!operands.back())
      return false;
  }
  Builder builder(term.map.getContext());
  for (auto [thread, into] : llvm::enumerate(sum)) {
    SmallVector<Attribute> constants;
    for (const ThreadValues *values : operands)
      constants.push_back(builder.getIndexAttr((*values)[thread]));
    SmallVector<Attribute> results;
    if (failed(term.map.constantFold(constants, results)))
      return false;
    into += term.factor * cast<IntegerAttr>(results.front()).getInt();
  }
  return true;
}

std::optional<ThreadValues>
ThreadElements::evaluate(const LinearIndex &index,
                         ThreadEvaluator &evaluator) const {
  ThreadValues sum = evaluator.splat(index.constant);
  for (auto [value, factor] : index.terms) {
    const ThreadValues *values = evaluator.evaluate(value);
    if (!values)
      return std::nullopt;
    for (auto [into, number] : llvm::zip_equal(sum, *values))
      into += factor * number;
  }
  for (const LinearIndex::AffineTerm &term : index.affineTerms)
    if (!addTerm(term, evaluator, sum))
      return std::nullopt;
  return sum;
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

/// Goes on from `place`, inside of what is above `depth` in the nest. False if
/// it is not known what happens there.
bool ThreadElements::visit(unsigned depth, const Place &place) {
  effort += std::max<int64_t>(threads.size(), kMinEffort);
  if (effort > kMaxEffort)
    return false;
  if (place.active.none())
    return true;
  if (depth == nest.size())
    return touch(place);
  Operation *op = nest[depth];
  Operation *inner = depth + 1 < nest.size() ? nest[depth + 1] : access->op;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch, inner->getParentRegion(), depth, place);
  if (isa<scf::ForOp, scf::ForallOp, scf::ParallelOp>(op))
    return visitLoop(op, depth, place);
  if (!isa<scf::ExecuteRegionOp, memref::AllocaScopeOp>(op))
    touched.isCertain &= uniformity.isUniformPoint(inner);
  return visit(depth + 1, place);
}

bool ThreadElements::visitBranch(scf::IfOp branch, Region *region,
                                 unsigned depth, const Place &place) {
  ThreadEvaluator evaluator = makeEvaluator(place);
  const ThreadValues *condition = evaluator.evaluate(branch.getCondition());
  if (!condition) {
    touched.isCertain &= uniformity.isUniform(branch.getCondition());
    return visit(depth + 1, place);
  }
  bool isThen = region == &branch.getThenRegion();
  Place taken = place;
  for (auto [thread, value] : llvm::enumerate(*condition))
    if ((value != 0) != isThen)
      taken.active.reset(thread);
  return visit(depth + 1, taken);
}

bool ThreadElements::visitLoop(Operation *op, unsigned depth,
                               const Place &place) {
  SmallVector<Share> shares;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    LoopRange range{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    shares.push_back({{range}, {loop.getInductionVar()}, std::nullopt});
    return visitShares(shares, depth, place);
  }
  std::optional<ParallelLoop> mapped = ParallelLoop::getMapped(op);
  ParallelLoop loop = mapped.value_or(ParallelLoop());
  if (!mapped) {
    loop.op = op;
    loop.readRanges();
    loop.targets.resize(loop.ranges.size());
  }
  if (loop.unknown || loop.goesTo(ProcessorLevel::Blocks) ||
      loop.goesTo(ProcessorLevel::Arguments)) {
    touched.isCertain &= isSharedByBlocks(loop);
    return visit(depth + 1, place);
  }
  // Of linear dimensions, that of the highest number changes slowest.
  std::map<ProcessorLevel, SmallVector<unsigned>> linear;
  auto ivs = op->getRegion(0).front().getArguments();
  for (auto [dim, target] : llvm::enumerate(loop.targets))
    if (target && target->isLinear)
      linear[target->level].push_back(dim);
    else
      shares.push_back({{loop.ranges[dim]}, {ivs[dim]}, target});
  for (auto &[level, dims] : linear) {
    llvm::sort(dims, [&](unsigned lhs, unsigned rhs) {
      return loop.targets[lhs]->dim > loop.targets[rhs]->dim;
    });
    Share share{{}, {}, loop.targets[dims.front()]};
    for (unsigned dim : dims) {
      share.ranges.push_back(loop.ranges[dim]);
      share.ivs.push_back(ivs[dim]);
    }
    shares.push_back(std::move(share));
  }
  return visitShares(shares, depth, place);
}

bool ThreadElements::visitShares(ArrayRef<Share> shares, unsigned depth,
                                 const Place &place) {
  if (shares.empty())
    return visit(depth + 1, place);
  return visitIterations(shares.front(), shares.drop_front(), depth, place);
}

/// Which of the processors of `target`, of which there are `count`, each thread
/// is of.
ThreadValues ThreadElements::getIdsOf(const ProcessorTarget &target,
                                      int64_t &count) const {
  int64_t size = target.level == ProcessorLevel::Warps ? kWarpSize : 1;
  bool isLinear = target.isLinear || target.level == ProcessorLevel::Lanes;
  count = isLinear ? int64_t(threads.size()) : shape[target.dim];
  bool isDivided = isLinear || target.dim == 0;
  if (isDivided)
    count = std::max<int64_t>(llvm::divideCeil(count, size), 1);
  if (target.level == ProcessorLevel::Lanes)
    count = std::min(count, kWarpSize);
  return ThreadValues(llvm::map_range(threads, [&](int64_t thread) {
    if (target.level == ProcessorLevel::Lanes)
      return thread % kWarpSize;
    int64_t id = isLinear ? thread : getIds(thread)[target.dim];
    return isDivided ? id / size : id;
  }));
}

/// The bounds of `ranges` in each thread; nothing if they are not known.
static std::optional<SmallVector<ThreadBounds>>
evaluateBounds(ArrayRef<LoopRange> ranges, ThreadEvaluator &evaluator) {
  SmallVector<ThreadBounds> bounds;
  for (const LoopRange &range : ranges) {
    std::optional<ThreadValues> lower = evaluator.evaluateMixed(range.lower),
                                upper = evaluator.evaluateMixed(range.upper),
                                step = evaluator.evaluateMixed(range.step);
    if (!lower || !upper || !step)
      return std::nullopt;
    bounds.push_back({std::move(*lower), std::move(*upper), std::move(*step)});
  }
  return bounds;
}

/// Puts each thread into its iteration, by number, of the dimensions `share`;
/// those that have none leave.
void ThreadElements::setIteration(const Share &share,
                                  ArrayRef<ThreadBounds> bounds,
                                  ThreadValues numbers, Place &place) const {
  for (unsigned dim = share.ivs.size(); dim-- > 0;) {
    const auto &[lower, upper, step] = bounds[dim];
    ThreadValues &values = place.values[share.ivs[dim]];
    values.assign(threads.size(), 0);
    for (auto [thread, number] : llvm::enumerate(numbers)) {
      int64_t span = std::max<int64_t>(upper[thread] - lower[thread], 0);
      int64_t trips = llvm::divideCeil(span, step[thread]);
      // The slowest dimension takes what is left.
      int64_t own = dim == 0 || trips == 0 ? number : number % trips;
      number = trips == 0 ? number : number / trips;
      values[thread] = lower[thread] + own * step[thread];
      if (own >= trips)
        place.active.reset(thread);
    }
  }
}

/// The iterations of the loop dimensions `share`, in each of those of `rest`.
/// Where bounds are not known, there is one iteration, of which nothing else is
/// known.
bool ThreadElements::visitIterations(const Share &share, ArrayRef<Share> rest,
                                     unsigned depth, const Place &place) {
  ThreadEvaluator evaluator = makeEvaluator(place);
  std::optional<SmallVector<ThreadBounds>> bounds =
      evaluateBounds(share.ranges, evaluator);
  if (!bounds) {
    touched.isCertain &= isSameInAll(share);
    return visitShares(rest, depth, place);
  }
  for (const ThreadBounds &known : *bounds)
    if (llvm::any_of(known.step, [](int64_t step) { return step < 1; }))
      return false;
  int64_t count = 1;
  ThreadValues numbers =
      share.target ? getIdsOf(*share.target, count) : evaluator.splat(0);
  bool isNeeded =
      llvm::any_of(share.ivs, [&](Value iv) { return needed.contains(iv); });
  do {
    Place next = place;
    setIteration(share, *bounds, numbers, next);
    if (next.active.none())
      break;
    if (!visitShares(rest, depth, next))
      return false;
    for (int64_t &number : numbers)
      number += count;
  } while (isNeeded);
  return true;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

bool ThreadElements::touch(const Place &place) {
  ThreadEvaluator evaluator = makeEvaluator(place);
  std::optional<ThreadValues> first =
      evaluate(access->footprint->coordinates.front(), evaluator);
  if (!first)
    return false;
  SmallVector<ThreadValues> counts;
  for (const AccessFootprint::Extent &extent : access->footprint->box) {
    std::optional<ThreadValues> values = evaluator.evaluateMixed(extent.count);
    if (!values && extent.limit > 0) {
      touched.isCertain = false;
      values = evaluator.splat(extent.limit);
    }
    if (!values)
      return false;
    counts.push_back(std::move(*values));
  }
  for (int64_t thread : place.active.set_bits()) {
    SmallVector<std::pair<int64_t, int64_t>> box;
    for (auto [extent, values] :
         llvm::zip_equal(access->footprint->box, counts)) {
      int64_t count = values[thread];
      if (extent.limit > 0)
        count = std::min(count, extent.limit);
      box.emplace_back(count, extent.stride);
    }
    if (!touchBox(thread, (*first)[thread], box))
      return false;
  }
  return true;
}

/// Adds the units from byte `first` on, and those of each step of `box`.
bool ThreadElements::touchBox(int64_t thread, int64_t first,
                              ArrayRef<std::pair<int64_t, int64_t>> box) {
  if (++effort > kMaxEffort)
    return false;
  if (!box.empty()) {
    auto [count, stride] = box.front();
    for (int64_t i = 0; i < count; ++i)
      if (!touchBox(thread, first + i * stride, box.drop_front()))
        return false;
    return true;
  }
  int64_t run = access->footprint->run;
  if (first % units.bytes != 0 || run % units.bytes != 0)
    return false;
  int64_t from = std::max<int64_t>(first / units.bytes, 0),
          to = std::min((first + run) / units.bytes, units.count);
  if (from < to) // else it is out of bounds
    touched.units[thread].set(from, to);
  return true;
}

} // namespace mlir::workgroup
