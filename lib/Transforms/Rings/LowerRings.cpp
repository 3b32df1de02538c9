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

#include "RingWarpLowering.h"
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
// Decide
//===----------------------------------------------------------------------===//

static InFlightDiagnostic emitCannotLower(Ring &ring, Operation *where,
                                          const Twine &why) {
  InFlightDiagnostic error = ring.op.emitOpError("cannot be lowered: ") << why;
  if (where)
    error.attachNote(where->getLoc()) << "here";
  return error;
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
         << remark::metric("IterationsAhead", slots - 1 - ring.getLag())
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

/// Lowers `ring`, which other warps fill than read it.
static LogicalResult lowerBetweenWarps(Ring &ring, Operation *root,
                                       const LowerRingsOptions &options,
                                       TensorMaps &maps,
                                       RewriterBase &rewriter) {
  const Chip *chip =
      resolveChip(getExecutionScope(ring.op), options.copies.chip);
  if (!chip)
    return failure();
  AlignmentAnalysis alignment(
      {options.copies.assumeAlignment, options.copies.vectorBytes, root});
  RingWarpLowering lowering(ring, options, /*isAsync=*/false, alignment,
                            rewriter);
  std::string why = chip->hasTensorCopies()
                        ? lowering.findTensorObstacle(maps)
                        : (chip->name + " does not have it").str();
  if (!why.empty())
    return emitCannotLower(ring, ring.put,
                           "TMA alone fills rings of other warps, and cannot "
                           "fill this: " +
                               why);
  reportAhead(ring, ring.getType().getSlots(), "TMA");
  lowering.run(maps);
  return success();
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
  auto refuse = [&](const Twine &why) {
    return emitCannotLower(ring, ring.put,
                           "TMA alone fills tiles of its layouts, and " + why);
  };
  if (ring.hasLayouts() && !ring.obstacle.empty())
    return refuse("copies cannot run ahead: " + ring.obstacle);
  if (!ring.obstacle.empty() && ring.getLag() != 0)
    return emitCannotLower(ring, ring.release,
                           "slots are released with a lag, and copies cannot "
                           "run ahead: " +
                               ring.obstacle);
  if (!ring.obstacle.empty()) {
    recordRemark(RemarkId::LowerRings_NotAhead, ring.op)
        << "copies of a ring are done in the iteration that reads them"
        << remark::reason("{0}", ring.obstacle);
    lowering.lowerInPlace();
    return success();
  }
  if (options.engine == RingEngine::TMA || ring.hasLayouts()) {
    std::string why =
        chip->hasTensorCopies() ? lowering.findTensorObstacle(maps) : lacks;
    if (why.empty()) {
      reportAhead(ring, ring.getType().getSlots(), "TMA");
      lowering.lowerByTMA(maps);
      return success();
    }
    if (ring.hasLayouts())
      return refuse("cannot fill these: " + why);
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
  reportAhead(ring, isAsync ? ring.getType().getSlots() : 2 + ring.getLag(),
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
      Ring ring = matchRing(op);
      if (ring.flaw.empty())
        return rings.push_back(std::move(ring));
      hasFailed = true;
      emitCannotLower(ring, ring.fault, ring.flaw);
    });
  if (hasFailed)
    return failure();
  IRRewriter rewriter(root->getContext());
  if (rings.empty()) {
    lowerSpecialized(root, rewriter);
    return success();
  }
  ArgumentAliases aliases(root, options.copies.assumeDistinctArguments);
  UniformityAnalysis uniformity(root, UniformityUnit::Block, &aliases);
  KernelWrites writes;
  for (Ring &ring : rings) {
    if (ring.getSpecialize())
      continue; // decided before by who made it so
    hasFailed |= failed(checkUniformity(ring, uniformity));
    findObstacle(ring, aliases, writes);
  }
  if (hasFailed)
    return failure();

  TensorMaps maps(root);
  for (Ring &ring : rings) {
    auto *lower = ring.getSpecialize() ? lowerBetweenWarps : lowerRing;
    if (failed(lower(ring, root, options, maps, rewriter)))
      return failure();
  }
  lowerSpecialized(root, rewriter);
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
