//===- PrepareBufferization.cpp - What bufferization takes for granted ----===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One-shot bufferization holds that what a loop returns shares memory with what
// the same argument of the loop starts as, or is new. It copies what may share
// memory with something else outside of an `scf.for`; that two yield the same
// value it does not see, nor what the body of an `scf.while` yields.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Linalg/TensorEncodings.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Transforms/Kernels.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_PREPAREBUFFERIZATIONPASS
#include "workgroup/Transforms/Kernels.h.inc"

using bufferization::AnalysisState;
using bufferization::OneShotAnalysisState;
using bufferization::OneShotBufferizationOptions;

//===----------------------------------------------------------------------===//
// Empty tensors
//===----------------------------------------------------------------------===//

/// Builds the subset that `insertion` inserts into, which takes the place of
/// `empty`; null if it needs a result of what the tensor is made in.
static Value buildExtraction(RewriterBase &rewriter,
                             SubsetInsertionOpInterface insertion,
                             tensor::EmptyOp empty, Operation *user) {
  for (Value value : insertion.getValuesNeededToBuildSubsetExtraction())
    if (Operation *op = value.getDefiningOp())
      if (op->isAncestor(user) || op->isAncestor(empty))
        return Value();
  return bufferization::buildSubsetExtraction(rewriter, insertion, empty, user);
}

/// Lets tensors be made where they are inserted.
static LogicalResult eliminateEmptyTensors(ModuleOp module,
                                           OneShotAnalysisState &state) {
  IRRewriter rewriter(module.getContext());
  return bufferization::eliminateEmptyTensors(rewriter, module, state,
                                              buildExtraction);
}

//===----------------------------------------------------------------------===//
// Destinations that are tensors
//===----------------------------------------------------------------------===//

/// The tensor that `tensor` is a part of, or another view of: nothing says that
/// a tensor of its own is made of it.
static Value getWhole(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp>(op))
      break;
    tensor = op->getOperand(0);
  }
  return tensor;
}

/// True if callers keep what they pass for `argument`.
static bool isReadOnly(BlockArgument argument) {
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto writable =
      function && argument.getOwner()->isEntryBlock()
          ? function.getArgAttrOfType<BoolAttr>(
                argument.getArgNumber(),
                bufferization::BufferizationDialect::kWritableAttrName)
          : BoolAttr();
  return writable && !writable.getValue();
}

/// True if the memory of the tensor that `op` materializes its source in is not
/// there to be written: it is a constant or the caller's, or something else
/// reads what was in it, which is a value of its own.
static bool isDestinationKept(bufferization::MaterializeInDestinationOp op) {
  Value whole = getWhole(op.getDest());
  if (auto argument = dyn_cast<BlockArgument>(whole)) {
    if (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      return isReadOnly(argument);
  } else if (isa<bufferization::ToTensorOp>(whole.getDefiningOp())) {
    return false; // what is to be written is the memory
  } else if (whole.getDefiningOp()->hasTrait<OpTrait::ConstantLike>()) {
    return true;
  }
  return whole == op.getDest() && !whole.hasOneUse();
}

/// Hands on the sources of what would be materialized where nothing may be
/// written: as values they are the same.
static void forwardSources(ModuleOp module) {
  SmallVector<bufferization::MaterializeInDestinationOp> ops;
  module.walk([&](bufferization::MaterializeInDestinationOp op) {
    if (isa<TensorType>(op.getDest().getType()) && isDestinationKept(op))
      ops.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (bufferization::MaterializeInDestinationOp op : ops) {
    rewriter.setInsertionPoint(op);
    Value source = op.getSource();
    Type type = op.getResult().getType();
    if (source.getType() != type)
      source = tensor::CastOp::create(rewriter, op.getLoc(), type, source);
    rewriter.replaceOp(op, source);
  }
}

//===----------------------------------------------------------------------===//
// Loops and functions
//===----------------------------------------------------------------------===//

namespace {

/// Finds the tensors that loops yield, or functions that are called return, and
/// that need memory of their own.
class YieldCollector {
public:
  explicit YieldCollector(const AnalysisState &state) : state(state) {}

  void collect(scf::ForOp loop) {
    collect(*loop.getBody()->getTerminator(), loop.getRegionIterArgs(),
            /*seesOutside=*/false);
  }
  void collect(scf::WhileOp loop) {
    // The body may be given fewer than it yields.
    SmallVector<Value> arguments(loop.getAfterArguments());
    arguments.resize(loop.getInits().size());
    collect(*loop.getYieldOp(), arguments, /*seesOutside=*/true);
  }
  void collect(func::FuncOp function) {
    function.walk([&](func::ReturnOp end) {
      collect(*end, SmallVector<Value>(end->getNumOperands()),
              /*seesOutside=*/false);
    });
  }
  ArrayRef<OpOperand *> getYields() const { return yields; }

private:
  void collect(Operation &terminator, ValueRange arguments, bool seesOutside);
  SetVector<Value> getShared(Value value, bool isAnyTime) const;

  const AnalysisState &state;
  SmallVector<OpOperand *> yields;
};

} // namespace

/// What `value` may share memory with, as its operands: also with what has been
/// overwritten since, if `isAnyTime`. Else that is read where it is yielded, so
/// that it is not overwritten in place.
SetVector<Value> YieldCollector::getShared(Value value, bool isAnyTime) const {
  SetVector<Value> shared;
  shared.insert(value);
  for (unsigned next = 0; next < shared.size(); ++next)
    for (const auto &alias : state.getAliasingOpOperands(shared[next]))
      if (isAnyTime || !state.bufferizesToMemoryWrite(*alias.opOperand))
        shared.insert(alias.opOperand->get());
  return shared;
}

/// True for a value that is not to be changed.
static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// Collects what shares memory with what is yielded before it, with a constant
/// or, if `seesOutside`, with what is not made in the body, but for the same
/// argument.
void YieldCollector::collect(Operation &terminator, ValueRange arguments,
                             bool seesOutside) {
  DenseSet<Value> seen;
  Region *body = terminator.getParentRegion();
  for (auto [operand, argument] :
       llvm::zip_equal(terminator.getOpOperands(), arguments)) {
    if (!isa<TensorType>(operand.get().getType()))
      continue;
    auto isElsewhere = [&](Value value) {
      auto other = dyn_cast<BlockArgument>(value);
      bool isOther = other && other.getOwner() == &body->front();
      return value != argument &&
             (isOther || !body->isAncestor(value.getParentRegion()));
    };
    SetVector<Value> shared = getShared(operand.get(), /*isAnyTime=*/false);
    bool isShared = llvm::any_of(shared, [&](Value value) {
      return seen.contains(value) || isConstant(value);
    });
    if (seesOutside)
      isShared |= llvm::any_of(getShared(operand.get(), /*isAnyTime=*/true),
                               isElsewhere);
    if (isShared)
      yields.push_back(&operand);
    else
      seen.insert_range(shared);
  }
}

/// Gives `yield` memory of its own.
static LogicalResult copy(OpBuilder &builder, OpOperand &yield) {
  Operation *terminator = yield.getOwner();
  auto type = dyn_cast<RankedTensorType>(yield.get().getType());
  if (!type)
    return terminator->emitError("'")
           << terminator->getName() << "' op hands on operand "
           << yield.getOperandNumber()
           << ", of unknown rank, which shares memory with something else and "
              "cannot be copied; cast it to a ranked tensor before";
  builder.setInsertionPoint(terminator);
  yield.set(bufferization::AllocTensorOp::create(
      builder, terminator->getLoc(), type,
      /*dynamicSizes=*/ValueRange(), /*copy=*/yield.get()));
  return success();
}

/// `state` tells what functions return of what they are given.
static LogicalResult separateYields(ModuleOp module,
                                    const AnalysisState &state) {
  YieldCollector collector(state);
  module.walk([&](scf::ForOp loop) { collector.collect(loop); });
  module.walk([&](scf::WhileOp loop) { collector.collect(loop); });
  DenseSet<Operation *> called;
  module.walk([&](CallOpInterface call) {
    auto function = dyn_cast_or_null<func::FuncOp>(call.resolveCallable());
    if (function && called.insert(function).second)
      collector.collect(function);
  });
  OpBuilder builder(module.getContext());
  for (OpOperand *yield : collector.getYields())
    if (failed(copy(builder, *yield)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

/// True if `op` makes a tensor of scalars and indices alone.
static bool isFill(linalg::LinalgOp op) {
  return op->getNumResults() == 1 && op.hasPureTensorSemantics() &&
         op.getNumReductionLoops() == 0 &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
         llvm::none_of(op.getDpsInputs(), [](Value input) {
           return isa<TensorType>(input.getType());
         });
}

/// Another operation like `fill`, into a tensor of its own.
static Value createFill(OpBuilder &builder, linalg::LinalgOp fill) {
  Location loc = fill->getLoc();
  Value init = fill.getDpsInits().front();
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, init),
      cast<RankedTensorType>(init.getType()).getElementType());
  auto other = cast<linalg::LinalgOp>(builder.clone(*fill.getOperation()));
  other.setDpsInitOperand(0, empty);
  return other->getResult(0);
}

/// Gives each of several operations that start from one fill a fill of its own,
/// where one buffer would be filled and then copied.
static void separateFills(ModuleOp module) {
  SmallVector<linalg::LinalgOp> fills;
  module.walk([&](linalg::LinalgOp op) {
    if (isFill(op))
      fills.push_back(op);
  });
  for (linalg::LinalgOp fill : fills) {
    SmallVector<OpOperand *> starts;
    for (OpOperand &use : fill->getResult(0).getUses()) {
      auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (user && user.isDpsInit(&use) && user->getBlock() == fill->getBlock())
        starts.push_back(&use);
    }
    OpBuilder builder(fill.getOperation());
    for (OpOperand *start : llvm::drop_begin(starts, starts.empty() ? 0 : 1))
      start->set(createFill(builder, fill));
  }
}

LogicalResult prepareBufferization(ModuleOp module) {
  if (failed(checkEncodings(module)))
    return failure();
  forwardSources(module);
  separateFills(module);
  OneShotBufferizationOptions options;
  options.allowReturnAllocsFromLoops = true;
  options.bufferizeFunctionBoundaries = true;
  OneShotAnalysisState state(module, options);
  return success(succeeded(bufferization::analyzeModuleOp(module, state)) &&
                 succeeded(eliminateEmptyTensors(module, state)) &&
                 succeeded(separateYields(module, state)));
}

namespace {
struct PrepareBufferizationPass final
    : impl::PrepareBufferizationPassBase<PrepareBufferizationPass> {
  using PrepareBufferizationPassBase::PrepareBufferizationPassBase;

  void runOnOperation() override {
    if (failed(prepareBufferization(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
