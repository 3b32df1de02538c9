//===- StageOperands.cpp - Operands in workgroup memory -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every element of an operand is multiplied with many of the other, by many
// threads. So the block copies both operands to workgroup memory before it
// multiplies, one part after the other along the sums. Ragged parts are filled
// up with zeros: the loop is the same for all sizes.
//
//===----------------------------------------------------------------------===//

#include "ContractionShape.h"
#include "KeptBuffers.h"
#include "Sharers.h"
#include "StageReads.h"
#include "StagedResult.h"
#include "SumLoops.h"
#include "Support/Remarks.h"
#include "Transforms/Loops/ParallelLoops.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms/Contractions.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_STAGEOPERANDSPASS
#include "workgroup/Transforms/Contractions.h.inc"

namespace {

/// A contraction that is to be staged.
struct Staging {
  Contraction contraction;
  /// All of it in the block of its result's buffer: a loop, or itself.
  Operation *root = nullptr;
  /// Iterations of each loop, as tiles have them, and whether there may be
  /// fewer.
  SmallVector<int64_t> sizes = {};
  SmallVector<bool> isRagged = {};

  Value getResult() { return contraction.getResult()->get(); }
};

class OperandStager {
public:
  OperandStager(Operation *scope, const StageOperandsOptions &options,
                int64_t maxBytes)
      : scope(scope), maxBytes(maxBytes),
        aliases(scope, options.assumeDistinctArguments),
        rewriter(scope->getContext()) {}

  void run();

private:
  SmallVector<linalg::LinalgOp> collect();
  std::string decide(Staging &staging);
  std::string findSizes(Staging &staging);
  std::string checkTiles(Staging &staging);
  Value keepWhole(Staging &staging, MemRefType type);
  void apply(Staging &staging);
  MemRefType getTileType(Staging &staging, OpOperand *operand,
                         gpu::AddressSpace space);
  void stage(Staging &staging, OpOperand *operand);

  Operation *scope;
  int64_t maxBytes;
  ArgumentAliases aliases;
  IRRewriter rewriter;
  /// What blocks keep whole tiles in.
  KeptBuffers kept;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// True if a block executes `op`, as one.
static bool isInBlock(Operation *op) {
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

SmallVector<linalg::LinalgOp> OperandStager::collect() {
  SmallVector<linalg::LinalgOp> ops;
  scope->walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
        !op.hasPureBufferSemantics() || !isInBlock(op))
      return;
    // Not staged already, nor the work of one thread.
    Value result = op.getDpsInits()[0];
    if (!isPrivateMemory(result.getType()) &&
        !getRootBuffer(result).getDefiningOp<memref::AllocaOp>())
      ops.push_back(op);
  });
  return ops;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// The outermost loop around `op` that does nothing but go on adding to the
/// result; `op` if there is none.
static Operation *findRoot(linalg::LinalgOp op) {
  Operation *root = op;
  while (auto loop = dyn_cast<scf::ForOp>(root->getParentOp())) {
    bool isSum =
        loop.getNumResults() == 0 &&
        isLoopInvariant(op.getDpsInits()[0], loop) &&
        llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &in) {
          return &in == root || isMemoryEffectFree(&in);
        });
    if (!isSum)
      break;
    root = loop;
  }
  return root;
}

/// `size`, of rows or columns of a tile, such that threads can share it.
static int64_t roundUp(int64_t size) {
  constexpr int64_t kLeast = 4, kStep = 32;
  if (size > kStep)
    return llvm::alignTo(size, kStep);
  return std::max<int64_t>(llvm::PowerOf2Ceil(size), kLeast);
}

/// Finds how many iterations each loop has at most.
std::string OperandStager::findSizes(Staging &staging) {
  linalg::LinalgOp op = staging.contraction.op;
  staging.sizes.assign(op.getNumLoops(), ShapedType::kDynamic);
  staging.isRagged.assign(op.getNumLoops(), true);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation())
      return "it reads its operands otherwise than element by element";
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      unsigned loop = map.getDimPosition(i);
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
      int64_t &size = staging.sizes[loop];
      if (isKnown || ShapedType::isDynamic(size) || extent < size)
        size = extent;
      if (isKnown)
        staging.isRagged[loop] = false;
    }
  }
  constexpr int64_t kMaxSize = 1 << 16;
  for (auto [loop, size] : llvm::enumerate(staging.sizes)) {
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

/// Decides on the tiles, once it is known which loops are rows and columns.
std::string OperandStager::checkTiles(Staging &staging) {
  Contraction &contraction = staging.contraction;
  for (LoopGroup *group : {&contraction.rows, &contraction.columns}) {
    int64_t &size = staging.sizes[group->loops.back()];
    int64_t rounded = roundUp(size);
    staging.isRagged[group->loops.back()] =
        staging.isRagged[group->loops.back()] || rounded != size;
    size = rounded;
  }
  // Sums at once: vectors of any type are aligned in rows of 16 elements.
  constexpr int64_t kStep = 16, kMaxSteps = 256;
  bool hasLoop = staging.root != contraction.op;
  int64_t numSums = 1;
  for (unsigned loop : contraction.sums.loops) {
    int64_t size = staging.sizes[loop];
    if (!hasLoop && loop == contraction.sums.loops.back() &&
        contraction.isZeroNeutral && size % kStep != 0) {
      staging.sizes[loop] = llvm::alignTo(size, size > 4 ? kStep : 4);
      staging.isRagged[loop] = true;
    }
    if (staging.isRagged[loop] && !contraction.isZeroNeutral)
      return "its sums are ragged, and its body is not one that zeros do not "
             "change";
    numSums *= staging.sizes[loop];
  }
  if (numSums > kMaxSteps)
    return llvm::formatv("it sums up {0} products at once; let "
                         "workgroup-tile-kernel go through them in steps",
                         numSums)
        .str();
  std::string why = describe(contraction, staging.sizes);
  if (!why.empty())
    return why;
  int64_t bytes = 0;
  for (OpOperand *operand : {contraction.lhs, contraction.rhs})
    bytes += getSlotBytes(
        getTileType(staging, operand, gpu::AddressSpace::Workgroup), scope);
  if (bytes > maxBytes)
    return llvm::formatv("its tiles take {0} bytes of workgroup memory, of "
                         "which a block has {1}",
                         bytes, maxBytes)
        .str();
  // What 1024 threads can hold.
  constexpr int64_t kMaxResultBytes = 1024 * 512;
  MemRefType result =
      getTileType(staging, contraction.getResult(), gpu::AddressSpace::Private);
  if (result.getNumElements() * result.getElementTypeBitWidth() / 8 >
      kMaxResultBytes)
    return "its result does not fit into the registers of a block";
  return "";
}

std::string OperandStager::decide(Staging &staging) {
  Contraction &contraction = staging.contraction;
  staging.root = findRoot(contraction.op);
  std::string why = findSizes(staging);
  if (why.empty())
    why = describe(contraction, staging.sizes);
  if (why.empty())
    why = checkTiles(staging);
  if (!why.empty())
    return why;
  Value result = staging.getResult();
  for (OpOperand *operand :
       {contraction.lhs, contraction.rhs, contraction.getResult()})
    if (!cast<MemRefType>(operand->get().getType()).isStrided())
      return "the layout of an operand has no strides";
  for (OpOperand *operand : {contraction.lhs, contraction.rhs})
    if (aliases.mayAlias(operand->get(), result))
      return "its result may be the memory of an operand; say that arguments "
             "are distinct by llvm.noalias or the option "
             "assume-distinct-arguments";
  return "";
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

MemRefType OperandStager::getTileType(Staging &staging, OpOperand *operand,
                                      gpu::AddressSpace space) {
  AffineMap map = staging.contraction.getMap(operand);
  SmallVector<int64_t> shape;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    shape.push_back(staging.sizes[map.getDimPosition(i)]);
  return MemRefType::get(
      shape, getElementTypeOrSelf(operand->get()), MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(scope->getContext(), space));
}

/// Has the contraction read `operand` from a tile in workgroup memory, to which
/// it is copied before unless the block keeps it there.
void OperandStager::stage(Staging &staging, OpOperand *operand) {
  Location loc = staging.contraction.op.getLoc();
  MemRefType type = getTileType(staging, operand, gpu::AddressSpace::Workgroup);
  if (Value tile = kept.findTile(rewriter, staging.contraction, operand,
                                 type.getShape(), staging.root)) {
    rewriter.modifyOpInPlace(staging.contraction.op,
                             [&] { operand->set(tile); });
    return;
  }
  rewriter.setInsertionPoint(staging.root);
  Value tile = memref::AllocOp::create(
      rewriter, loc, type, rewriter.getI64IntegerAttr(kSlotAlignment));
  rewriter.setInsertionPoint(staging.contraction.op);
  Value source = operand->get(), target = tile;
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(getExtent(rewriter, loc, source, dim));
  bool isWhole =
      llvm::all_of(llvm::zip_equal(sizes, type.getShape()), [](auto pair) {
        auto [size, extent] = pair;
        return getConstantIntValue(size) == extent;
      });
  if (!isWhole) {
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    linalg::FillOp::create(rewriter, loc, zero, tile);
    SmallVector<OpFoldResult> zeros(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
    target = memref::SubViewOp::create(rewriter, loc, tile, zeros, sizes, ones);
  }
  memref::CopyOp::create(rewriter, loc, source, target);
  rewriter.modifyOpInPlace(staging.contraction.op, [&] { operand->set(tile); });
}

/// Erases `memref` and what it is a view of, as far as nothing uses it.
static void eraseDead(Value memref, RewriterBase &rewriter) {
  while (Operation *op = memref.getDefiningOp()) {
    bool isDead = llvm::all_of(op->getUsers(), [](Operation *user) {
      return isa<memref::DeallocOp>(user) ||
             (getViewSource(user) && user->use_empty());
    });
    Value source = getViewSource(op);
    if (!isDead || (!source && !isa<memref::AllocOp>(op)))
      return;
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      rewriter.eraseOp(user);
    rewriter.eraseOp(op);
    if (!source)
      return;
    memref = source;
  }
}

/// Makes the buffer that a block keeps the result in so large that the whole
/// tile of it can be stored, in vectors, without asking for edges. Returns
/// where it is stored; null if the block keeps it elsewhere, or not at all.
Value OperandStager::keepWhole(Staging &staging, MemRefType type) {
  StagedResult result(staging.getResult(), staging.root, aliases);
  result.analyze();
  if (!result.isKept())
    return nullptr;
  return kept.makeTile(rewriter, staging.getResult(), type.getShape(),
                       staging.root);
}

void OperandStager::apply(Staging &staging) {
  linalg::LinalgOp op = staging.contraction.op;
  hoistInvariants(op, staging.root);
  Contraction &contraction = staging.contraction;
  MemRefType type =
      getTileType(staging, contraction.getResult(), gpu::AddressSpace::Private);
  recordRemark(RemarkId::StageOperands_StagedOperands, op)
      << "operands of a contraction copied to tiles in workgroup memory"
      << remark::metric("Tile",
                        llvm::formatv("{0}x{1}x{2}", contraction.rows.getSize(),
                                      contraction.columns.getSize(),
                                      contraction.sums.getSize())
                            .str());
  auto make = [&]() -> Value {
    return memref::AllocaOp::create(rewriter, op.getLoc(), type);
  };
  Value tile = keepWhole(staging, type);
  Value view = staging.getResult();
  StagedResult result(view, staging.root, aliases);
  result.analyze();
  bool isPadded =
      cast<MemRefType>(view.getType()).getShape() != type.getShape();
  Value buffer = tile && isPadded ? result.redirectTo(rewriter, tile, make)
                                  : result.redirect(rewriter, isPadded, make);
  if (tile && tile.use_empty())
    rewriter.eraseOp(tile.getDefiningOp());
  stage(staging, contraction.lhs);
  stage(staging, contraction.rhs);
  rewriter.modifyOpInPlace(op, [&] { contraction.getResult()->set(buffer); });
  eraseDead(view, rewriter);
}

void OperandStager::run() {
  for (linalg::LinalgOp op : collect()) {
    Staging staging{Contraction{op}};
    std::string why = decide(staging);
    if (why.empty()) {
      apply(staging);
      continue;
    }
    recordRemark(RemarkId::StageOperands_NotStaged, op)
        << "contraction whose operands are read where they are"
        << remark::reason("{0}", why);
  }
}

LogicalResult stageOperands(Operation *scope,
                            const StageOperandsOptions &options) {
  const Chip *chip = resolveChip(scope, options.chip);
  if (!chip)
    return failure();
  int64_t maxBytes = chip->getCapacity(options.maxBytes);
  OperandStager(scope, options, maxBytes).run();
  // Two blocks are to share a processor.
  stageReads(scope, ArgumentAliases(scope, options.assumeDistinctArguments),
             maxBytes / 2);
  return success();
}

namespace {

struct StageOperandsPass : impl::StageOperandsPassBase<StageOperandsPass> {
  using StageOperandsPassBase::StageOperandsPassBase;

  void runOnOperation() override {
    if (failed(stageOperands(getOperation(),
                             {maxBytes, chip, assumeDistinctArguments})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
