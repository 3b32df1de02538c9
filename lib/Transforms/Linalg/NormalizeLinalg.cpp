//===- NormalizeLinalg.cpp - linalg in the form that schedules match ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass brings linalg into the form that schedules match, step by step:
// raise operations on buffers to tensors, refuse what no kernel can do,
// decompose composite operations, turn all into `linalg.generic`, drop
// dimensions of one element, fuse element-wise operations, merge their results.
// Each step is a set of patterns, upstream's for the most part, run to its end.
//
//===----------------------------------------------------------------------===//

#include "BodyCalls.h"
#include "FusedProducers.h"
#include "LinalgClasses.h"
#include "LinalgMaps.h"
#include "MergeElementwise.h"
#include "PackedArguments.h"
#include "RaiseLinalg.h"
#include "ResultPlaces.h"
#include "ScaledFactors.h"
#include "SplitOperands.h"
#include "SplitSwitches.h"
#include "Support/Remarks.h"
#include "TensorEncodings.h"
#include "TensorGenerics.h"
#include "ZeroPoints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "workgroup/Transforms/Linalg.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_NORMALIZELINALGPASS
#include "workgroup/Transforms/Linalg.h.inc"

/// True for an operation of the host that has to do with tensors.
static bool isOnTensors(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return (llvm::any_of(op->getOperandTypes(), isTensor) ||
          llvm::any_of(op->getResultTypes(), isTensor)) &&
         !isInDeviceCode(op);
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

static LogicalResult checkOperation(Operation *op) {
  if (isa<linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp,
          linalg::WinogradOutputTransformOp>(op))
    return op->emitOpError("is not compiled; write the convolution itself, "
                           "such as linalg.conv_2d_nhwc_fhwc");
  if (!isa<linalg::LinalgOp, linalg::AggregatedOpInterface, tensor::PadOp,
           tensor::GenerateOp, tensor::SplatOp, tensor::GatherOp>(op) &&
      !OpTrait::hasElementwiseMappableTraits(op))
    return success();
  auto types = llvm::to_vector(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (isa<ComplexType>(getElementTypeOrSelf(type)))
      return op->emitOpError(
          "is on complex numbers, which are not compiled; split them into "
          "tensors of their real and imaginary parts");
  for (Type type : types)
    if (auto number = dyn_cast<FloatType>(getElementTypeOrSelf(type));
        number && number.getWidth() > 64)
      return op->emitOpError("is on numbers of type ")
             << number
             << ", which GPUs do not compute with; convert them to f64";
  for (Type type : types)
    if (isa<linalg::SoftmaxOp>(op) &&
        !isa<FloatType>(getElementTypeOrSelf(type)))
      return op->emitOpError("is on numbers of type ")
             << getElementTypeOrSelf(type)
             << ", which have no exponential; convert them to f32";
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp ? checkResultMaps(linalgOp) : success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Replaces operations that stand for several by these.
static LogicalResult decompose(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<linalg::AggregatedOpInterface, linalg::PackOp, linalg::UnPackOp>(
            op) &&
        isOnTensors(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    bool isDone = false;
    if (auto pack = dyn_cast<linalg::PackOp>(op)) {
      if (ShapedType::isDynamicShape(pack.getStaticInnerTiles()))
        continue; // no static tile, no slice of it: becomes a generic
      isDone = succeeded(linalg::lowerPack(
          rewriter, pack, /*lowerPadLikeWithInsertSlice=*/false));
    } else if (auto unpack = dyn_cast<linalg::UnPackOp>(op)) {
      isDone = succeeded(linalg::lowerUnPack(
          rewriter, unpack, /*lowerUnpadLikeWithExtractSlice=*/false));
    } else {
      auto parts =
          cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
      isDone = succeeded(parts);
      if (isDone)
        rewriter.replaceOp(op, *parts);
    }
    if (!isDone)
      return op->emitOpError("cannot be taken apart into simpler operations; "
                             "write these instead");
  }
  return success();
}

static void eraseAssertions(func::FuncOp function) {
  function.walk([](cf::AssertOp op) {
    auto around = op->getParentOfType<linalg::LinalgOp>();
    if (!around || !isTensorOp(around))
      return;
    op.emitWarning("'cf.assert' op is dropped, and not checked by the kernel; "
                   "leave out 'drop-assertions' to keep it");
    recordRemark(RemarkId::NormalizeLinalg_DroppedAssertion, op)
        << "a kernel does not check this assertion"
        << remark::metric("Assertion", op.getMsg());
    op.erase();
  });
}

/// Rewrites up to a bound that grows with the function, so that patterns that
/// undo each other are told of.
static LogicalResult apply(func::FuncOp function, RewritePatternSet patterns) {
  constexpr int64_t kMaxRewritesPerOp = 1000;
  int64_t numOps = 0;
  function.walk([&](Operation *) { ++numOps; });
  GreedyRewriteConfig config;
  config.setMaxNumRewrites(kMaxRewritesPerOp * numOps);
  if (succeeded(applyPatternsGreedily(function, std::move(patterns), config)))
    return success();
  return function.emitError("the tensors of this function are rewritten again "
                            "and again; please report it");
}

/// Applies `rewrite` to the generics of `function` on tensors.
static void
rewriteGenerics(func::FuncOp function,
                function_ref<void(RewriterBase &, linalg::GenericOp)> rewrite) {
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::GenericOp> generics;
  function.walk([&](linalg::GenericOp op) {
    if (isTensorOp(op))
      generics.push_back(op);
  });
  for (linalg::GenericOp op : generics)
    rewrite(rewriter, op);
}

static LogicalResult generalize(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  populateTensorGenericPatterns(patterns);
  if (failed(apply(function, std::move(patterns))))
    return failure();
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](linalg::LinalgOp op) {
    if (isTensorOp(op) && !isa<linalg::GenericOp>(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op->emitOpError("has no form as linalg.generic; write it as one");
  }
  for (auto *rewrite :
       {takeOutZeroPoints, cutWindows, lookUpOddInputs, splitOperands})
    rewriteGenerics(function, rewrite);
  return success();
}

namespace {

struct DropEmptyLoops : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!isTensorOp(op) || op->use_empty() || !isEmpty(op))
      return failure();
    for (auto [result, init] :
         llvm::zip_equal(op->getResults(), op.getDpsInits()))
      rewriter.replaceAllUsesWith(result, init);
    return success();
  }
};

} // namespace

/// Without its loops of one iteration, a sum of which one loop is left would be
/// taken for all of an extent: of windows that could not be cut.
static void keepLoopsOfWindows(linalg::LinalgOp op,
                               llvm::SmallBitVector &mayDrop) {
  SmallVector<AffineExpr> iterations = getIterations(op);
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr at : map.getResults())
      if (!isa<AffineDimExpr>(at) &&
          isa<AffineDimExpr>(at.replaceDims(iterations)))
        at.walk([&](AffineExpr part) {
          if (auto dim = dyn_cast<AffineDimExpr>(part))
            mayDrop.reset(dim.getPosition());
        });
}

static LogicalResult dropUnitDims(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::ControlDropUnitDims control;
  control.controlFn = [](Operation *op) {
    linalg::LinalgOp onTensors = getTensorOp(op);
    // What goes into the result of a loop is put there as it is.
    if (op->getParentOfType<scf::ForallOp>())
      onTensors = nullptr;
    llvm::SmallBitVector mayDrop(onTensors ? onTensors.getNumLoops() : 0, true);
    if (onTensors)
      keepLoopsOfWindows(onTensors, mayDrop);
    return llvm::to_vector_of<unsigned>(mayDrop.set_bits());
  };
  linalg::populateFoldUnitExtentDimsPatterns(patterns, control);
  linalg::populateMoveInitOperandsToInputPattern(patterns);
  populateSliceStridePatterns(patterns);
  patterns.add<DropEmptyLoops>(function.getContext());
  return apply(function, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// Whether the dimensions that `groups` make one of each are, at indices of
/// `map`, batches of contraction `op`, which may as well have all of them.
static bool areBatches(linalg::LinalgOp op, AffineMap map,
                       ArrayRef<ReassociationIndices> groups,
                       ArrayRef<int64_t> extents) {
  if (!op || classify(op) != LinalgClass::Contraction)
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  return succeeded(dims) && map.getNumResults() == groups.size() &&
         llvm::all_of(llvm::zip_equal(map.getResults(), groups), [&](auto of) {
           auto [at, group] = of;
           auto loop = dyn_cast<AffineDimExpr>(at);
           return group.size() == 1 ||
                  (loop &&
                   llvm::is_contained(dims->batch, loop.getPosition()) &&
                   llvm::none_of(
                       group, [&](int64_t dim) { return extents[dim] == 1; }));
         });
}

/// True if a contraction adds to `use`.
static bool startsContraction(OpOperand &use) {
  linalg::LinalgOp user = getTensorOp(use.getOwner());
  return user && user.isDpsInit(&use) &&
         classify(user) == LinalgClass::Contraction;
}

/// Whether the reshape at `use` is between a contraction and an operation on
/// what several batches of it make one of: heads of attention.
static bool isOfBatches(OpOperand *use) {
  Operation *producer = use->get().getDefiningOp(), *user = use->getOwner();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user)) {
    linalg::LinalgOp op = getTensorOp(producer);
    if (op && classify(op) == LinalgClass::Generator)
      return llvm::all_of(expand->getUses(), startsContraction);
    return op &&
           areBatches(
               op, op.getIndexingMapMatchingResult(cast<OpResult>(use->get())),
               expand.getReassociationIndices(),
               expand.getResultType().getShape()) &&
           llvm::all_of(expand->getUsers(), getTensorOp);
  }
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(producer);
  linalg::LinalgOp op = getTensorOp(user);
  return collapse && op && getTensorOp(collapse.getSrc().getDefiningOp()) &&
         areBatches(op, op.getMatchingIndexingMap(use),
                    collapse.getReassociationIndices(),
                    collapse.getSrcType().getShape());
}

/// Whether a reshape at `use` is swapped with what is before or behind it: only
/// between two element-wise operations, which become one by it, and between
/// a contraction and what is done to its batches. Elsewhere it spreads
/// dimensions of one element all over the program.
static bool shouldSwapReshape(OpOperand *use) {
  auto isElementwise = [](Operation *op) {
    linalg::LinalgOp onTensors = getTensorOp(op);
    return onTensors && classify(onTensors) == LinalgClass::Elementwise;
  };
  auto isReshape = [](Operation *op) {
    return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
  };
  Operation *producer = use->get().getDefiningOp(), *user = use->getOwner();
  if (!producer || !producer->hasOneUse())
    return false;
  if (isOfBatches(use))
    return true;
  if (isReshape(producer))
    return isElementwise(user) &&
           isElementwise(producer->getOperand(0).getDefiningOp()) &&
           producer->getOperand(0).hasOneUse();
  return isReshape(user) && isElementwise(producer) && user->hasOneUse() &&
         isElementwise(*user->user_begin());
}

namespace {
/// Drops the tensor that a result starts from if the body does not read it. A
/// sum of no terms is what it starts from, whether or not the body looks at it.
struct DropUnreadInits final : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<unsigned> reductions;
    op.getReductionDims(reductions);
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    if (!isTensorOp(op) || llvm::any_of(reductions, [&](unsigned loop) {
          return ShapedType::isDynamic(extents[loop]) || extents[loop] == 0;
        }))
      return failure();
    bool hasChanged = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (op.payloadUsesValueFromOperand(&init) ||
          init.get().getDefiningOp<tensor::EmptyOp>())
        continue;
      auto type = cast<RankedTensorType>(init.get().getType());
      SmallVector<Value> sizes;
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim))
          sizes.push_back(
              tensor::DimOp::create(rewriter, op.getLoc(), init.get(), dim));
      auto empty = tensor::EmptyOp::create(rewriter, op.getLoc(), type, sizes);
      rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
      hasChanged = true;
    }
    return success(hasChanged);
  }
};
} // namespace

/// Leaves out upstream's pattern in place of which `DropUnreadInits` is.
static void removeOutsDependency(RewritePatternSet &patterns) {
  llvm::erase_if(patterns.getNativePatterns(), [](const auto &pattern) {
    return pattern->getDebugName().ends_with("RemoveOutsDependency");
  });
}

/// Makes sizes static that are. While operations are fused this would not end,
/// as that makes destinations of the sizes that were, as values.
static LogicalResult inferShapes(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  return apply(function, std::move(patterns));
}

static LogicalResult fuse(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  linalg::populateElementwiseOpsFusionPatterns(patterns, isFusedIntoUser);
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns,
                                                    shouldSwapReshape);
  populateReshapeOfCastPatterns(patterns);
  removeOutsDependency(patterns);
  patterns.add<DropUnreadInits>(context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  // Who asks for a size only is no user.
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  if (failed(apply(function, std::move(patterns))))
    return failure();
  eraseUnusedOps(function); // what was fused, and asserts
  return success();
}

/// Has contractions multiply factors of 16 bits that the program scales before,
/// which they then read as they are.
static LogicalResult scaleSums(func::FuncOp function, bool narrow) {
  bool hasChanged = false;
  rewriteGenerics(function, [&](RewriterBase &rewriter, linalg::GenericOp op) {
    hasChanged |= scaleSums(rewriter, op, narrow);
  });
  return hasChanged ? fuse(function) : success();
}

/// Makes one operation of what fusion leaves because it is also returned.
static LogicalResult mergeResults(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  populateMergeElementwisePatterns(patterns);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return apply(function, std::move(patterns));
}

/// Upstream takes a `tensor.pad` whose result is as large as its source for
/// that source, also if it cuts off at one end what it adds at the other
/// (LLVM 22.1).
static void keepShifts(func::FuncOp function) {
  function.walk([](tensor::PadOp pad) {
    bool isShift = pad.getSourceType() == pad.getResultType() &&
                   !(pad.hasZeroLowPad() && pad.hasZeroHighPad());
    if (isShift)
      pad.setNofold(true);
  });
}

/// Normalizes `function`, which `isEntry` if nothing in the module calls it.
static LogicalResult normalize(func::FuncOp function, bool isEntry,
                               const NormalizeLinalgOptions &options) {
  keepShifts(function);
  rewriteGenerics(function, separateResults);
  bool hasTensors = false;
  WalkResult checked = function.walk([&](Operation *op) {
    if (!isOnTensors(op))
      return WalkResult::advance();
    hasTensors = true;
    return WalkResult(checkOperation(op));
  });
  if (checked.wasInterrupted())
    return failure();
  if (!hasTensors)
    return success();
  rewriteGenerics(function, layOutResults);
  if (options.dropAssertions)
    eraseAssertions(function);
  return success(
      succeeded(decompose(function)) && succeeded(generalize(function)) &&
      (!isEntry || succeeded(unpackArguments(function))) &&
      succeeded(dropUnitDims(function)) && succeeded(inferShapes(function)) &&
      succeeded(fuse(function)) &&
      succeeded(scaleSums(function, options.narrow)) &&
      succeeded(mergeResults(function)));
}

LogicalResult normalizeLinalg(ModuleOp module,
                              const NormalizeLinalgOptions &options) {
  if (failed(checkEncodings(module)) || failed(inlineBodyCalls(module)))
    return failure();
  // What functions of the module pass to each other nobody has checked.
  DenseSet<StringRef> called;
  module.walk([&](func::CallOp call) { called.insert(call.getCallee()); });
  ArgumentAliases ofCalled(module, /*areDistinct=*/false);
  ArgumentAliases ofEntry(module, options.assumeDistinctArguments);
  for (auto function : module.getOps<func::FuncOp>()) {
    bool isEntry = function.isPublic() && !called.contains(function.getName());
    splitSwitches(function);
    raiseLinalg(function, isEntry ? ofEntry : ofCalled);
    if (failed(normalize(function, isEntry, options)))
      return failure();
  }
  return success();
}

namespace {

struct NormalizeLinalgPass
    : impl::NormalizeLinalgPassBase<NormalizeLinalgPass> {
  using NormalizeLinalgPassBase::NormalizeLinalgPassBase;

  void runOnOperation() override {
    if (failed(normalizeLinalg(
            getOperation(), {dropAssertions, assumeDistinctArguments, narrow})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
