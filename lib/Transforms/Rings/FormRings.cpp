//===- FormRings.cpp - Copies of a loop to rings --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop that copies tiles to workgroup memory and reads them in the same
// iteration waits for memory in every iteration. With a ring of buffers instead
// of one, the copies of later iterations can be under way meanwhile. This pass
// decides which copies may, and says so by operations on a ring;
// workgroup-lower-rings makes them run ahead.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Memory/BufferFlow.h"
#include "Support/Remarks.h"
#include "Transforms/Copies/CopyShape.h"
#include "Transforms/Copies/LoopCopies.h"
#include "Transforms/Utils/BufferViews.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms/Rings.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_FORMRINGSPASS
#include "workgroup/Transforms/Rings.h.inc"

namespace {

/// A copy that fills a buffer in each iteration of a loop, and what is done
/// with that buffer.
struct TileCopy {
  Operation *op;
  Value source, target;
  scf::ForOp loop;
  /// The memory that the target is of.
  Value buffer = getRootBuffer(target);
  /// What computes the source in the loop.
  LoopSlice slice = {};
  /// The filling of the whole buffer before; null if there is none.
  linalg::FillOp fill = {};
  /// Views of the buffer, each after what it is a view of.
  SmallVector<Operation *> views = {};
  /// Uses of the buffer, or of its views, that read it.
  SmallVector<OpOperand *> reads = {};
  SmallVector<Operation *> deallocs = {};

  MemRefType getTile() const { return cast<MemRefType>(buffer.getType()); }
};

/// Loops with the copies in their bodies.
using LoopCopies = llvm::MapVector<Operation *, std::vector<TileCopy>>;

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// Tells of a copy that no scf.for executes in every iteration.
static void reportNotInIteration(Operation *copy) {
  recordRemark(RemarkId::FormRings_NotInRing, copy)
      << "copy that cannot run ahead of its loop"
      << remark::reason("it stands in {0}, not in the body of an scf.for, "
                        "which executes it in every iteration",
                        nameInRemark(copy->getParentOp()));
}

static LoopCopies collectCopies(Operation *root) {
  LoopCopies copies;
  for (Operation *scope : collectDeviceScopes(root))
    scope->walk([&](Operation *op) {
      std::optional<CopyOperands> copy = getCopyOperands(op);
      if (auto gather = dyn_cast<GatherOp>(op);
          gather && !isa_and_nonnull<PutOp>(gather.getTile().getDefiningOp()))
        copy = CopyOperands{gather.getSource(), gather.getTile()};
      if (!copy || !isWorkgroupMemory(copy->target.getType()) ||
          getMemorySpace(copy->source) != MemorySpace::Global)
        return;
      if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
        copies[loop].push_back({op, copy->source, copy->target, loop});
      else if (isInLoop(op, scope))
        reportNotInIteration(op);
    });
  return copies;
}

//===----------------------------------------------------------------------===//
// Decide: the buffer of a copy
//===----------------------------------------------------------------------===//

/// The reason why the buffer of `copy` cannot be a tile, or empty.
static StringRef getObstacleInBuffer(const TileCopy &copy) {
  auto source = dyn_cast<MemRefType>(copy.source.getType());
  auto target = dyn_cast<MemRefType>(copy.target.getType());
  if (!source || !target)
    return "its rank is not known";
  if (source.getElementType() != target.getElementType())
    return "it converts elements";
  if (!source.isStrided())
    return "the layout of its source has no strides";
  MemRefType tile = copy.getTile();
  bool isBuffer = isWorkgroupMemory(tile) && tile.hasStaticShape() &&
                  tile.getLayout().isIdentity();
  if (auto argument = dyn_cast<BlockArgument>(copy.buffer))
    isBuffer &= isKernel(argument.getOwner()->getParentOp());
  else
    isBuffer &=
        isa<memref::AllocOp, memref::AllocaOp>(copy.buffer.getDefiningOp());
  if (!isBuffer)
    return "its target is no row-major buffer of the kernel of constant "
           "extents";
  if (std::max(getStatedAlignment(copy.buffer),
               getNaturalAlignment(tile, getExecutionScope(copy.op))) >
      kSlotAlignment)
    return "its buffer asks for more alignment than 16 bytes";
  return "";
}

/// The reason why `use`, of the buffer of `copy` or a view of it, forbids that
/// the buffer is another one in each iteration, or empty.
static std::string addUse(OpOperand &use, TileCopy &copy) {
  Operation *user = use.getOwner();
  if (user == copy.op)
    return "";
  if (isa<memref::DeallocOp>(user)) {
    copy.deallocs.push_back(user);
    return "";
  }
  if (getViewSource(user) == use.get()) {
    copy.views.push_back(user);
    return "";
  }
  Operation *inBody = copy.loop.getBody()->findAncestorOpInBlock(*user);
  if (!inBody)
    return nameInRemark(user) + " uses its buffer outside of the loop";
  auto fill = dyn_cast<linalg::FillOp>(user);
  if (fill && user == inBody && inBody->isBeforeInBlock(copy.op) &&
      !copy.fill && isZero(fill.getInputs()[0]) &&
      isLeadingPart(use.get(), copy.buffer, /*isWhole=*/true)) {
    copy.fill = fill;
    return "";
  }
  if (fill && !isZero(fill.getInputs()[0]))
    return nameInRemark(user) + " fills its buffer with more than zeros";
  if (inBody == copy.op || inBody->isBeforeInBlock(copy.op))
    return nameInRemark(user) + " uses its buffer before it in the iteration";
  std::optional<Accesses> accesses = getAccesses(user);
  if (accesses && llvm::is_contained(accesses->written, use.get()))
    return nameInRemark(user) + " writes to its buffer";
  if (!accesses || !getAliases(use).empty() ||
      !llvm::is_contained(accesses->read, use.get()))
    return nameInRemark(user) + " does more with its buffer than read it";
  copy.reads.push_back(&use);
  return "";
}

/// Collects the uses of the buffer of `copy`. Returns the reason why they
/// forbid that it is a tile of a ring, or empty.
static std::string followBuffer(TileCopy &copy) {
  llvm::SmallSetVector<Value, 8> names;
  names.insert(copy.buffer);
  for (unsigned i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses()) {
      size_t numViews = copy.views.size();
      std::string why = addUse(use, copy);
      if (!why.empty())
        return why;
      if (copy.views.size() != numViews)
        names.insert(copy.views.back()->getResult(0));
    }
  if (copy.reads.empty())
    return "nothing reads its buffer";
  if (!isLeadingPart(copy.target, copy.buffer, /*isWhole=*/!copy.fill))
    return "it fills only a part of its buffer";
  if (copy.fill && !isa<GatherOp>(copy.op))
    return getPaddingObstacle(cast<MemRefType>(copy.source.getType()),
                              copy.getTile())
        .str();
  return "";
}

//===----------------------------------------------------------------------===//
// Decide: the loop
//===----------------------------------------------------------------------===//

static std::string getObstacleInLoop(TileCopy &copy, const GlobalWrites &writes,
                                     const UniformityAnalysis &uniformity,
                                     const ArgumentAliases &aliases) {
  auto isUniform = [&](Value value) { return uniformity.isUniform(value); };
  if (!uniformity.isUniformPoint(copy.op) ||
      !llvm::all_of(copy.op->getOperands(), isUniform))
    return "not all threads of the block execute it together with the same "
           "operands";
  for (Value operand : copy.op->getOperands())
    if (operand != copy.target && !addToSlice(operand, copy.loop, copy.slice))
      return "its source depends on more than the iteration";
  return getObstacleToReadAhead(writes, copy.source, aliases);
}

/// Removes from `copies`, of one loop, those that cannot join a ring, each with
/// a remark.
static void keepJoining(std::vector<TileCopy> &copies,
                        const UniformityAnalysis &uniformity,
                        const ArgumentAliases &aliases) {
  GlobalWrites writes(copies.front().loop);
  llvm::erase_if(copies, [&](TileCopy &copy) {
    std::string why = getObstacleInBuffer(copy).str();
    if (why.empty())
      why = followBuffer(copy);
    if (why.empty())
      why = getObstacleInLoop(copy, writes, uniformity, aliases);
    if (why.empty())
      return false;
    recordRemark(RemarkId::FormRings_NotInRing, copy.op)
        << "copy that cannot run ahead of its loop"
        << remark::reason("{0}", why);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Decide: the number of slots
//===----------------------------------------------------------------------===//

static void reportNoRing(const TileCopy &copy, const Twine &why) {
  recordRemark(RemarkId::FormRings_NotInRing, copy.op)
      << "copies that do not run ahead of their loop"
      << remark::reason("{0}", why.str());
}

namespace {

/// What is left of the workgroup memory of kernels.
class Budget {
public:
  explicit Budget(const FormRingsOptions &options) : options(options) {}

  /// Takes room for as many slots as there is, up to `limit`, and returns their
  /// number; nothing after an error.
  std::optional<int64_t> take(ArrayRef<TileCopy> copies, int64_t limit);

private:
  std::optional<int64_t> getRoom(Operation *scope);

  const FormRingsOptions &options;
  /// Bytes of each kernel that are free.
  DenseMap<Operation *, int64_t> room;
};

} // namespace

std::optional<int64_t> Budget::getRoom(Operation *scope) {
  const Chip *chip = resolveChip(scope, options.chip);
  if (!chip)
    return std::nullopt;
  KernelBuffers buffers = collectKernelBuffers(scope);
  int64_t used = buffers.getStaticBytes() + buffers.dynamicBytes;
  return chip->getCapacity(options.maxBytes) - used;
}

std::optional<int64_t> Budget::take(ArrayRef<TileCopy> copies, int64_t limit) {
  Operation *scope = getExecutionScope(copies.front().op);
  if (!room.contains(scope)) {
    std::optional<int64_t> bytes = getRoom(scope);
    if (!bytes)
      return std::nullopt;
    room[scope] = *bytes;
  }
  int64_t &free = room[scope];
  int64_t slot = 0;
  for (const TileCopy &copy : copies)
    slot += getSlotBytes(copy.getTile(), scope);
  // The first slot is the buffer that there is already.
  int64_t more = limit - 1;
  if (slot > 0)
    more = std::min(more, std::max<int64_t>(free, 0) / slot);
  free -= more * slot;
  return more + 1;
}

/// The slots of a ring for `copies`, of one loop; less than two if there is
/// none. Nothing after an error.
static std::optional<int64_t> chooseSlots(ArrayRef<TileCopy> copies,
                                          const FormRingsOptions &options,
                                          Budget &budget) {
  scf::ForOp loop = copies.front().loop;
  std::optional<APInt> iterations = loop.getStaticTripCount();
  if (iterations && iterations->ule(1)) {
    reportNoRing(copies.front(), "the loop has no two iterations");
    return 1;
  }
  int64_t limit =
      iterations ? iterations->getLimitedValue(options.slots) : options.slots;
  std::optional<int64_t> slots = budget.take(copies, limit);
  if (slots && *slots < 2)
    reportNoRing(copies.front(),
                 "two slots take more workgroup memory than there is");
  return slots;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// The operation of the loop's body before which the ring's slot is to be got:
/// the first that reads a tile.
static Operation *findFirstReader(ArrayRef<TileCopy> copies) {
  Operation *first = nullptr;
  for (const TileCopy &copy : copies)
    for (OpOperand *read : copy.reads) {
      scf::ForOp loop = copy.loop;
      Operation *reader =
          loop.getBody()->findAncestorOpInBlock(*read->getOwner());
      if (!first || reader->isBeforeInBlock(first))
        first = reader;
    }
  return first;
}

/// Erases the copy, deallocations, and views that only they used.
static void eraseCopy(TileCopy &copy, RewriterBase &rewriter) {
  rewriter.eraseOp(copy.op);
  if (copy.fill)
    rewriter.eraseOp(copy.fill);
  for (Operation *dealloc : copy.deallocs)
    rewriter.eraseOp(dealloc);
  for (Operation *&view : llvm::reverse(copy.views))
    if (view->use_empty())
      rewriter.eraseOp(std::exchange(view, nullptr));
  llvm::erase(copy.views, nullptr);
}

/// Lets the readers of `copy` read `tile` instead, by views of it.
static void redirectReaders(TileCopy &copy, Value tile, Operation *reader,
                            RewriterBase &rewriter) {
  IRMapping mapping;
  mapping.map(copy.buffer, tile);
  DominanceInfo dominance;
  for (Operation *view : copy.views) {
    Value source = getViewSource(view);
    if (dominance.properlyDominates(view, tile.getDefiningOp())) {
      rewriter.setInsertionPoint(reader);
      rewriter.clone(*view, mapping);
      continue;
    }
    rewriter.modifyOpInPlace(
        view, [&] { view->replaceUsesOfWith(source, mapping.lookup(source)); });
    mapping.map(view->getResult(0), view->getResult(0));
  }
  for (OpOperand *read : copy.reads)
    rewriter.modifyOpInPlace(read->getOwner(),
                             [&] { read->set(mapping.lookup(read->get())); });
}

/// Erases the buffer of `copy`, which nothing uses any more.
static void eraseBuffer(TileCopy &copy, RewriterBase &rewriter) {
  for (Operation *view : llvm::reverse(copy.views))
    if (view->use_empty())
      rewriter.eraseOp(view);
  auto argument = dyn_cast<BlockArgument>(copy.buffer);
  if (!argument)
    return rewriter.eraseOp(copy.buffer.getDefiningOp());
  Block *entry = argument.getOwner();
  llvm::BitVector erased(entry->getNumArguments());
  erased.set(argument.getArgNumber());
  eraseAttributions(entry->getParentOp(), erased, rewriter);
}

/// `source` in the type that it has if its extents are those of `tile`.
static Value castToTile(Value source, MemRefType tile, Location loc,
                        RewriterBase &rewriter) {
  auto type = cast<MemRefType>(source.getType());
  if (type.getShape() == tile.getShape())
    return source;
  auto known = MemRefType::get(tile.getShape(), type.getElementType(),
                               type.getLayout(), type.getMemorySpace());
  if (type.getLayout().isIdentity()) {
    // Strides that were computed from extents stay what they are.
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
    known = MemRefType::get(
        tile.getShape(), type.getElementType(),
        StridedLayoutAttr::get(type.getContext(), offset, strides),
        type.getMemorySpace());
  }
  return memref::CastOp::create(rewriter, loc, known, source);
}

static void formRing(MutableArrayRef<TileCopy> copies, int64_t slots,
                     const FormRingsOptions &options, RewriterBase &rewriter) {
  Operation *scope = getExecutionScope(copies.front().op);
  Location loc = copies.front().op->getLoc();
  SmallVector<MemRefType> tiles;
  for (const TileCopy &copy : copies)
    tiles.push_back(copy.getTile());
  auto type = RingType::get(rewriter.getContext(), slots, tiles);
  recordRemark(RemarkId::FormRings_FormedRing, copies.front().op)
      << "copies of a loop made a ring" << remark::metric("Slots", slots)
      << remark::metric("Tiles", copies.size());

  rewriter.setInsertionPointToStart(&getBody(scope)->front());
  IntegerAttr producers, blocks;
  if (options.producers > 0)
    producers = rewriter.getI64IntegerAttr(options.producers);
  if (options.blocks > 0)
    blocks = rewriter.getI64IntegerAttr(options.blocks);
  Value ring = RingOp::create(rewriter, loc, type, producers, blocks);
  Operation *reader = findFirstReader(copies);
  for (TileCopy &copy : copies)
    for (Operation *op : copy.slice)
      if (!op->isBeforeInBlock(copies.front().op))
        rewriter.moveOpBefore(op, copies.front().op);
  SmallVector<Type> results(tiles.begin(), tiles.end());
  rewriter.setInsertionPoint(reader);
  auto put = PutOp::create(rewriter, loc, results, ring);
  for (auto [copy, tile] : llvm::zip_equal(copies, put.getTiles())) {
    Location at = copy.op->getLoc();
    if (isa<GatherOp>(copy.op)) {
      auto gather = cast<GatherOp>(rewriter.clone(*copy.op));
      gather.getTileMutable().set(tile);
      continue;
    }
    Value source = copy.source;
    if (!copy.fill)
      source = castToTile(source, copy.getTile(), at, rewriter);
    CopyOp::create(rewriter, at, source, tile);
  }
  CommitOp::create(rewriter, loc, ring);
  auto get = GetOp::create(rewriter, loc, results, ring);
  scf::ForOp loop = copies.front().loop;
  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  ReleaseOp::create(rewriter, loc, ring);
  for (auto [copy, tile] : llvm::zip_equal(copies, get.getTiles())) {
    eraseCopy(copy, rewriter);
    redirectReaders(copy, tile, reader, rewriter);
    eraseBuffer(copy, rewriter);
  }
}

LogicalResult formRings(Operation *root, const FormRingsOptions &options) {
  if (options.slots < 2)
    return success();
  LoopCopies loops = collectCopies(root);
  if (loops.empty())
    return success();
  ArgumentAliases aliases(root, options.assumeDistinctArguments);
  UniformityAnalysis uniformity(root, UniformityUnit::Block, &aliases);
  Budget budget(options);
  IRRewriter rewriter(root->getContext());
  for (auto &[loop, copies] : loops)
    keepJoining(copies, uniformity, aliases);
  for (auto &[loop, copies] : loops) {
    if (copies.empty())
      continue;
    std::optional<int64_t> slots = chooseSlots(copies, options, budget);
    if (!slots)
      return failure();
    if (*slots >= 2)
      formRing(copies, *slots, options, rewriter);
  }
  return success();
}

namespace {
struct FormRingsPass final : impl::FormRingsPassBase<FormRingsPass> {
  using FormRingsPassBase::FormRingsPassBase;

  void runOnOperation() override {
    std::string why = getSlotsObstacle(slots);
    if (why.empty() && producers != 0)
      why = getProducersObstacle(producers);
    if (why.empty() && blocks != 0)
      why = getBlocksObstacle(blocks);
    if (!why.empty()) {
      emitError(getOperation()->getLoc()) << why;
      return signalPassFailure();
    }
    if (failed(
            formRings(getOperation(), {slots, maxBytes, assumeDistinctArguments,
                                       chip, producers, blocks})))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
