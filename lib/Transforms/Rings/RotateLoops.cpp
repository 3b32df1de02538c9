//===- RotateLoops.cpp - Loads for the next iteration ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a loop is cut into three parts. Its head, all up to a barrier and
// the loads of the first products, is done in the iteration before. Its tail,
// the last products and what comes of them, accesses no memory, so that the
// head of the next iteration can be put in front of it, and no write or barrier
// changes its place among accesses. The rest is in between.
//
// What only computes is done in each part that needs it. Memory that an
// iteration allocates cannot be: it is allocated in front of the loop, if the
// head and the rest use it.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Program/OpEffects.h"
#include "IterationBuffers.h"
#include "Support/Remarks.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/Rings.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_ROTATELOOPSPASS
#include "workgroup/Transforms/Rings.h.inc"

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

static bool isProduct(Operation *op, bool fma) {
  if (isa<nvgpu::MmaSyncOp, NVVM::MmaOp>(op))
    return true;
  return fma && isa<vector::FMAOp, math::FmaOp>(op);
}

/// True if `op` may be done once more, or not, or at another time; memory that
/// it makes is other memory each time.
static bool isComputation(Operation *op) {
  OpKind kind = getOpKind(op);
  // A fence is for the barrier behind it; reports may guard accesses.
  if (kind == OpKind::ProxyFence || kind == OpKind::Report)
    return false;
  return isTransparent(op) && op->getNumRegions() == 0;
}

static bool isWorkgroupLoad(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || !effects.onlyHasEffect<MemoryEffects::Read>())
    return false;
  return llvm::any_of(op->getOperandTypes(), isWorkgroupMemory) &&
         llvm::none_of(op->getOperandTypes(), [](Type type) {
           return isa<BaseMemRefType>(type) && !isWorkgroupMemory(type);
         });
}

namespace {

using Ops = llvm::SmallSetVector<Operation *, 16>;

/// A loop whose iterations are to begin in the ones before.
class Rotation {
public:
  explicit Rotation(scf::ForOp loop) : loop(loop), buffers(loop) {}

  /// Cuts the body into its parts. False if there is nothing to do; then `why`
  /// is the reason, or empty if nobody would expect it.
  bool plan(bool fma, std::string &why);
  void apply(RewriterBase &rewriter);

private:
  SmallVector<Operation *> getSources(Operation *op);
  bool findProducts(bool fma);
  std::string findLoads(Ops &slice);
  std::string findEffects(const Ops &slice);
  std::string planHead();
  std::string planTail();

  void clone(RewriterBase &rewriter, const Ops &ops, IRMapping &mapping);
  IRMapping mapIteration(Value iteration, ValueRange carried);
  void mapMade(IRMapping &mapping, ValueRange values);
  SmallVector<Value> getMade(const IRMapping &mapping);
  Value getLastIteration(RewriterBase &rewriter, Value carried);
  SmallVector<Value> rotate(RewriterBase &rewriter);

  scf::ForOp loop;
  /// Products that add to what the loop carries, and to which no other adds.
  Ops first, last;
  /// What the head does once: all up to the barrier that is no computation, and
  /// the loads of the first products.
  Ops effects;
  /// The parts, each in the order of the body. What only computes is in the
  /// head and in the rest, if both need it.
  Ops head, rest, tail;
  /// Those of the head that are done once, and whose results others use.
  SmallVector<Operation *> made;
  /// What the head allocates for the rest too.
  IterationBuffers buffers;
};

} // namespace

/// The operations of the body that `op`, or what is in it, takes values of.
SmallVector<Operation *> Rotation::getSources(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  SmallVector<Operation *> sources;
  for (Value value : values)
    if (Operation *source = value.getDefiningOp())
      if (source->getBlock() == loop.getBody())
        sources.push_back(source);
  return sources;
}

/// Finds the first and the last products. False if there are none.
bool Rotation::findProducts(bool fma) {
  DenseSet<Operation *> comeOfProducts, makeProducts;
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isOfOthers = llvm::any_of(getSources(&op), [&](Operation *source) {
      return comeOfProducts.contains(source);
    });
    bool isOne = isProduct(&op, fma);
    if (isOne && !isOfOthers)
      first.insert(&op);
    if (isOne || isOfOthers)
      comeOfProducts.insert(&op);
  }
  for (Operation &op : llvm::reverse(loop.getBody()->without_terminator())) {
    bool isOne = isProduct(&op, fma);
    if (isOne && !makeProducts.contains(&op))
      last.insert(&op);
    if (isOne || makeProducts.contains(&op))
      makeProducts.insert_range(getSources(&op));
  }
  return !first.empty();
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// Finds what the first products are made of, as far as the loads. Returns the
/// reason why that cannot be done in the iteration before, or empty.
std::string Rotation::findLoads(Ops &slice) {
  SmallVector<Operation *> work;
  for (Operation *product : first)
    llvm::append_range(work, getSources(product));
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!slice.insert(op))
      continue;
    if (isComputation(op))
      llvm::append_range(work, getSources(op));
    else if (!isWorkgroupLoad(op))
      return nameInRemark(op) + " is what its first products wait for";
  }
  return "";
}

/// Finds what the head does once, `slice` being what the first products are
/// made of. Returns the reason why it cannot be done in the iteration before,
/// or empty.
std::string Rotation::findEffects(const Ops &slice) {
  Operation *barrier = nullptr;
  unsigned numLoads = llvm::count_if(slice, isWorkgroupLoad);
  // Loads for others than the first products may be passed, unless writes or
  // barriers follow.
  Ops before, loads, passed;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (numLoads == 0)
      break;
    if (isWorkgroupLoad(&op) && slice.contains(&op)) {
      if (!barrier)
        return "no barrier stands before the loads of its first products";
      loads.insert(&op);
      --numLoads;
      continue;
    }
    if (isWorkgroupLoad(&op))
      passed.insert(&op);
    if (isWorkgroupLoad(&op) || isComputation(&op))
      continue;
    if (!loads.empty())
      return nameInRemark(&op) + " stands between the loads of its first "
                                 "products";
    before.insert(&op);
    if (isBarrierInBlock(&op)) {
      barrier = &op;
      effects.insert_range(before);
      effects.insert_range(passed);
      before.clear();
      passed.clear();
    }
  }
  if (loads.empty())
    return "its first products are made of nothing from workgroup memory";
  if (!before.empty())
    return nameInRemark(before.back()) +
           " stands between the barrier and the loads of its first products";
  effects.insert_range(loads);
  return "";
}

/// Finds the loads of the first products, and what comes before. Returns the
/// reason why they cannot be done in the iteration before, or empty.
std::string Rotation::planHead() {
  Ops slice;
  std::string why = findLoads(slice);
  if (why.empty())
    why = findEffects(slice);
  if (!why.empty())
    return why;
  for (Operation *op : effects)
    if (llvm::any_of(op->getUsers(), [&](Operation *user) {
          return !effects.contains(
              loop.getBody()->findAncestorOpInBlock(*user));
        }))
      made.push_back(op);

  // And all that these are made of.
  Ops needed;
  SmallVector<Operation *> work(effects.begin(), effects.end());
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!needed.insert(op))
      continue;
    if (!isComputation(op) && !effects.contains(op))
      return nameInRemark(op) + " is what the loads of its first products "
                                "depend on";
    if (makesMemory(op))
      if (std::string why = buffers.add(op, effects.getArrayRef());
          !why.empty())
        return why;
    llvm::append_range(work, getSources(op));
  }
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (buffers.contains(&op))
      continue;
    if (needed.contains(&op))
      head.insert(&op);
    if (!effects.contains(&op))
      rest.insert(&op);
  }
  return "";
}

/// Finds what comes of the last products. Returns the reason why the next
/// iteration cannot begin before it, or empty.
std::string Rotation::planTail() {
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isLast = last.contains(&op);
    for (Operation *source : getSources(&op))
      isLast |= tail.contains(source);
    if (!isLast)
      continue;
    if (!isComputation(&op))
      return nameInRemark(&op) + " depends on its last products";
    tail.insert(&op);
    rest.remove(&op);
  }
  for (Operation *op : head) {
    if (tail.contains(op))
      return nameInRemark(op) + " depends on its last products";
    llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), values);
    for (auto [argument, yielded] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
      if (values.contains(argument) && yielded.getDefiningOp() &&
          tail.contains(yielded.getDefiningOp()))
        return nameInRemark(op) + " takes what the last products make";
  }
  return "";
}

bool Rotation::plan(bool fma, std::string &why) {
  if (!findProducts(fma))
    return false;
  std::optional<APInt> iterations = loop.getStaticTripCount();
  if (iterations && iterations->ult(2))
    why = "it has no two iterations";
  // Else a step less than the upper bound might not fit.
  if (!iterations &&
      (loop.getUnsignedCmp() ||
       getConstantIntValue(loop.getLowerBound()).value_or(-1) < 0))
    why = "its lower bound may be negative";
  if (why.empty())
    why = planHead();
  if (why.empty())
    why = planTail();
  return why.empty();
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

void Rotation::clone(RewriterBase &rewriter, const Ops &ops,
                     IRMapping &mapping) {
  for (Operation *op : ops)
    rewriter.clone(*op, mapping);
}

/// What the loop's arguments are in an iteration.
IRMapping Rotation::mapIteration(Value iteration, ValueRange carried) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iteration);
  mapping.map(loop.getRegionIterArgs(), carried);
  return mapping;
}

void Rotation::mapMade(IRMapping &mapping, ValueRange values) {
  for (Operation *op : made) {
    mapping.map(op->getResults(), values.take_front(op->getNumResults()));
    values = values.drop_front(op->getNumResults());
  }
}

SmallVector<Value> Rotation::getMade(const IRMapping &mapping) {
  SmallVector<Value> values;
  for (Operation *op : made)
    for (Value result : op->getResults())
      values.push_back(mapping.lookup(result));
  return values;
}

/// The induction variable of the last iteration, which is a constant or
/// `carried`.
Value Rotation::getLastIteration(RewriterBase &rewriter, Value carried) {
  std::optional<APInt> iterations = loop.getStaticTripCount();
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!iterations || !from || !step)
    return carried;
  int64_t last = *from + (iterations->getSExtValue() - 1) * *step;
  return arith::ConstantOp::create(
      rewriter, loop.getLoc(),
      rewriter.getIntegerAttr(carried.getType(), last));
}

/// Erases the operations of `block` that nothing needs.
static void eraseDead(RewriterBase &rewriter, Block *block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

/// Emits the rotated loop, which has an iteration at least, and returns its
/// results.
SmallVector<Value> Rotation::rotate(RewriterBase &rewriter) {
  Location loc = loop.getLoc();
  Value step = loop.getStep();
  IRMapping mapping = mapIteration(loop.getLowerBound(), loop.getInitArgs());
  clone(rewriter, head, mapping);

  size_t numCarried = loop.getInitArgs().size();
  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(loop.getLowerBound());
  llvm::append_range(inits, getMade(mapping));
  Value bound =
      arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), step);
  auto rotated = scf::ForOp::create(rewriter, loc, loop.getLowerBound(), bound,
                                    step, inits);
  rotated->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(rotated.getBody());
    ValueRange arguments = rotated.getRegionIterArgs();
    Value iteration = rotated.getInductionVar();
    IRMapping now = mapIteration(iteration, arguments.take_front(numCarried));
    mapMade(now, arguments.drop_front(numCarried + 1));
    clone(rewriter, rest, now);
    Value later = arith::AddIOp::create(rewriter, loc, iteration, step);
    SmallVector<Value> carried;
    for (auto [argument, yielded] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
      carried.push_back(tail.contains(yielded.getDefiningOp())
                            ? argument // which the head does not use
                            : now.lookupOrDefault(yielded));
    IRMapping next = mapIteration(later, carried);
    clone(rewriter, head, next);
    clone(rewriter, tail, now);
    SmallVector<Value> yielded;
    for (Value value : loop.getYieldedValues())
      yielded.push_back(now.lookupOrDefault(value));
    yielded.push_back(later);
    llvm::append_range(yielded, getMade(next));
    scf::YieldOp::create(rewriter, loc, yielded);
    eraseDead(rewriter, rotated.getBody());
  }

  ValueRange results = rotated.getResults();
  IRMapping end = mapIteration(getLastIteration(rewriter, results[numCarried]),
                               results.take_front(numCarried));
  mapMade(end, results.drop_front(numCarried + 1));
  clone(rewriter, rest, end);
  clone(rewriter, tail, end);
  SmallVector<Value> values;
  for (Value value : loop.getYieldedValues())
    values.push_back(end.lookupOrDefault(value));
  return values;
}

void Rotation::apply(RewriterBase &rewriter) {
  recordRemark(RemarkId::RotateLoops_Rotated, loop)
      << "what an iteration of a loop begins with is done in the one before"
      << remark::metric("Values", made.size());
  Location loc = loop.getLoc();
  buffers.hoist();
  rewriter.setInsertionPoint(loop);
  if (loop.getStaticTripCount()) {
    Block *block = loop->getBlock();
    rewriter.replaceOp(loop, rotate(rewriter));
    return eraseDead(rewriter, block);
  }
  Value hasAny =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                            loop.getLowerBound(), loop.getUpperBound());
  auto branch = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), hasAny,
                                  /*withElseRegion=*/loop.getNumResults() != 0);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> results = rotate(rewriter);
  if (!results.empty()) {
    scf::YieldOp::create(rewriter, loc, results);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, loop.getInitArgs());
  }
  eraseDead(rewriter, branch.thenBlock());
  rewriter.replaceOp(loop, branch.getResults());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void rotateLoops(Operation *root, bool fma) {
  SmallVector<scf::ForOp> loops;
  for (Operation *scope : collectDeviceScopes(root))
    scope->walk([&](scf::ForOp loop) { loops.push_back(loop); });
  IRRewriter rewriter(root->getContext());
  for (scf::ForOp loop : loops) {
    Rotation rotation(loop);
    std::string why;
    if (rotation.plan(fma, why))
      rotation.apply(rewriter);
    else if (!why.empty())
      recordRemark(RemarkId::RotateLoops_NotRotated, loop)
          << "loop of products whose loads are not done in the iteration before"
          << remark::reason("{0}", why);
  }
}

namespace {
struct RotateLoopsPass final : impl::RotateLoopsPassBase<RotateLoopsPass> {
  using RotateLoopsPassBase::RotateLoopsPassBase;

  void runOnOperation() override { rotateLoops(getOperation(), fma); }
};
} // namespace

} // namespace mlir::workgroup
