//===- LegalizeForNVVM.cpp - Prepare kernels for conversion to NVVM -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's conversion to NVVM takes vectors of rank one, scalar arithmetic
// and shuffles. Structured operations of one thread, transfers and reductions
// of warps become such here; the rest is refused, with a reason.
//
//===----------------------------------------------------------------------===//

#include "AtomicUpdates.h"
#include "ConvertNVGPU.h"
#include "ElectThreads.h"
#include "ExpandAffine.h"
#include "ExpandMath.h"
#include "ExpandShapes.h"
#include "LowerGroupProducts.h"
#include "LowerReductions.h"
#include "MatrixElementwise.h"
#include "NarrowFloats.h"
#include "PrintFormats.h"
#include "RegisterCounts.h"
#include "ShuffleWords.h"
#include "ThreadOwnership.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/LaneReducer.h"
#include "Transforms/Utils/SumsOfProducts.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/NVVM.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_LEGALIZEFORNVVMPASS
#include "workgroup/Transforms/NVVM.h.inc"

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

static LogicalResult checkStructuredOp(linalg::LinalgOp op,
                                       const UniformityAnalysis &uniformity) {
  if (isWorkOfThread(op, uniformity)) {
    if (op.hasPureBufferSemantics())
      return success();
    return op->emitOpError(
        "works on tensors; bufferize it before it is lowered");
  }
  InFlightDiagnostic error = op->emitOpError("is not distributed over ");
  BlockShape shape = getBlockShape(getExecutionScope(op));
  if (std::optional<int64_t> numThreads = shape.getNumThreads())
    error << "the " << *numThreads << " threads of its block";
  else
    error << "the threads of its block, whose number is not known";
  return error
         << ": each of them would do all of its work and race on the "
            "result; map it to threads in tiles of constant size, lower it "
            "to loops by the schedule, or launch one thread per block";
}

/// Lowers structured operations that are the work of one thread to loops.
static LogicalResult lowerStructuredOps(Operation *root,
                                        ArrayRef<Operation *> scopes,
                                        RewriterBase &rewriter) {
  SmallVector<linalg::LinalgOp> ops;
  for (Operation *scope : scopes)
    scope->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  if (ops.empty())
    return success();
  UniformityAnalysis uniformity(root);
  for (linalg::LinalgOp op : ops)
    if (failed(checkStructuredOp(op, uniformity)))
      return failure();
  for (linalg::LinalgOp op : ops) {
    fuseMultiplyAdds(rewriter, op);
    rewriter.setInsertionPoint(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op->emitOpError("cannot be lowered to loops");
    rewriter.eraseOp(op);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

namespace {

/// The first position that is not constant, of those that need to be: LLVM has
/// arrays of vectors, and only a vector has elements at dynamic positions.
template <typename OpTy>
std::optional<unsigned> findDynamicPosition(OpTy op, VectorType type) {
  for (auto [i, position] : llvm::enumerate(op.getMixedPosition()))
    if (static_cast<int64_t>(i) + 1 < type.getRank() && isa<Value>(position))
      return i;
  return std::nullopt;
}

/// The position `position` with `row` instead of what stands at `index`.
SmallVector<OpFoldResult> withRow(SmallVector<OpFoldResult> position,
                                  unsigned index, int64_t row, Builder &b) {
  position[index] = b.getIndexAttr(row);
  return position;
}

/// True in the thread where `position` is `row`.
Value isRow(OpBuilder &builder, Location loc, OpFoldResult position,
            int64_t row) {
  Value constant = arith::ConstantIndexOp::create(builder, loc, row);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                               cast<Value>(position), constant);
}

/// Extracts every row and selects the one at a dynamic position.
struct LowerDynamicExtract final : OpRewritePattern<vector::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getSourceVectorType();
    std::optional<unsigned> dim = findDynamicPosition(op, type);
    if (!dim || type.isScalable())
      return failure();
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> position = op.getMixedPosition();
    Value result;
    for (int64_t row = 0; row < type.getDimSize(*dim); ++row) {
      Value value =
          vector::ExtractOp::create(rewriter, loc, op.getSource(),
                                    withRow(position, *dim, row, rewriter));
      result = row == 0 ? value
                        : arith::SelectOp::create(
                              rewriter, loc,
                              isRow(rewriter, loc, position[*dim], row), value,
                              result);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Inserts into every row and selects, per row, whether it was meant.
struct LowerDynamicInsert final : OpRewritePattern<vector::InsertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::InsertOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getDestVectorType();
    std::optional<unsigned> dim = findDynamicPosition(op, type);
    if (!dim || type.isScalable())
      return failure();
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> position = op.getMixedPosition();
    Value result = op.getDest();
    for (int64_t row = 0; row < type.getDimSize(*dim); ++row) {
      SmallVector<OpFoldResult> place = withRow(position, *dim, row, rewriter);
      Value old = vector::ExtractOp::create(rewriter, loc, op.getDest(), place);
      Value value = arith::SelectOp::create(
          rewriter, loc, isRow(rewriter, loc, position[*dim], row),
          op.getValueToStore(), old);
      result = vector::InsertOp::create(rewriter, loc, value, result, place);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// True if arith extends scalars of type `narrow` to `wide`.
bool isExtension(Type narrow, Type wide) {
  bool isOfOneKind = (isa<FloatType>(narrow) && isa<FloatType>(wide)) ||
                     (isa<IntegerType>(narrow) && isa<IntegerType>(wide));
  return isOfOneKind &&
         narrow.getIntOrFloatBitWidth() < wide.getIntOrFloatBitWidth();
}

/// Extends the factors of a dot product to the type that it adds up in.
struct ExtendDotProduct final : OpRewritePattern<vector::ContractionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ContractionOp op,
                                PatternRewriter &rewriter) const override {
    Type sum = op.getResultType();
    for (VectorType type : {op.getLhsType(), op.getRhsType()})
      if (type.getElementType() != sum &&
          !isExtension(type.getElementType(), sum))
        return failure();
    auto extend = [&](Value factor) -> Value {
      auto type = cast<VectorType>(factor.getType());
      if (type.getElementType() == sum)
        return factor;
      Type wide = type.cloneWith(std::nullopt, sum);
      if (isa<FloatType>(sum))
        return arith::ExtFOp::create(rewriter, op.getLoc(), wide, factor);
      return arith::ExtSIOp::create(rewriter, op.getLoc(), wide, factor);
    };
    Value lhs = extend(op.getLhs()), rhs = extend(op.getRhs());
    if (lhs == op.getLhs() && rhs == op.getRhs())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getLhsMutable().assign(lhs);
      op.getRhsMutable().assign(rhs);
    });
    return success();
  }
};

/// Takes memory of any space as generic: the intrinsics that pack elements, and
/// unpack them, are there for no other.
template <typename OpTy>
struct PackInGenericMemory final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<MemRefType>(op.getBase().getType());
    if (!type.getMemorySpace())
      return failure();
    MemRefType generic = MemRefType::Builder(type).setMemorySpace(Attribute());
    Value base = memref::MemorySpaceCastOp::create(rewriter, op.getLoc(),
                                                   generic, op.getBase());
    rewriter.modifyOpInPlace(op, [&] { op.getBaseMutable().assign(base); });
    return success();
  }
};

} // namespace

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
  populateVectorToElementsUnrollPatterns(patterns);
  populateVectorFromElementsUnrollPatterns(patterns);
  patterns.add<LowerDynamicExtract, LowerDynamicInsert>(patterns.getContext());
  patterns.add<PackInGenericMemory<CompressStoreOp>,
               PackInGenericMemory<ExpandLoadOp>>(patterns.getContext());
  patterns.add<ExtendDotProduct>(patterns.getContext(), /*benefit=*/10);
}

//===----------------------------------------------------------------------===//
// Warps and blocks
//===----------------------------------------------------------------------===//

namespace {

struct LowerSubgroupSize final : OpRewritePattern<gpu::SubgroupSizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(gpu::SubgroupSizeOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, kWarpSize);
    return success();
  }
};

struct LowerNumSubgroups final : OpRewritePattern<gpu::NumSubgroupsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(gpu::NumSubgroupsOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value threads;
    for (gpu::Dimension dim :
         {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z}) {
      Value size = gpu::BlockDimOp::create(rewriter, loc, dim);
      threads =
          threads ? arith::MulIOp::create(rewriter, loc, threads, size) : size;
    }
    Value warp = arith::ConstantIndexOp::create(rewriter, loc, kWarpSize);
    rewriter.replaceOpWithNewOp<arith::CeilDivUIOp>(op, threads, warp);
    return success();
  }
};

/// Reduces vectors of 64-bit elements by element; upstream packs smaller ones.
struct ScalarizeWideReduce final : OpRewritePattern<gpu::SubgroupReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(gpu::SubgroupReduceOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.isScalable() ||
        !type.getElementType().isIntOrFloat() ||
        type.getElementTypeBitWidth() != 64)
      return failure();
    Location loc = op.getLoc();
    Value result = ub::PoisonOp::create(rewriter, loc, type);
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value element =
          vector::ExtractOp::create(rewriter, loc, op.getValue(), i);
      Value reduced = gpu::SubgroupReduceOp::create(
          rewriter, loc, element, op.getOp(), op.getUniform(),
          op.getClusterSize(), op.getClusterStride());
      result = vector::InsertOp::create(rewriter, loc, reduced, result, i);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

/// What warps do together becomes shuffles of 32 bits.
static void populateWarpPatterns(RewritePatternSet &patterns) {
  // Smaller elements share a shuffle; those of 64 bits need two.
  populateGpuBreakDownSubgroupReducePatterns(patterns,
                                             /*maxShuffleBitwidth=*/64);
  for (unsigned bits : {32, 64}) {
    PatternBenefit benefit = bits == 32 ? 2 : 1;
    populateGpuLowerSubgroupReduceToShufflePatterns(patterns, kWarpSize, bits,
                                                    benefit);
    populateGpuLowerClusteredSubgroupReduceToShufflePatterns(
        patterns, kWarpSize, bits, benefit);
  }
  populateGpuShufflePatterns(patterns);
  populateShuffleWordPatterns(patterns);
  populateGpuGlobalIdPatterns(patterns);
  populateGpuSubgroupIdPatterns(patterns);
  patterns.add<LowerSubgroupSize, LowerNumSubgroups, ScalarizeWideReduce>(
      patterns.getContext());
}

/// Why `op`, of the GPU dialect, cannot be lowered by a pass that runs on
/// `root`; empty if upstream can.
static StringRef getWarpObstacle(Operation *op, Operation *root) {
  if (auto reduce = dyn_cast<gpu::AllReduceOp>(op))
    return getReductionObstacle(reduce, root);
  if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op))
    if (!isShuffled(shuffle.getValue().getType(), /*isWideToo=*/false))
      return "moves a number of more than 64 bits, or a vector of unknown "
             "length; move it by vectors of i32";
  if (isa<gpu::SubgroupReduceOp>(op))
    return "reduces elements that no shuffle moves; extend them to 32 or 64 "
           "bits";
  if (isa<gpu::RotateOp, gpu::SubgroupBroadcastOp>(op))
    return "has no lowering to NVVM; use gpu.shuffle";
  if (isa<gpu::WarpExecuteOnLane0Op>(op))
    return "was not distributed over the lanes of its warp; lower it before";
  if (isa<gpu::AsyncOpInterface>(op))
    return "is an operation of the host, but stands in a kernel; access memory "
           "by memref.copy, memref.load and memref.store there";
  return "";
}

/// The same of any operation.
static std::string getObstacle(Operation *op, Operation *root) {
  std::string why = getWarpObstacle(op, root).str();
  if (why.empty())
    why = getAtomicObstacle(op);
  if (why.empty())
    why = getConversionObstacle(op);
  if (auto print = dyn_cast<gpu::PrintfOp>(op))
    why = getPrintObstacle(print);
  return why;
}

static LogicalResult verifyLegal(Operation *root,
                                 ArrayRef<Operation *> scopes) {
  bool hasFailed = false;
  for (Operation *scope : scopes)
    scope->walk([&](Operation *op) {
      std::string why = op == scope ? "" : getObstacle(op, root);
      if (why.empty())
        return;
      op->emitOpError(why);
      hasFailed = true;
    });
  return failure(hasFailed);
}

/// Applies `patterns` to the operations of `scopes`, and to no others.
static LogicalResult apply(ArrayRef<Operation *> scopes,
                           RewritePatternSet &&patterns) {
  SmallVector<Operation *> ops;
  for (Operation *scope : scopes)
    scope->walk([&](Operation *op) {
      if (op != scope)
        ops.push_back(op);
    });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return applyOpPatternsGreedily(ops, std::move(patterns), config);
}

/// Lowers transfers of several dimensions to loops, and those of one to vector
/// accesses. Most kernels have none.
static LogicalResult lowerTransfers(ArrayRef<Operation *> scopes) {
  auto isTransfer = [](Operation *op) {
    return isa<VectorTransferOpInterface>(op) ? WalkResult::interrupt()
                                              : WalkResult::advance();
  };
  if (llvm::none_of(scopes, [&](Operation *scope) {
        return scope->walk(isTransfer).wasInterrupted();
      }))
    return success();
  MLIRContext *context = scopes.front()->getContext();
  RewritePatternSet permutations(context), loops(context);
  vector::populateVectorTransferPermutationMapLoweringPatterns(permutations);
  populateVectorToSCFConversionPatterns(loops);
  return success(succeeded(apply(scopes, std::move(permutations))) &&
                 succeeded(apply(scopes, std::move(loops))));
}

static RewritePatternSet makePatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  populateVectorPatterns(patterns);
  populateWarpPatterns(patterns);
  populateNarrowFloatPatterns(patterns);
  populateGroupProductPatterns(patterns);
  populateAtomicUpdatePatterns(patterns);
  populatePrintPatterns(patterns);
  populateExpandMathPatterns(patterns);
  affine::populateAffineExpandIndexOpsPatterns(patterns);
  return patterns;
}

LogicalResult legalizeForNVVM(Operation *root) {
  SmallVector<Operation *> scopes = collectDeviceScopes(root);
  IRRewriter rewriter(root->getContext());
  if (failed(lowerTransfers(scopes)) ||
      failed(lowerStructuredOps(root, scopes, rewriter)) ||
      failed(lowerReductions(root, scopes, rewriter)))
    return failure();
  electCopyingThreads(scopes, rewriter);
  stateRegisterCounts(scopes, rewriter);
  widenFloats(root); // of structured operations
  expandMatrixElementwise(root, rewriter);
  if (failed(expandViews(scopes)) ||
      failed(apply(scopes, makePatterns(root->getContext()))) ||
      failed(verifyLegal(root, scopes)))
    return failure();
  expandAffineMaps(scopes, rewriter);
  for (Operation *scope : scopes)
    normalizeAttributions(rewriter, scope, kMinBufferAlignment);
  normalizeGlobals(rewriter, root, kMinBufferAlignment);
  return success();
}

namespace {
struct LegalizeForNVVMPass final
    : impl::LegalizeForNVVMPassBase<LegalizeForNVVMPass> {
  using LegalizeForNVVMPassBase::LegalizeForNVVMPassBase;

  void runOnOperation() override {
    auto run = [&](auto &passes, Operation *op) {
      return runPipeline(passes, op);
    };
    Operation *root = getOperation();
    if (failed(convertNVGPUOps(root, run)) || failed(legalizeForNVVM(root)) ||
        failed(lowerAffineOps(root, run)))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
