//===- LowerRings.cpp - Rings to asynchronous copies ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With S slots, the copies of a turn are started S - 1 turns before. One
// barrier in each turn does for both hazards: all threads have waited for their
// part of the slot that is read next, and all have read the slot that is filled
// next.
//
// The first S - 1 turns' copies come before the loop. Those past the last turn
// are not made. Slots are numbers that the loop carries, stepped by an addition
// and a selection, and never start again: should the loop be entered once more,
// its first copies fill slots that nobody can still be reading.
//
//===----------------------------------------------------------------------===//

#include "CopyEmitter.h"
#include "IndexBuilder.h"
#include "KernelBuffers.h"
#include "LoopCopies.h"
#include "RingCounter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/Barriers.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Support/Remarks.h"
#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_LOWERRINGSPASS
#include "workgroup/Passes.h.inc"

namespace {

/// A ring that is put and got once in the same block.
struct Ring {
  RingOp op;
  PutOp put;
  CommitOp commit;
  GetOp get;
  ReleaseOp release;
  SmallVector<CopyOp> copies = {};
  /// What computes the sources in the loop around.
  LoopSlice slice = {};
  /// Why the copies cannot run ahead of their readers; empty if they can.
  std::string obstacle = {};

  Location getLoc() { return op.getLoc(); }
  RingType getType() { return op.getRing().getType(); }
  scf::ForOp getLoop() { return dyn_cast<scf::ForOp>(put->getParentOp()); }
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// The only user of `ring` that is an `OpTy`; null if there are others.
template <typename OpTy>
static OpTy getOnlyUser(RingOp ring) {
  OpTy only;
  for (Operation *user : ring.getRing().getUsers())
    if (auto match = dyn_cast<OpTy>(user)) {
      if (only)
        return {};
      only = match;
    }
  return only;
}

static InFlightDiagnostic emitCannotLower(Ring &ring, Operation *where,
                                          const Twine &why) {
  InFlightDiagnostic error = ring.op.emitOpError("cannot be lowered: ") << why;
  if (where)
    error.attachNote(where->getLoc()) << "here";
  return error;
}

/// Collects the copies to the tiles that are put, and all else that is done
/// with them: nothing.
static LogicalResult collectCopies(Ring &ring) {
  for (Value tile : ring.put.getTiles())
    for (OpOperand &use : tile.getUses()) {
      auto copy = dyn_cast<CopyOp>(use.getOwner());
      if (!copy || use.get() != copy.getTile() ||
          copy->getBlock() != ring.put->getBlock() ||
          !copy->isBeforeInBlock(ring.commit))
        return emitCannotLower(ring, use.getOwner(),
                               "tiles that are put are filled by "
                               "workgroup.copy before the commit, and by "
                               "nothing else");
      ring.copies.push_back(copy);
    }
  llvm::sort(ring.copies,
             [](CopyOp lhs, CopyOp rhs) { return lhs->isBeforeInBlock(rhs); });
  return success();
}

static FailureOr<Ring> matchRing(RingOp op) {
  Ring ring{op, getOnlyUser<PutOp>(op), getOnlyUser<CommitOp>(op),
            getOnlyUser<GetOp>(op), getOnlyUser<ReleaseOp>(op)};
  std::array<Operation *, 4> order = {ring.put, ring.commit, ring.get,
                                      ring.release};
  for (auto [i, user] : llvm::enumerate(order))
    if (!user || user->getBlock() != order[0]->getBlock() ||
        (i > 0 && !order[i - 1]->isBeforeInBlock(user)))
      return emitCannotLower(ring, nullptr,
                             "it is not put, committed, got and released once "
                             "each, in this order in one block");
  if (failed(collectCopies(ring)))
    return failure();
  return ring;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// The reason why the copies of `ring` cannot be started in earlier turns.
static StringRef findObstacle(Ring &ring, const ArgumentAliases &aliases) {
  scf::ForOp loop = ring.getLoop();
  if (!loop)
    return "the ring is used in no scf.for";
  if (ring.getType().getSlots() < 2)
    return "the ring has one slot";
  auto mayAlias = [&](Value lhs, Value rhs) {
    return aliases.mayAlias(lhs, rhs);
  };
  for (CopyOp copy : ring.copies) {
    if (!addToSlice(copy.getSource(), loop, ring.slice))
      return "a source depends on more than the turn";
    StringRef why;
    loop.getBody()->walk([&](Operation *op) {
      if (auto other = dyn_cast<CopyOp>(op);
          other && llvm::is_contained(ring.copies, other))
        return WalkResult::advance();
      why = getObstacleToReadAhead(op, copy.getSource(), mayAlias);
      return why.empty() ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (!why.empty())
      return why;
  }
  return "";
}

/// A ring is work of the block: decides whether all threads do it together.
static LogicalResult checkUniformity(Ring &ring,
                                     const UniformityAnalysis &uniformity) {
  std::optional<Divergence> why = uniformity.getDivergence(ring.put);
  for (CopyOp copy : ring.copies)
    if (!why)
      why = uniformity.getDivergence(copy.getSource());
  if (!why)
    return success();
  InFlightDiagnostic error =
      emitCannotLower(ring, ring.put,
                      "not all threads of the block are known to use it "
                      "together with the same operands");
  why->explain(error);
  return error;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

namespace {

class RingLowering {
public:
  RingLowering(Ring &ring, const LowerRingsOptions &options, bool isAsync,
               AlignmentAnalysis &alignment, RewriterBase &rewriter)
      : ring(ring), options(options), alignment(alignment), rewriter(rewriter),
        index{rewriter, ring.getLoc()}, loc(ring.getLoc()),
        mayBeAsync(isAsync) {}

  /// The copies of a turn are done in it.
  void lowerInPlace();
  /// The copies of a turn are started in earlier ones.
  void lowerAhead();

private:
  // Slots and turns.
  void allocate(int64_t count);
  SmallVector<Value> getTiles(OpFoldResult slot);
  Value advance(Value slot, int64_t by);
  Value getSteps(int64_t distance);
  Value hasTurnAfter(Value turn, int64_t distance);
  std::optional<Value> hasTurn(int64_t number);

  // Copies.
  SmallVector<Copy> cloneCopies(Value turn, OpFoldResult slot);
  Copy makeCopy(CopyOp op);
  void emit(const Copy &copy);
  void copyTurn(std::optional<Value> condition, Value turn, OpFoldResult slot);
  void startTurn(Value condition, Value turn, OpFoldResult slot);
  void closeGroup();
  void waitForGroups(int64_t numPending);

  Value enterLoop(Value first, int64_t distance);
  void eraseRing(ValueRange tiles);

  Ring &ring;
  const LowerRingsOptions &options;
  AlignmentAnalysis &alignment;
  RewriterBase &rewriter;
  IndexBuilder index;
  Location loc;
  bool mayBeAsync;

  scf::ForOp loop;
  int64_t numSlots = 1;
  /// One for each tile, of all slots.
  SmallVector<Value> storage;
  /// Whether any copy is asynchronous.
  bool isAsync = false;
  /// Copies that are lowered. Erased last: what has been found out about values
  /// must not be taken for others in their place.
  SmallVector<Operation *> dead;
};

} // namespace

/// The alignment of a slot in bytes, which any access is content with.
static constexpr int64_t kSlotAlignment = 16;

/// The bytes from a tile of `type` to that of the next slot.
static int64_t getSlotBytes(MemRefType type, Operation *scope) {
  return llvm::alignTo(getStaticBytes(type, scope).value_or(0), kSlotAlignment);
}

//===----------------------------------------------------------------------===//
// Slots and turns
//===----------------------------------------------------------------------===//

/// Allocates `count` slots at the kernel's entry.
void RingLowering::allocate(int64_t count) {
  numSlots = count;
  Operation *scope = getExecutionScope(ring.op);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&getBody(scope)->front());
  for (MemRefType tile : ring.getType().getTiles()) {
    auto type = MemRefType::get(
        {numSlots * getSlotBytes(tile, scope)}, rewriter.getI8Type(),
        MemRefLayoutAttrInterface(), tile.getMemorySpace());
    storage.push_back(memref::AllocOp::create(
        rewriter, loc, type, rewriter.getI64IntegerAttr(kSlotAlignment)));
  }
}

/// The tiles of a slot.
SmallVector<Value> RingLowering::getTiles(OpFoldResult slot) {
  SmallVector<Value> tiles;
  Operation *scope = getExecutionScope(ring.op);
  for (auto [buffer, type] :
       llvm::zip_equal(storage, ring.getType().getTiles())) {
    int64_t bytes = getSlotBytes(type, scope);
    OpFoldResult shift = index.mul(slot, rewriter.getIndexAttr(bytes));
    tiles.push_back(memref::ViewOp::create(rewriter, loc, type, buffer,
                                           index.value(shift), ValueRange()));
  }
  return tiles;
}

/// The slot `by` after `slot`, which is less than the number of slots.
Value RingLowering::advance(Value slot, int64_t by) {
  if (by == 0)
    return slot;
  Value end = index.value(rewriter.getIndexAttr(numSlots));
  Value next = index.value(index.add(slot, rewriter.getIndexAttr(by)));
  Value wrapped = arith::SubIOp::create(rewriter, loc, next, end);
  Value isIn = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                     next, end);
  return arith::SelectOp::create(rewriter, loc, isIn, next, wrapped);
}

/// `distance` steps of the loop, in the type of its induction variable.
Value RingLowering::getSteps(int64_t distance) {
  Value step = loop.getStep();
  Value factor = arith::ConstantOp::create(
      rewriter, loc, rewriter.getIntegerAttr(step.getType(), distance));
  return arith::MulIOp::create(rewriter, loc, step, factor);
}

/// True if there is a turn `distance` turns after that of `turn`, which there
/// is.
Value RingLowering::hasTurnAfter(Value turn, int64_t distance) {
  // What is left, as a number without a sign, cannot overflow.
  Value left = arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), turn);
  Value step = loop.getStep();
  Type wide = rewriter.getI64Type();
  if (step.getType().isInteger() &&
      step.getType().getIntOrFloatBitWidth() < 64) {
    left = arith::ExtUIOp::create(rewriter, loc, wide, left);
    step = arith::ExtUIOp::create(rewriter, loc, wide, step);
  }
  Value factor = arith::ConstantOp::create(
      rewriter, loc, rewriter.getIntegerAttr(step.getType(), distance));
  Value steps = arith::MulIOp::create(rewriter, loc, step, factor);
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ugt, left,
                               steps);
}

/// True if the loop has a turn number `number`; nothing if it is known to have.
std::optional<Value> RingLowering::hasTurn(int64_t number) {
  std::optional<APInt> turns = loop.getStaticTripCount();
  if (turns && turns->ugt(number))
    return std::nullopt;
  auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                    : arith::CmpIPredicate::slt;
  Value from = loop.getLowerBound();
  Value hasAny =
      arith::CmpIOp::create(rewriter, loc, less, from, loop.getUpperBound());
  if (number == 0)
    return hasAny;
  Value hasMore = hasTurnAfter(from, number);
  return arith::AndIOp::create(rewriter, loc, hasAny, hasMore).getResult();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The copies of the turn of `turn`, to be done at the insertion point.
SmallVector<Copy> RingLowering::cloneCopies(Value turn, OpFoldResult slot) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), turn);
  for (Operation *op : ring.slice)
    rewriter.clone(*op, mapping);
  mapping.map(ring.put.getTiles(), getTiles(slot));
  SmallVector<Copy> copies;
  for (CopyOp copy : ring.copies)
    copies.push_back(makeCopy(cast<CopyOp>(rewriter.clone(*copy, mapping))));
  return copies;
}

Copy RingLowering::makeCopy(CopyOp op) {
  Copy copy{op, op.getSource(), op.getTile()};
  copy.isCooperative = true;
  copy.isPadded =
      op.getSource().getType().getShape() != op.getTile().getType().getShape();
  copy.mayBeAsync =
      mayBeAsync && getMemorySpace(op.getSource()) == MemorySpace::Global;
  return copy;
}

void RingLowering::emit(const Copy &copy) {
  EmittedCopy emitted = emitCopy(rewriter, copy, alignment, options.copies);
  isAsync |= emitted.isAsync;
  rewriter.setInsertionPointAfter(copy.op);
}

/// Does the copies of the turn of `turn`, if `condition` holds or is missing.
void RingLowering::copyTurn(std::optional<Value> condition, Value turn,
                            OpFoldResult slot) {
  OpBuilder::InsertionGuard guard(rewriter);
  if (condition) {
    auto branch = scf::IfOp::create(rewriter, loc, *condition);
    rewriter.setInsertionPointToStart(branch.thenBlock());
  }
  for (const Copy &copy : cloneCopies(turn, slot)) {
    emit(copy);
    dead.push_back(copy.op);
  }
}

/// Starts the copies of the turn of `turn` if `condition` holds: what cannot be
/// asynchronous is loaded now and stored when the slot in use is released.
void RingLowering::startTurn(Value condition, Value turn, OpFoldResult slot) {
  SmallVector<Copy> others;
  for (const Copy &copy : cloneCopies(turn, slot)) {
    Operation *op = copy.op;
    if (!emitStagedCopy(rewriter, copy, alignment, options.copies, condition,
                        ring.release))
      others.push_back(copy);
    else
      dead.push_back(op);
    rewriter.setInsertionPointAfter(op);
  }
  if (others.empty())
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  auto branch = scf::IfOp::create(rewriter, loc, condition);
  for (const Copy &copy : others) {
    rewriter.moveOpBefore(copy.op, branch.thenBlock()->getTerminator());
    emit(copy);
    dead.push_back(copy.op);
  }
}

void RingLowering::closeGroup() {
  if (isAsync)
    NVVM::CpAsyncCommitGroupOp::create(rewriter, loc);
}

void RingLowering::waitForGroups(int64_t numPending) {
  if (isAsync)
    NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, numPending);
}

//===----------------------------------------------------------------------===//
// The two forms
//===----------------------------------------------------------------------===//

/// Erases the operations on the ring; `tiles` are those that are got.
void RingLowering::eraseRing(ValueRange tiles) {
  rewriter.replaceOp(ring.get, tiles);
  for (CopyOp copy : ring.copies)
    rewriter.eraseOp(copy);
  for (Operation *op : dead)
    rewriter.eraseOp(op);
  for (Operation *op : {ring.put.getOperation(), ring.commit.getOperation(),
                        ring.release.getOperation(), ring.op.getOperation()})
    rewriter.eraseOp(op);
}

void RingLowering::lowerInPlace() {
  allocate(1);
  rewriter.setInsertionPoint(ring.put);
  // Readers of the slot's last contents may still be busy.
  gpu::BarrierOp::create(rewriter, loc);
  SmallVector<Value> tiles = getTiles(rewriter.getIndexAttr(0));
  for (CopyOp op : ring.copies) {
    Copy copy = makeCopy(op);
    copy.target = tiles[llvm::find(ring.put.getTiles(), op.getTile()) -
                        ring.put.getTiles().begin()];
    emit(copy);
  }
  rewriter.setInsertionPoint(ring.commit);
  closeGroup();
  waitForGroups(0);
  rewriter.setInsertionPoint(ring.get);
  gpu::BarrierOp::create(rewriter, loc);
  eraseRing(tiles);
}

/// Enters the loop with the copies of its first turns under way. Returns the
/// slot of the first one.
Value RingLowering::enterLoop(Value first, int64_t distance) {
  rewriter.setInsertionPoint(loop);
  Value slot = first;
  for (int64_t turn = 0; turn < distance; ++turn) {
    std::optional<Value> condition = hasTurn(turn);
    Value number = loop.getLowerBound();
    if (turn > 0)
      number = arith::AddIOp::create(rewriter, loc, number, getSteps(turn));
    copyTurn(condition, number, slot);
    closeGroup();
    slot = advance(slot, 1);
  }
  return slot;
}

void RingLowering::lowerAhead() {
  loop = ring.getLoop();
  // Through registers, copies are one turn ahead at most.
  allocate(mayBeAsync ? ring.getType().getSlots() : 2);
  int64_t distance = numSlots - 1;

  std::optional<RingCounter> counter;
  rewriter.setInsertionPointToStart(&getBody(getExecutionScope(loop))->front());
  Value first = index.value(rewriter.getIndexAttr(0));
  bool hasBarriers = false;
  loop.getBody()->walk(
      [&](Operation *op) { hasBarriers |= isBlockBarrier(op); });
  if (RingCounter::canReach(loop)) {
    counter.emplace(rewriter, loop, first);
    first = counter->getValues()[0];
  }
  // What the barriers of the loop would have made visible to the copies, this
  // one does; and slots that start again may still be read.
  if (hasBarriers || !counter)
    insertBarrierBefore(rewriter, loop);

  Value ahead = enterLoop(first, distance);
  rewriter.setInsertionPoint(loop);
  loop = addCarriedValues(rewriter, loop, {first, ahead});
  Value read = loop.getRegionIterArgs().end()[-2];
  Value written = loop.getRegionIterArgs().back();

  rewriter.setInsertionPoint(ring.get);
  waitForGroups(distance - 1);
  gpu::BarrierOp::create(rewriter, loc);
  Value turn = loop.getInductionVar();
  Value hasLater = hasTurnAfter(turn, distance);
  Value later = arith::AddIOp::create(rewriter, loc, turn, getSteps(distance));
  startTurn(hasLater, later, written);
  closeGroup();
  SmallVector<Value> tiles = getTiles(read);

  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  yieldLast(rewriter, loop, {advance(read, 1), advance(written, 1)});
  if (counter)
    counter->handOn(loop, loop.getResults().take_back(2).take_front());
  // Nothing is under way any more; this is where that can be seen.
  rewriter.setInsertionPointAfter(counter ? counter->getOutermost(loop) : loop);
  waitForGroups(0);
  eraseRing(tiles);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static void report(Ring &ring, bool mayBeAsync) {
  if (!ring.obstacle.empty()) {
    missedRemark(RemarkSource::LowerRings, "NotAhead", ring.op)
        << "copies of a ring are done in the turn that reads them"
        << remark::reason("{0}", ring.obstacle);
    return;
  }
  int64_t slots = mayBeAsync ? ring.getType().getSlots() : 2;
  passedRemark(RemarkSource::LowerRings, "LoweredRing", ring.op)
      << "copies of a ring run ahead of their readers"
      << remark::metric("Slots", slots)
      << remark::metric("TurnsAhead", slots - 1);
}

LogicalResult lowerRings(Operation *root, const LowerRingsOptions &options) {
  std::vector<Ring> rings;
  bool hasFailed = false;
  for (Operation *scope : collectDeviceScopes(root))
    scope->walk([&](RingOp op) {
      FailureOr<Ring> ring = matchRing(op);
      hasFailed |= failed(ring);
      if (succeeded(ring))
        rings.push_back(std::move(*ring));
    });
  if (hasFailed || rings.empty())
    return failure(hasFailed);

  UniformityAnalysis uniformity(root);
  ArgumentAliases aliases(root, options.assumeDistinctArguments);
  for (Ring &ring : rings) {
    hasFailed |= failed(checkUniformity(ring, uniformity));
    ring.obstacle = findObstacle(ring, aliases).str();
  }
  if (hasFailed)
    return failure();

  IRRewriter rewriter(root->getContext());
  for (Ring &ring : rings) {
    const Chip *chip =
        resolveChip(getExecutionScope(ring.op), options.copies.chip);
    if (!chip)
      return failure();
    bool mayBeAsync =
        chip->hasAsyncCopies() && options.engine != RingEngine::Registers;
    report(ring, mayBeAsync);
    AlignmentAnalysis alignment(
        {options.copies.assumeAlignment, options.copies.vectorBytes, root});
    RingLowering lowering(ring, options, mayBeAsync, alignment, rewriter);
    if (ring.obstacle.empty())
      lowering.lowerAhead();
    else
      lowering.lowerInPlace();
  }
  return success();
}

namespace {
struct LowerRingsPass final : impl::LowerRingsPassBase<LowerRingsPass> {
  using LowerRingsPassBase::LowerRingsPassBase;

  void runOnOperation() override {
    if (!llvm::isPowerOf2_64(assumeAlignment)) {
      emitError(getOperation()->getLoc())
          << "assume-alignment must be a power of two, not "
          << assumeAlignment.getValue();
      return signalPassFailure();
    }
    LowerRingsOptions options;
    options.engine = engine;
    options.copies.assumeAlignment = assumeAlignment;
    options.copies.bypassL1 = bypassL1;
    options.copies.chip = chip;
    options.assumeDistinctArguments = assumeDistinctArguments;
    if (failed(lowerRings(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
