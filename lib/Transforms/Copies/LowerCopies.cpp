//===- LowerCopies.cpp - Lower copies in kernels --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy is an operation of one thread. If all threads of the block execute it
// together with the same operands, then doing it once, each thread a part,
// leaves the same memory behind; only that a thread no longer sees all of it
// without a barrier. In any other case each thread does its own copy.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Program/OpEffects.h"
#include "CooperativeCopies.h"
#include "CopyOverlap.h"
#include "CopyPadding.h"
#include "CopyShape.h"
#include "CopyStrategies.h"
#include "Support/Remarks.h"
#include "TensorCopyLowering.h"
#include "Transforms/Utils/AssumedAlignment.h"
#include "Transforms/Utils/ConservativeBarriers.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/Copies.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_LOWERCOPIESPASS
#include "workgroup/Transforms/Copies.h.inc"

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// `memref`, or the ranked memref that was cast to it.
static Value lookThroughUnranked(Value memref) {
  while (isa<UnrankedMemRefType>(memref.getType())) {
    auto cast = memref.getDefiningOp<memref::CastOp>();
    if (!cast)
      break;
    memref = cast.getSource();
  }
  return memref;
}

/// The computation on each element that is copied; null if there is none.
static Region *getConversion(Operation *copy) {
  if (copy->getNumRegions() == 0)
    return nullptr;
  Region &region = copy->getRegion(0);
  return region.front().getOperations().size() > 1 ? &region : nullptr;
}

static std::vector<Copy> collectAllCopies(Operation *root) {
  std::vector<Copy> copies;
  for (Operation *scope : collectDeviceScopes(root)) {
    scope->walk([&](Operation *op) {
      if (std::optional<CopyOperands> copy = getCopyOperands(op)) {
        copies.push_back({op, lookThroughUnranked(copy->source),
                          lookThroughUnranked(copy->target),
                          getConversion(op)});
      } else if (auto gather = dyn_cast<GatherOp>(op)) {
        if (!isa_and_nonnull<PutOp>(gather.getTile().getDefiningOp()))
          copies.push_back(makeGather(gather));
      } else if (auto fill = dyn_cast<linalg::FillOp>(op);
                 fill && fill.hasPureBufferSemantics()) {
        Value target = fill.getOutputs()[0];
        copies.push_back(
            {op, target, target, /*payload=*/nullptr, fill.getInputs()[0]});
      }
    });
  }
  return copies;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if source and target are the same elements of the same memory.
static bool isNoOp(const Copy &copy) {
  return !copy.payload && !copy.filling && !copy.gather &&
         areSameElements(copy.source, copy.target);
}

/// The reason why `copy` cannot be lowered, and what helps; empty if it can.
static std::string getObstacle(const Copy &copy) {
  std::string why;
  llvm::raw_string_ostream text(why);
  for (Value memref : {copy.source, copy.target}) {
    auto type = dyn_cast<MemRefType>(memref.getType());
    if (!type)
      text << "unranked operand '" << memref.getType()
           << "'; cast it to a ranked type";
    else if (!type.isStrided())
      text << "non-strided layout of '" << type
           << "'; normalize its layout map";
    if (!why.empty())
      return why;
  }
  if (!copy.gather)
    text << getShapeObstacle(copy.source, copy.target);
  if (why.empty() && !copy.filling && mayOverlap(copy.source, copy.target))
    text << "overlapping operands; copy through another buffer, or make the "
            "slices provably disjoint";
  return why;
}

/// Takes copies that cannot be lowered out of `copies`; fails if that is an
/// error.
static LogicalResult checkCopies(std::vector<Copy> &copies, bool isStrict) {
  bool hasFailed = false;
  llvm::erase_if(copies, [&](const Copy &copy) {
    std::string why = getObstacle(copy);
    if (why.empty())
      return false;
    hasFailed |= isStrict;
    if (isStrict)
      copy.op->emitOpError("cannot be lowered: ") << why;
    else
      reportLeft(copy, why);
    return true;
  });
  return failure(hasFailed);
}

//===----------------------------------------------------------------------===//
// Runs of copies, and barriers
//===----------------------------------------------------------------------===//

/// Every copy of a run is compared with all others; longer ones gain nothing.
static constexpr size_t kMaxRunLength = 64;

static bool isByTMA(const Copy &copy) { return copy.tensor.has_value(); }

/// True if `second` may run while some threads are still busy with `first`.
static bool areIndependent(const Copy &first, const Copy &second) {
  return !mayAlias(first.target, second.source) &&
         !mayAlias(first.target, second.target) &&
         !mayAlias(first.source, second.target);
}

/// True if `op` and what is in it read nothing that `copies` write, write
/// nothing, and order nothing.
static bool isBeside(Operation *op, ArrayRef<Copy> copies) {
  auto touches = [&](const MemoryEffects::EffectInstance &effect) {
    return !effect.getValue() || llvm::any_of(copies, [&](const Copy &copy) {
      return mayAlias(copy.target, effect.getValue());
    });
  };
  WalkResult result = op->walk([&](Operation *nested) {
    bool isOfRegions = nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
                       !isa<MemoryEffectOpInterface>(nested);
    if (isTransparent(nested) || isOfRegions)
      return WalkResult::advance();
    if (getOpKind(nested) != OpKind::Access ||
        hasOtherEffects<MemoryEffects::Read>(nested))
      return WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> effects;
    cast<MemoryEffectOpInterface>(nested).getEffects(effects);
    return llvm::any_of(effects, touches) ? WalkResult::interrupt()
                                          : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

/// True if `next` is reached from `last`, both by the whole block, past nothing
/// but address arithmetic and, if threads do all copies, reads of what no copy
/// of `run` writes.
static bool isReached(const Copy &next, const Copy &last, ArrayRef<Copy> run) {
  bool mayRead = !isByTMA(next) && llvm::none_of(run, isByTMA);
  Operation *op = last.op->getNextNode();
  while (op && op != next.op &&
         (isTransparent(op) || (mayRead && isBeside(op, run))))
    op = op->getNextNode();
  return op == next.op && next.isCooperative;
}

/// The length of the run of independent copies at the start of `copies`.
static size_t getRunLength(ArrayRef<Copy> copies) {
  size_t length = 1;
  if (!copies.front().isCooperative)
    return length;
  for (; length < std::min(copies.size(), kMaxRunLength); ++length) {
    const Copy &next = copies[length];
    ArrayRef<Copy> run = copies.take_front(length);
    if (!isReached(next, copies[length - 1], run) ||
        !llvm::all_of(run, [&](const Copy &earlier) {
          return areIndependent(earlier, next);
        }))
      break;
  }
  return length;
}

/// Divides `copies` into those that the block may do all at a time.
static SmallVector<ArrayRef<Copy>> findRuns(ArrayRef<Copy> copies) {
  SmallVector<ArrayRef<Copy>> runs;
  while (!copies.empty()) {
    runs.push_back(copies.take_front(getRunLength(copies)));
    copies = copies.drop_front(runs.back().size());
  }
  return runs;
}

/// Surrounds a run of copies by the whole block by barriers.
static void insertBarriers(ArrayRef<Copy> run, RewriterBase &rewriter) {
  auto report = [](const Copy &copy, StringRef remark) {
    recordRemark(RemarkId::LowerCopies_InsertedBarrier, copy.op)
        << remark.str();
  };
  if (!run.front().isCooperative)
    return;
  if (insertBarrierBefore(rewriter, run.front().op))
    report(run.front(), "barrier before the copy");
  // Who has waited for TMA sees what it wrote.
  if (!llvm::all_of(run, isByTMA) &&
      insertBarrierAfter(rewriter, run.back().op))
    report(run.back(), "barrier after the copy");
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// Attributions of a `gpu.launch` cannot carry an alignment: iterations those
/// that copies access into allocations, which can.
static void releaseLaunchBuffers(MutableArrayRef<Copy> copies,
                                 RewriterBase &rewriter) {
  llvm::SmallSetVector<BlockArgument, 4> buffers;
  for (const Copy &copy : copies)
    for (Value memref : {copy.source, copy.target}) {
      auto buffer = dyn_cast<BlockArgument>(getRootBuffer(memref));
      if (buffer && isa<gpu::LaunchOp>(buffer.getOwner()->getParentOp()) &&
          isWorkgroupMemory(buffer.getType()))
        buffers.insert(buffer);
    }
  for (BlockArgument buffer : buffers) {
    auto launch = cast<gpu::LaunchOp>(buffer.getOwner()->getParentOp());
    rewriter.setInsertionPointToStart(buffer.getOwner());
    Value alloc = memref::AllocOp::create(rewriter, buffer.getLoc(),
                                          cast<MemRefType>(buffer.getType()));
    rewriter.replaceAllUsesWith(buffer, alloc);
    for (Copy &copy : copies)
      for (Value *memref : {&copy.source, &copy.target})
        if (*memref == buffer)
          *memref = alloc;
    int64_t numBuffers = launch.getNumWorkgroupAttributions();
    buffer.getOwner()->eraseArgument(buffer.getArgNumber());
    launch->setAttr(gpu::LaunchOp::getNumWorkgroupAttributionsAttrName(),
                    rewriter.getI64IntegerAttr(numBuffers - 1));
  }
}

static void reportTensorCopy(const Copy &copy) {
  recordRemark(RemarkId::LowerCopies_LoweredCopy, copy.op)
      << "copy done by TMA" << remark::metric("Bytes", copy.tensor->bytes)
      << remark::metric("Loads", copy.tensor->getNumLoads());
}

static void reportCopy(const Copy &copy, const EmittedCopy &emitted) {
  BlockShape shape = getBlockShape(getExecutionScope(copy.op));
  std::optional<int64_t> numThreads = shape.getNumThreads();
  recordRemark(copy.filling ? RemarkId::LowerCopies_LoweredFill
                            : RemarkId::LowerCopies_LoweredCopy,
               copy.op)
      << (copy.filling         ? "fill spread over the block"
          : emitted.isAsync    ? "copy spread over the block by cp.async"
          : copy.isCooperative ? "copy spread over the block"
                               : "copy done by each thread")
      << remark::metric("BytesPerAccess", emitted.accessBytes)
      << remark::metric("Threads", numThreads.value_or(0));
  if (copy.mayBeAsync && !emitted.isAsync && emitted.accessBytes > 0)
    recordRemark(RemarkId::LowerCopies_NotAsync, copy.op)
        << remark::reason("cp.async not used: it copies 4, 8 or 16 bytes that "
                          "are contiguous on both sides, not {0}",
                          emitted.accessBytes);
  if (!emitted.misplaced.empty())
    recordRemark(RemarkId::LowerCopies_NarrowCopy, copy.op)
        << remark::reason("the {0} begins at a byte of its buffer that is no "
                          "multiple of {1}",
                          emitted.misplaced, emitted.possibleBytes);
  if (emitted.unaligned.empty())
    return;
  recordRemark(RemarkId::LowerCopies_NarrowCopy, copy.op)
      << remark::reason("only the unknown alignment of the {0} prevents "
                        "accesses of {1} bytes",
                        emitted.unaligned, emitted.possibleBytes)
      << remark::suggest("state it by memref.assume_alignment, or by the "
                         "option assume-alignment");
}

/// Lowers a run of copies, and waits for those of them that are asynchronous.
static void lowerRun(ArrayRef<Copy> run, AlignmentAnalysis &alignment,
                     TensorCopyLowering &tensors,
                     const LowerCopiesOptions &options,
                     RewriterBase &rewriter) {
  bool isAsync = false, isTensor = llvm::any_of(run, isByTMA);
  SmallVector<Value> tokens;
  if (isTensor)
    tensors.issue(run, rewriter);
  for (const Copy &copy : run) {
    if (isByTMA(copy)) {
      reportTensorCopy(copy);
      continue;
    }
    EmittedCopy emitted = emitCopy(rewriter, copy, alignment, options);
    reportCopy(copy, emitted);
    isAsync |= emitted.isAsync;
    llvm::append_range(tokens, emitted.tokens);
  }
  Location loc = run.back().op->getLoc();
  rewriter.setInsertionPointAfter(run.back().op);
  for (const Copy &copy : run)
    rewriter.eraseOp(copy.op);
  // No later than here: what follows may read the targets or write the sources.
  if (isAsync) {
    Value group = nvgpu::DeviceAsyncCreateGroupOp::create(
        rewriter, loc, nvgpu::DeviceAsyncTokenType::get(rewriter.getContext()),
        tokens);
    nvgpu::DeviceAsyncWaitOp::create(rewriter, loc, group,
                                     /*numGroups=*/nullptr);
  }
  if (isTensor)
    tensors.wait(loc, rewriter);
}

/// Lowers copies of which all is decided but who does them.
static void lowerRuns(MutableArrayRef<Copy> copies, Operation *root,
                      const LowerCopiesOptions &options,
                      RewriterBase &rewriter) {
  releaseLaunchBuffers(copies, rewriter);
  TensorCopyLowering tensors(root, options);
  tensors.decide(copies);
  SmallVector<ArrayRef<Copy>> runs = findRuns(copies);
  for (ArrayRef<Copy> run : runs) {
    if (options.insertBarriers)
      insertBarriers(run, rewriter);
    if (llvm::any_of(run, isByTMA))
      tensors.addRun(run, rewriter);
  }
  tensors.createBarriers(rewriter);
  AlignmentAnalysis alignment(
      {options.assumeAlignment, options.vectorBytes, root});
  for (ArrayRef<Copy> run : runs)
    lowerRun(run, alignment, tensors, options, rewriter);
  tensors.finish(rewriter);
}

LogicalResult lowerCopies(Operation *root, const LowerCopiesOptions &options) {
  if (failed(stateBlockSize(root, options.blockSize)))
    return failure();
  if (failed(verifyAssumedAlignment(root, options.assumeAlignment)))
    return failure();
  IRRewriter rewriter(root->getContext());
  std::vector<Copy> copies = collectAllCopies(root);
  llvm::erase_if(copies, [&](const Copy &copy) {
    if (!isNoOp(copy))
      return false;
    recordRemark(RemarkId::LowerCopies_ErasedCopy, copy.op)
        << "copy of memory onto itself erased";
    rewriter.eraseOp(copy.op);
    return true;
  });
  if (copies.empty())
    return success();
  if (failed(decideCooperation(copies, root, options)))
    return failure();
  // The filling of a thread's own memory is no business of this pass.
  llvm::erase_if(copies, [](const Copy &copy) {
    return copy.filling && !copy.isCooperative;
  });
  if (failed(checkCopies(copies, options.isStrict)))
    return failure();

  if (failed(decideStrategy(copies, root, options)))
    return failure();
  mergePadding(copies, rewriter);

  lowerRuns(copies, root, options, rewriter);
  return success();
}

namespace {
struct LowerCopiesPass final : impl::LowerCopiesPassBase<LowerCopiesPass> {
  using LowerCopiesPassBase::LowerCopiesPassBase;

  void runOnOperation() override {
    if (failed(checkOptions()) ||
        failed(lowerCopies(getOperation(),
                           {insertBarriers, assumeAlignment,
                            assumeDistinctArguments, unrollLimit,
                            vectorBits / 8, strategy, bypassL1, chip, strict,
                            SmallVector<int64_t>(*blockSize)})))
      signalPassFailure();
  }

  LogicalResult checkOptions() {
    Location loc = getOperation()->getLoc();
    constexpr int64_t kWidestBits = 8 * kWidestAccessBytes;
    if (!llvm::isPowerOf2_64(vectorBits) || vectorBits < 8 ||
        vectorBits > kWidestBits)
      return emitError(loc) << "vector-bits must be a power of two from 8 to "
                            << kWidestBits << ", not " << vectorBits.getValue();
    if (unrollLimit < 0)
      return emitError(loc) << "unroll-limit must not be negative";
    if (!blockSize.empty() &&
        (blockSize.size() != 3 ||
         llvm::any_of(*blockSize, [](int64_t size) { return size < 1; }) ||
         computeProduct(*blockSize) > kMaxBlockThreads))
      return emitError(loc) << "block-size must be three numbers from 1 on, of "
                               "at most "
                            << kMaxBlockThreads << " threads in all";
    return success();
  }
};
} // namespace

} // namespace mlir::workgroup
