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

#include "RingCopyLowering.h"
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
// Apply
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

static std::string getLackOf(const Chip &chip) {
  return (chip.name + " does not have it").str();
}

namespace {

/// Lowers the rings inside an operation.
class RingsLowering {
public:
  RingsLowering(Operation *root, const LowerRingsOptions &options,
                RewriterBase &rewriter)
      : root(root), options(options), rewriter(rewriter), maps(root) {}

  /// Lowers `ring` by the engine that the options ask for, as far as chip and
  /// operands allow.
  LogicalResult lower(Ring &ring);

private:
  template <typename Lowering>
  std::string tryTensorCopies(Ring &ring, const Chip &chip);
  LogicalResult lowerInPlace(Ring &ring, bool mayBeAsync);
  void lowerAhead(Ring &ring, const Chip &chip, bool mayBeAsync);

  Operation *root;
  const LowerRingsOptions &options;
  RewriterBase &rewriter;
  TensorMaps maps;
};

} // namespace

/// Lowers `ring` by TMA, or returns why that cannot be.
template <typename Lowering>
std::string RingsLowering::tryTensorCopies(Ring &ring, const Chip &chip) {
  if (!chip.hasTensorCopies())
    return getLackOf(chip);
  Lowering lowering(ring, root, options, maps, rewriter);
  std::string why = lowering.findObstacle();
  if (!why.empty())
    return why;
  reportAhead(ring, ring.getType().getSlots(), "TMA");
  lowering.run();
  return "";
}

/// Lowers `ring`, whose copies cannot run ahead.
LogicalResult RingsLowering::lowerInPlace(Ring &ring, bool mayBeAsync) {
  if (ring.hasLayouts())
    return emitCannotLower(ring, ring.put,
                           "TMA alone fills tiles of its layouts, and copies "
                           "cannot run ahead: " +
                               ring.obstacle);
  if (ring.getLag() != 0)
    return emitCannotLower(ring, ring.release,
                           "slots are released with a lag, and copies cannot "
                           "run ahead: " +
                               ring.obstacle);
  recordRemark(RemarkId::LowerRings_NotAhead, ring.op)
      << "copies of a ring are done in the iteration that reads them"
      << remark::reason("{0}", ring.obstacle);
  RingCopyLowering(ring, root, options, mayBeAsync, rewriter).lowerInPlace();
  return success();
}

/// Lowers `ring` by cp.async or through registers.
void RingsLowering::lowerAhead(Ring &ring, const Chip &chip, bool mayBeAsync) {
  RingCopyLowering lowering(ring, root, options, mayBeAsync, rewriter);
  bool isAsync = lowering.decideAsync();
  bool isAskedFor = options.engine != RingEngine::Registers &&
                    options.engine != RingEngine::Auto;
  if (mayBeAsync && !isAsync)
    reportMissed(ring, RemarkId::LowerRings_NotAsync, "cp.async",
                 "it copies 4, 8 or 16 bytes that are contiguous and aligned "
                 "on both sides");
  else if (!isAsync && isAskedFor)
    reportMissed(ring, RemarkId::LowerRings_NotAsync, "cp.async",
                 getLackOf(chip));
  reportAhead(ring, isAsync ? ring.getType().getSlots() : 2 + ring.getLag(),
              isAsync ? "cp.async" : "registers");
  lowering.lowerAhead();
}

LogicalResult RingsLowering::lower(Ring &ring) {
  const Chip *chip =
      resolveChip(getExecutionScope(ring.op), options.copies.chip);
  if (!chip)
    return failure();
  std::string why;
  if (ring.getSpecialize()) {
    why = tryTensorCopies<RingWarpLowering>(ring, *chip);
    if (why.empty())
      return success();
    return emitCannotLower(ring, ring.put,
                           "TMA alone fills rings of other warps, and cannot "
                           "fill this: " +
                               why);
  }
  bool mayBeAsync =
      chip->hasAsyncCopies() && options.engine != RingEngine::Registers;
  if (!ring.obstacle.empty())
    return lowerInPlace(ring, mayBeAsync);
  if (ring.hasLayouts() || options.engine == RingEngine::TMA) {
    why = tryTensorCopies<RingTensorLowering>(ring, *chip);
    if (why.empty())
      return success();
  }
  if (ring.hasLayouts())
    return emitCannotLower(ring, ring.put,
                           "TMA alone fills tiles of its layouts, and cannot "
                           "fill these: " +
                               why);
  if (!why.empty())
    reportMissed(ring, RemarkId::LowerRings_NotTMA, "TMA", why);
  lowerAhead(ring, *chip, mayBeAsync);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The rings in device code inside `root`; nothing after an error.
static std::optional<std::vector<Ring>> collectRings(Operation *root) {
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
  return hasFailed ? std::nullopt : std::optional(std::move(rings));
}

/// Finds out which of `rings` may have copies that run ahead.
static LogicalResult analyze(MutableArrayRef<Ring> rings, Operation *root,
                             const LowerRingsOptions &options) {
  ArgumentAliases aliases(root, options.copies.assumeDistinctArguments);
  UniformityAnalysis uniformity(root, UniformityUnit::Block, &aliases);
  KernelWrites writes;
  bool hasFailed = false;
  for (Ring &ring : rings) {
    if (ring.getSpecialize())
      continue; // decided before by who made it so
    hasFailed |= failed(checkUniformity(ring, uniformity));
    findObstacle(ring, aliases, writes);
  }
  return failure(hasFailed);
}

LogicalResult lowerRings(Operation *root, const LowerRingsOptions &options) {
  if (failed(verifyAssumedAlignment(root, options.copies.assumeAlignment)))
    return failure();
  std::optional<std::vector<Ring>> rings = collectRings(root);
  if (!rings)
    return failure();
  IRRewriter rewriter(root->getContext());
  if (!rings->empty()) {
    if (failed(analyze(*rings, root, options)))
      return failure();
    RingsLowering lowering(root, options, rewriter);
    for (Ring &ring : *rings)
      if (failed(lowering.lower(ring)))
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
