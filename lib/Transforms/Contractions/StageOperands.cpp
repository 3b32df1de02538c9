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

#include "BlockContractions.h"
#include "CarriedResult.h"
#include "KeptBuffers.h"
#include "Sharers.h"
#include "StageReads.h"
#include "StagedResult.h"
#include "SumLoops.h"
#include "Support/Remarks.h"
#include "Transforms/Utils/BufferViews.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/IR/Workgroup.h"
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
  /// The loops that the result goes through, that one included.
  CarriedResult carried = {};
  TileSizes tile = {};

  Value getResult() { return contraction.getResult()->get(); }
};

class OperandStager {
public:
  OperandStager(Operation *scope, const StageOperandsOptions &options,
                const Chip &chip, int64_t maxBytes)
      : scope(scope), chip(chip), maxBytes(maxBytes),
        aliases(scope, options.assumeDistinctArguments),
        rewriter(scope->getContext()) {}

  void run();

private:
  SmallVector<linalg::LinalgOp> collect();
  std::string decide(Staging &staging);
  std::string checkTiles(Staging &staging);
  StagedResult analyze(Staging &staging);
  Value keepWhole(Staging &staging, MemRefType type);
  void apply(Staging &staging);
  MemRefType getTileType(Staging &staging, OpOperand *operand,
                         gpu::AddressSpace space);
  void stage(Staging &staging, OpOperand *operand);

  Operation *scope;
  const Chip &chip;
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

/// The operation that gathers the elements of `operand` in a tile; null if
/// there is none.
static GatherOp findGather(OpOperand *operand) {
  Value tile = operand->get();
  if (auto part = tile.getDefiningOp<memref::SubViewOp>())
    if (isLeadingSubView(part))
      tile = part.getSource();
  GatherOp gather;
  for (Operation *user : tile.getUsers())
    if (auto match = dyn_cast<GatherOp>(user);
        match && match.getTile() == tile &&
        match->getBlock() == operand->getOwner()->getBlock() &&
        match->isBeforeInBlock(operand->getOwner()))
      gather = match;
  return gather;
}

/// Decides on the tiles, once it is known which loops are rows and columns.
std::string OperandStager::checkTiles(Staging &staging) {
  Contraction &contraction = staging.contraction;
  std::string why = roundTileSizes(contraction, staging.root != contraction.op,
                                   chip, staging.tile);
  if (why.empty())
    why = describe(contraction, staging.tile.sizes);
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
  staging.root = findSumLoops(contraction.op);
  staging.carried =
      findCarriedResult(staging.root, contraction.op.getDpsInits()[0], aliases);
  std::string why;
  for (AffineMap map : contraction.op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      why = "it reads its operands otherwise than element by element";
  if (why.empty())
    why = findTileSizes(contraction.op, staging.tile);
  if (why.empty())
    why = describe(contraction, staging.tile.sizes);
  if (why.empty())
    why = checkTiles(staging);
  if (!why.empty())
    return why;
  Value result = staging.getResult();
  for (OpOperand *operand :
       {contraction.lhs, contraction.rhs, contraction.getResult()})
    if (!cast<MemRefType>(operand->get().getType()).isStrided())
      return "the layout of an operand has no strides";
  auto mayAlias = [&](OpOperand *operand) {
    GatherOp gather = findGather(operand);
    return aliases.mayAlias(operand->get(), result) ||
           (gather && aliases.mayAlias(gather.getSource(), result));
  };
  for (OpOperand *operand : {contraction.lhs, contraction.rhs})
    if (mayAlias(operand))
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
    shape.push_back(staging.tile.sizes[map.getDimPosition(i)]);
  return MemRefType::get(
      shape, getElementTypeOrSelf(operand->get()), MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(scope->getContext(), space));
}

/// Has the contraction read `operand` from a tile in workgroup memory, to which
/// it is copied before unless the block keeps it there.
void OperandStager::stage(Staging &staging, OpOperand *operand) {
  Location loc = staging.contraction.op.getLoc();
  MemRefType type = getTileType(staging, operand, gpu::AddressSpace::Workgroup);
  GatherOp gather = findGather(operand);
  if (gather && gather.getTile().getType().getShape() == type.getShape()) {
    rewriter.modifyOpInPlace(staging.contraction.op,
                             [&] { operand->set(gather.getTile()); });
    return;
  }
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

/// Who uses the result.
StagedResult OperandStager::analyze(Staging &staging) {
  StagedResult result(staging.getResult(), staging.carried.root, aliases,
                      staging.carried.updates);
  result.analyze();
  return result;
}

/// Makes the buffer that a block keeps the result in so large that the whole
/// tile of it can be stored, in vectors, without asking for edges. Returns
/// where it is stored; null if the block keeps it elsewhere, or not at all.
Value OperandStager::keepWhole(Staging &staging, MemRefType type) {
  StagedResult result = analyze(staging);
  if (staging.root != staging.carried.root || !result.isKept())
    return nullptr;
  return kept.makeTile(rewriter, staging.getResult(), type.getShape(),
                       staging.root);
}

void OperandStager::apply(Staging &staging) {
  linalg::LinalgOp op = staging.contraction.op;
  hoistInvariants(op, staging.carried.root);
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
  StagedResult result = analyze(staging);
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
  OperandStager(scope, options, *chip, maxBytes).run();
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
