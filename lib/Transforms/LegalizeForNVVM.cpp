//===- LegalizeForNVVM.cpp - Prepare kernels for conversion to NVVM -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferTypes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_LEGALIZEFORNVVMPASS
#include "workgroup/Passes.h.inc"

/// What no access to workgroup memory exceeds in bytes, so that a buffer with
/// this alignment serves all of them.
static constexpr int64_t kMinBufferAlignment = 16;

/// Threads of a warp on every supported chip.
static constexpr unsigned kWarpSize = 32;

/// Lowers a structured operation of a kernel with one thread to loops.
static LogicalResult lowerStructuredOp(linalg::LinalgOp op,
                                       RewriterBase &rewriter) {
  Operation *scope = getExecutionScope(op);
  BlockShape shape = getBlockShape(scope);
  if (!shape.isSingleThread()) {
    InFlightDiagnostic error = op->emitOpError("is not distributed over ");
    if (std::optional<int64_t> numThreads = shape.getNumThreads())
      error << "the " << *numThreads << " threads of its block";
    else
      error << "the threads of its block, whose number is not known";
    return error << ": each of them would do all of its work and race on the "
                    "result; map it to threads, or launch one thread per block";
  }
  if (!op.hasPureBufferSemantics())
    return op->emitOpError(
        "works on tensors; bufferize it before it is lowered");
  rewriter.setInsertionPoint(op);
  if (failed(linalg::linalgOpToLoops(rewriter, op)))
    return op->emitOpError("cannot be lowered to loops");
  rewriter.eraseOp(op);
  return success();
}

static LogicalResult lowerStructuredOps(Operation *root,
                                        RewriterBase &rewriter) {
  SmallVector<linalg::LinalgOp> ops;
  for (Operation *scope : collectDeviceScopes(root))
    scope->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops)
    if (failed(lowerStructuredOp(op, rewriter)))
      return failure();
  return success();
}

/// Vector operations of any rank become those with an LLVM form, accesses to
/// memory ones of rank one.
static void populateVectorPatterns(RewritePatternSet &patterns) {
  using namespace vector;
  populateVectorContractLoweringPatterns(patterns,
                                         VectorContractLowering::OuterProduct);
  populateVectorOuterProductLoweringPatterns(patterns);
  populateVectorMultiReductionLoweringPatterns(
      patterns, VectorMultiReductionLowering::InnerReduction);
  populateVectorBroadcastLoweringPatterns(patterns);
  populateVectorMaskOpLoweringPatterns(patterns);
  populateVectorMaskLoweringPatternsForSideEffectingOps(patterns);
  populateVectorMaskMaterializationPatterns(patterns,
                                            /*force32BitVectorIndices=*/false);
  populateVectorShapeCastLoweringPatterns(patterns);
  populateVectorTransposeLoweringPatterns(patterns,
                                          VectorTransposeLowering::EltWise);
  populateVectorTransferPermutationMapLoweringPatterns(patterns);
  populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
  populateVectorGatherLoweringPatterns(patterns);
  populateVectorScanLoweringPatterns(patterns);
  populateVectorStepLoweringPatterns(patterns);
  populateVectorInterleaveLoweringPatterns(patterns);
  populateVectorBitCastLoweringPatterns(patterns);
  populateVectorRankReducingFMAPattern(patterns);
  populateVectorInsertExtractStridedSliceTransforms(patterns);
}

namespace {
struct LegalizeForNVVMPass final
    : impl::LegalizeForNVVMPassBase<LegalizeForNVVMPass> {
  using LegalizeForNVVMPassBase::LegalizeForNVVMPassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    IRRewriter rewriter(&getContext());
    for (Operation *scope : collectDeviceScopes(root))
      normalizeAttributions(rewriter, scope, kMinBufferAlignment);
    if (failed(lowerStructuredOps(root, rewriter)))
      return signalPassFailure();

    RewritePatternSet patterns(&getContext());
    populateVectorPatterns(patterns);
    populateGpuBreakDownSubgroupReducePatterns(patterns,
                                               /*maxShuffleBitwidth=*/32);
    populateGpuLowerSubgroupReduceToShufflePatterns(patterns, kWarpSize,
                                                    /*shuffleBitwidth=*/32);
    populateGpuLowerClusteredSubgroupReduceToShufflePatterns(
        patterns, kWarpSize, /*shuffleBitwidth=*/32);
    if (failed(applyPatternsGreedily(root, std::move(patterns))))
      return signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
