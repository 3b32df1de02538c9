//===- LowerRings.cpp - Rings to asynchronous copies ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects the rings of kernels, and decides whether their copies can be
// started before the iteration that reads them.
//
//===----------------------------------------------------------------------===//

#include "RingLowering.h"
#include "Support/Remarks.h"
#include "Transforms/Copies/CopyShape.h"
#include "Transforms/Utils/AssumedAlignment.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms/Rings.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_LOWERRINGSPASS
#include "workgroup/Transforms/Rings.h.inc"

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

/// The reason why `copy` cannot be lowered, or empty.
static StringRef getObstacle(Operation *copy) {
  CopyOperands operands = *getFillOperands(copy);
  auto source = cast<MemRefType>(operands.source.getType());
  auto tile = cast<MemRefType>(operands.target.getType());
  if (!tile.getLayout().isIdentity() || !source.isStrided())
    return "tiles have to be row-major, and sources to have strides";
  return isa<GatherOp>(copy) ? StringRef() : getPaddingObstacle(source, tile);
}

/// Collects the copies to the tiles that are put, one for each, and all else
/// that is done with them: nothing.
static LogicalResult collectCopies(Ring &ring) {
  for (Value tile : ring.put.getTiles()) {
    if (!tile.use_empty() && !tile.hasOneUse())
      return emitCannotLower(ring, *tile.user_begin(),
                             "a tile that is put is filled by one "
                             "workgroup.copy or workgroup.gather, and used by "
                             "nothing else");
    for (OpOperand &use : tile.getUses()) {
      Operation *copy = use.getOwner();
      std::optional<CopyOperands> operands = getFillOperands(copy);
      if (!operands || use.get() != operands->target ||
          copy->getBlock() != ring.put->getBlock() ||
          !copy->isBeforeInBlock(ring.commit))
        return emitCannotLower(ring, use.getOwner(),
                               "a tile that is put is filled by one "
                               "workgroup.copy or workgroup.gather before the "
                               "commit");
      if (StringRef why = getObstacle(copy); !why.empty())
        return emitCannotLower(ring, copy, why);
      ring.copies.push_back(copy);
    }
  }
  llvm::sort(ring.copies, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
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

/// The reason why the copies of `ring` cannot be started in earlier iterations.
static std::string findObstacle(Ring &ring, const ArgumentAliases &aliases) {
  scf::ForOp loop = ring.getLoop();
  if (!loop)
    return "the ring is not used directly in the body of an scf.for";
  if (ring.getType().getSlots() < 2)
    return "the ring has one slot";
  GlobalWrites writes(loop);
  for (Operation *copy : ring.copies) {
    auto [source, tile] = *getFillOperands(copy);
    for (Value operand : copy->getOperands())
      if (operand != tile && !addToSlice(operand, loop, ring.slice))
        return "a source depends on more than the iteration";
    std::string why = getObstacleToReadAhead(writes, source, aliases);
    if (!why.empty())
      return why;
  }
  return "";
}

/// A ring is work of the block: decides whether all threads do it together.
static LogicalResult checkUniformity(Ring &ring,
                                     const UniformityAnalysis &uniformity) {
  std::optional<Divergence> why = uniformity.getDivergence(ring.put);
  for (Operation *copy : ring.copies)
    for (Value operand : copy->getOperands())
      if (!why && operand != getFillOperands(copy)->target)
        why = uniformity.getDivergence(operand);
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
// The pass
//===----------------------------------------------------------------------===//

static void reportAhead(Ring &ring, int64_t slots, StringRef engine) {
  auto remark = recordRemark(RemarkId::LowerRings_LoweredRing, ring.op);
  remark << "copies of a ring run ahead of their readers"
         << remark::metric("Slots", slots)
         << remark::metric("IterationsAhead", slots - 1)
         << remark::metric("Engine", engine.str());
  std::optional<APInt> iterations = ring.getLoop().getStaticTripCount();
  if (iterations && iterations->isIntN(63))
    remark << remark::metric("Iterations", int64_t(iterations->getZExtValue()));
}

/// A remark that the engine that was asked for is not used.
static void reportMissed(Ring &ring, RemarkId id, StringRef engine,
                         const Twine &why) {
  recordRemark(id, ring.op)
      << remark::reason("{0} not used: {1}", engine, why.str());
}

/// Lowers `ring` by the engine that `options` ask for, as far as chip and
/// operands allow.
static LogicalResult lowerRing(Ring &ring, Operation *root,
                               const LowerRingsOptions &options,
                               TensorMaps &maps, RewriterBase &rewriter) {
  const Chip *chip =
      resolveChip(getExecutionScope(ring.op), options.copies.chip);
  if (!chip)
    return failure();
  bool mayBeAsync =
      chip->hasAsyncCopies() && options.engine != RingEngine::Registers;
  std::string lacks = (chip->name + " does not have it").str();
  AlignmentAnalysis alignment(
      {options.copies.assumeAlignment, options.copies.vectorBytes, root});
  RingLowering lowering(ring, options, mayBeAsync, alignment, rewriter);
  if (!ring.obstacle.empty()) {
    recordRemark(RemarkId::LowerRings_NotAhead, ring.op)
        << "copies of a ring are done in the iteration that reads them"
        << remark::reason("{0}", ring.obstacle);
    lowering.lowerInPlace();
    return success();
  }
  if (options.engine == RingEngine::TMA) {
    std::string why =
        chip->hasTensorCopies() ? lowering.findTensorObstacle(maps) : lacks;
    if (why.empty()) {
      reportAhead(ring, ring.getType().getSlots(), "TMA");
      lowering.lowerByTMA(maps);
      return success();
    }
    reportMissed(ring, RemarkId::LowerRings_NotTMA, "TMA", why);
  }
  bool isAsync = lowering.decideAsync();
  if (mayBeAsync && !isAsync)
    reportMissed(ring, RemarkId::LowerRings_NotAsync, "cp.async",
                 "it copies 4, 8 or 16 bytes that are contiguous and aligned "
                 "on both sides");
  else if (!isAsync && options.engine != RingEngine::Registers &&
           options.engine != RingEngine::Auto)
    reportMissed(ring, RemarkId::LowerRings_NotAsync, "cp.async", lacks);
  reportAhead(ring, isAsync ? ring.getType().getSlots() : 2,
              isAsync ? "cp.async" : "registers");
  lowering.lowerAhead();
  return success();
}

LogicalResult lowerRings(Operation *root, const LowerRingsOptions &options) {
  if (failed(verifyAssumedAlignment(root, options.copies.assumeAlignment)))
    return failure();
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

  ArgumentAliases aliases(root, options.copies.assumeDistinctArguments);
  UniformityAnalysis uniformity(root, UniformityUnit::Block, &aliases);
  KernelWrites writes;
  for (Ring &ring : rings) {
    hasFailed |= failed(checkUniformity(ring, uniformity));
    ring.obstacle = findObstacle(ring, aliases);
    Operation *where = ring.getLoop() ? ring.getLoop() : ring.put;
    for (Operation *copy : ring.copies)
      if (!ring.writer)
        ring.writer = writes.findWriterBefore(
            where, getFillOperands(copy)->source, aliases);
  }
  if (hasFailed)
    return failure();

  IRRewriter rewriter(root->getContext());
  TensorMaps maps(root);
  for (Ring &ring : rings) {
    if (failed(lowerRing(ring, root, options, maps, rewriter)))
      return failure();
  }
  return success();
}

namespace {
struct LowerRingsPass final : impl::LowerRingsPassBase<LowerRingsPass> {
  using LowerRingsPassBase::LowerRingsPassBase;

  void runOnOperation() override {
    LowerRingsOptions options;
    options.engine = engine;
    options.copies.assumeAlignment = assumeAlignment;
    options.copies.chip = chip;
    options.copies.assumeDistinctArguments = assumeDistinctArguments;
    if (failed(lowerRings(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
