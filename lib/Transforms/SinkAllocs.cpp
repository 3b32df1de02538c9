//===- SinkAllocs.cpp - Sink workgroup allocations into kernels -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The buffers that promotion leaves around a launch. A host allocation in
// workgroup memory means one buffer per block of every kernel that it reaches,
// so it may be cloned into each; it means nothing to the host. What reaches a
// kernel is followed through views, which are cloned along.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Support/Remarks.h"
#include "workgroup/Transforms.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_SINKALLOCSPASS
#include "workgroup/Passes.h.inc"

namespace {

/// A workgroup allocation in host code and all that becomes of it.
struct HostAlloc {
  explicit HostAlloc(Operation *op) : op(op) {}

  Operation *op;
  /// Views of it on the host, each after its source.
  SmallVector<Operation *> views;
  SmallVector<Operation *> deallocs;
  SmallVector<memref::DimOp> dims;
  /// Launches that use it or a view of it.
  llvm::SmallSetVector<gpu::LaunchOp, 2> launches;
  /// Operands of outlined launches that pass it or a view of it.
  SmallVector<OpOperand *> kernelOperands;
  /// The first use in host code that is none of the above.
  Operation *hostUse = nullptr;
};

/// Kernels that are outlined already, with their launches.
using LaunchSites =
    llvm::MapVector<gpu::GPUFuncOp, SmallVector<gpu::LaunchFuncOp, 1>>;

} // namespace

static bool isAllocation(Operation *op) {
  return isa<memref::AllocOp, memref::AllocaOp>(op);
}

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

static HostAlloc collectUses(Operation *op) {
  HostAlloc alloc(op);
  SmallVector<Value> worklist = {op->getResult(0)};
  for (unsigned i = 0; i < worklist.size(); ++i) {
    // The order of a use list is the reverse of the order of creation.
    for (OpOperand *use : llvm::reverse(llvm::to_vector(
             llvm::make_pointer_range(worklist[i].getUses())))) {
      Operation *user = use->getOwner();
      if (auto launch = user->getParentOfType<gpu::LaunchOp>()) {
        alloc.launches.insert(launch);
      } else if (isa<gpu::LaunchFuncOp>(user)) {
        alloc.kernelOperands.push_back(use);
      } else if (isa<memref::DeallocOp>(user)) {
        alloc.deallocs.push_back(user);
      } else if (auto dim = dyn_cast<memref::DimOp>(user)) {
        alloc.dims.push_back(dim);
      } else if (getViewSource(user) == worklist[i] &&
                 user->getNumResults() == 1) {
        alloc.views.push_back(user);
        worklist.push_back(user->getResult(0));
      } else if (!alloc.hostUse) {
        alloc.hostUse = user;
      }
    }
  }
  return alloc;
}

static std::vector<HostAlloc> collectHostAllocs(Operation *root) {
  SmallVector<Operation *> scopes = collectDeviceScopes(root);
  DenseSet<Operation *> device(scopes.begin(), scopes.end());
  std::vector<HostAlloc> allocs;
  root->walk([&](Operation *op) {
    if (!isAllocation(op) || !isWorkgroupMemory(op->getResult(0).getType()))
      return;
    Operation *scope = getExecutionScope(op);
    if (!device.contains(scope) && !isInDeviceCode(op))
      allocs.push_back(collectUses(op));
  });
  return allocs;
}

static LaunchSites collectLaunchSites(Operation *root) {
  LaunchSites sites;
  SymbolTableCollection symbols;
  root->walk([&](gpu::LaunchFuncOp launch) {
    auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
        launch, launch.getKernelAttr());
    if (kernel)
      sites[kernel].push_back(launch);
  });
  return sites;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if `value` and `other`, passed to the same kernel by two launches, are
/// the same views of a buffer with the same constant parameters.
static bool areEquivalentViews(Value value, Value other) {
  Operation *op = value.getDefiningOp(), *otherOp = other.getDefiningOp();
  if (!op || !otherOp || op->getName() != otherOp->getName() ||
      op->getAttrs() != otherOp->getAttrs() ||
      op->getResultTypes() != otherOp->getResultTypes() ||
      op->getNumOperands() != otherOp->getNumOperands())
    return false;
  for (auto [lhs, rhs] :
       llvm::zip_equal(op->getOperands(), otherOp->getOperands())) {
    bool isSource = isa<BaseMemRefType>(lhs.getType());
    if (isSource ? !areEquivalentViews(lhs, rhs)
                 : !getConstantIntValue(lhs) ||
                       getConstantIntValue(lhs) != getConstantIntValue(rhs))
      return false;
  }
  return isAllocation(op) || getViewSource(op);
}

/// The reason why the kernel cannot rebuild the host values that `use` passes
/// to it; empty if it can.
static StringRef getObstacle(OpOperand &use, const LaunchSites &sites,
                             gpu::GPUFuncOp kernel) {
  if (!areEquivalentViews(use.get(), use.get()))
    return "its size or a view of it depends on values of the host";
  unsigned index = use.getOperandNumber();
  for (gpu::LaunchFuncOp site : sites.lookup(kernel))
    if (!areEquivalentViews(use.get(), site->getOperand(index)))
      return "launches of the kernel pass different buffers";
  return "";
}

static LogicalResult checkAlloc(const HostAlloc &alloc, Operation *root,
                                const LaunchSites &sites) {
  if (alloc.hostUse) {
    InFlightDiagnostic error =
        alloc.op->emitOpError("in workgroup memory is accessed by host code");
    error.attachNote(alloc.hostUse->getLoc())
        << "used here; only kernels can reach workgroup memory, so give the "
           "host a buffer in the default memory space";
    return error;
  }
  for (OpOperand *use : alloc.kernelOperands) {
    auto launch = cast<gpu::LaunchFuncOp>(use->getOwner());
    auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
        launch, launch.getKernelAttr());
    if (!kernel || !root->isAncestor(kernel))
      continue; // left alone, with a remark
    if (StringRef why = getObstacle(*use, sites, kernel); !why.empty()) {
      InFlightDiagnostic error =
          alloc.op->emitOpError("in workgroup memory cannot move into kernel '")
          << kernel.getName() << "': " << why;
      error.attachNote(launch.getLoc())
          << "passed here; run workgroup-sink-allocs before "
             "gpu-kernel-outlining";
      return error;
    }
  }
  size_t numLaunches = alloc.launches.size();
  if (numLaunches > 1)
    alloc.op->emitWarning() << "buffer used by " << numLaunches
                            << " launches does not keep its contents between "
                               "them";
  return success();
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// Clones the allocation and its views to the start of `launch`.
static void sinkIntoLaunch(const HostAlloc &alloc, gpu::LaunchOp launch,
                           OpBuilder &builder) {
  IRMapping mapping;
  auto clone = [&](Operation *op) {
    auto isInside = [&](OpOperand &use) {
      return launch->isProperAncestor(use.getOwner());
    };
    Operation *copy = builder.clone(*op, mapping);
    op->getResult(0).replaceUsesWithIf(copy->getResult(0), isInside);
  };
  clone(alloc.op);
  for (Operation *view : alloc.views)
    clone(view);
  // Views that this kernel does not use were cloned in vain.
  for (Operation *view : llvm::reverse(alloc.views))
    if (Operation *copy = mapping.lookup(view->getResult(0)).getDefiningOp();
        copy->use_empty())
      copy->erase();
  passedRemark(RemarkSource::SinkAllocs, "SunkIntoKernel", alloc.op)
      << "workgroup buffer moved from the host into the kernel";
}

/// Rebuilds `value`, a view of constants of an allocation, at `builder`.
static Value rebuild(Value value, OpBuilder &builder, IRMapping &mapping) {
  if (Value done = mapping.lookupOrNull(value))
    return done;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    rebuild(operand, builder, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Makes the workgroup buffers that launches pass to `kernel` its own.
static void sinkIntoKernel(gpu::GPUFuncOp kernel,
                           ArrayRef<gpu::LaunchFuncOp> launches,
                           const DenseSet<OpOperand *> &sunk) {
  gpu::LaunchFuncOp launch = launches.front();
  unsigned first = launch.getKernelOperands().getBeginOperandIndex();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.front());
  IRMapping mapping;
  llvm::BitVector erased(kernel.getNumArguments());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    OpOperand &operand = launch->getOpOperand(first + i);
    if (!sunk.contains(&operand))
      continue;
    kernel.getArgument(i).replaceAllUsesWith(
        rebuild(operand.get(), builder, mapping));
    erased.set(i);
    passedRemark(RemarkSource::SinkAllocs, "SunkIntoKernel", kernel)
        << "workgroup buffer of the host made a buffer of the kernel, argument "
        << remark::metric("Argument", i) << " removed";
  }
  (void)kernel.eraseArguments(erased);
  for (gpu::LaunchFuncOp site : launches)
    for (unsigned i = erased.size(); i-- > 0;)
      if (erased.test(i))
        site.getKernelOperandsMutable().erase(i);
}

/// Removes the host side of an allocation that no operation uses any more.
static void eraseHostSide(HostAlloc &alloc, RewriterBase &rewriter) {
  for (memref::DimOp dim : alloc.dims) {
    rewriter.setInsertionPoint(dim);
    Value extent = rewriter.createOrFold<memref::DimOp>(
        dim.getLoc(), dim.getSource(), dim.getIndex());
    rewriter.replaceOp(dim, extent);
  }
  for (Operation *dealloc : alloc.deallocs)
    rewriter.eraseOp(dealloc);
  for (Operation *view : llvm::reverse(alloc.views))
    if (view->use_empty())
      rewriter.eraseOp(view);
  if (alloc.op->use_empty())
    rewriter.eraseOp(alloc.op);
}

LogicalResult sinkAllocs(Operation *root) {
  std::vector<HostAlloc> allocs = collectHostAllocs(root);
  if (allocs.empty())
    return success();
  LaunchSites sites = collectLaunchSites(root);
  for (const HostAlloc &alloc : allocs)
    if (failed(checkAlloc(alloc, root, sites)))
      return failure();

  IRRewriter rewriter(root->getContext());
  DenseMap<Operation *, OpBuilder> builders;
  DenseSet<OpOperand *> sunk;
  llvm::SmallSetVector<gpu::GPUFuncOp, 4> kernels;
  for (const HostAlloc &alloc : allocs) {
    for (gpu::LaunchOp launch : alloc.launches) {
      auto [it, isNew] =
          builders.try_emplace(launch, OpBuilder(launch.getContext()));
      if (isNew)
        it->second.setInsertionPointToStart(&launch.getBody().front());
      sinkIntoLaunch(alloc, launch, it->second);
    }
    for (OpOperand *use : alloc.kernelOperands) {
      auto launch = cast<gpu::LaunchFuncOp>(use->getOwner());
      auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
          launch, launch.getKernelAttr());
      if (!kernel || !root->isAncestor(kernel)) {
        missedRemark(RemarkSource::SinkAllocs, "NotSunk", alloc.op)
            << remark::reason("its kernel is outside of the operation that the "
                              "pass runs on");
        continue;
      }
      sunk.insert(use);
      kernels.insert(kernel);
    }
  }
  for (gpu::GPUFuncOp kernel : kernels)
    sinkIntoKernel(kernel, sites[kernel], sunk);
  for (HostAlloc &alloc : llvm::reverse(allocs))
    eraseHostSide(alloc, rewriter);
  return success();
}

namespace {
struct SinkAllocsPass final : impl::SinkAllocsPassBase<SinkAllocsPass> {
  using SinkAllocsPassBase::SinkAllocsPassBase;

  void runOnOperation() override {
    if (failed(sinkAllocs(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
