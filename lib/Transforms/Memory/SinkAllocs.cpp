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
// one in private memory a buffer per thread, so it may be cloned into each; it
// means nothing to the host. What reaches a kernel is followed through views,
// which are cloned along.
//
//===----------------------------------------------------------------------===//

#include "KernelOperands.h"
#include "Support/Remarks.h"
#include "Support/Views.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "UnifyDynamicMemory.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/Memory.h"
#include "workgroup/Transforms/ProgramChecks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_SINKALLOCSPASS
#include "workgroup/Transforms/Memory.h.inc"

namespace {

/// An allocation in host code that belongs into kernels, and all that becomes
/// of it.
struct HostAlloc {
  explicit HostAlloc(Operation *op) : op(op) {}

  Operation *op;
  /// Views of it on the host, each after its source.
  SmallVector<Operation *> views;
  SmallVector<Operation *> deallocs;
  /// Queries of extents on the host that do not need the memref.
  SmallVector<memref::DimOp> dims;
  /// Launches that use it or a view of it.
  llvm::SmallSetVector<gpu::LaunchOp, 2> launches;
  /// Operands of outlined launches that pass it or a view of it.
  SmallVector<OpOperand *> kernelOperands;
  /// The first use in host code that is none of the above.
  Operation *hostUse = nullptr;
  /// Stays on the host, as the pass may not change all that uses it.
  bool isLeft = false;

  bool isPrivate() const { return isPrivateMemory(op->getResult(0).getType()); }
  StringRef getSpaceName() const {
    return isPrivate() ? "private" : "workgroup";
  }
  bool isLaunched() const {
    return !launches.empty() || !kernelOperands.empty();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// The extent of dimension `dim` of `memref`, an allocation or a view of one,
/// without a use of the memref; null if it cannot be had so.
static OpFoldResult getExtent(Value memref, int64_t dim) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return {};
  if (!type.isDynamicDim(dim))
    return Builder(type.getContext()).getIndexAttr(type.getDimSize(dim));
  Operation *op = memref.getDefiningOp();
  return llvm::TypeSwitch<Operation *, OpFoldResult>(op)
      .Case<memref::AllocOp, memref::AllocaOp>([&](auto alloc) {
        return alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)];
      })
      .Case<memref::ViewOp>([&](memref::ViewOp view) {
        return view.getSizes()[type.getDynamicDimIndex(dim)];
      })
      .Case<memref::SubViewOp>([&](memref::SubViewOp view) {
        llvm::SmallBitVector dropped = getDroppedDims(view);
        for (auto [i, size] : llvm::enumerate(view.getMixedSizes()))
          if (!dropped.test(i) && dim-- == 0)
            return size;
        return OpFoldResult();
      })
      .Case<memref::ReinterpretCastOp>([&](memref::ReinterpretCastOp view) {
        return view.getMixedSizes()[dim];
      })
      .Case<memref::ExpandShapeOp>([&](memref::ExpandShapeOp view) {
        return view.getMixedOutputShape()[dim];
      })
      .Case<memref::TransposeOp>([&](memref::TransposeOp view) {
        return getExtent(view.getIn(),
                         view.getPermutation().getDimPosition(dim));
      })
      .Case<memref::CastOp, memref::MemorySpaceCastOp,
            memref::AssumeAlignmentOp>(
          [&](auto) { return getExtent(getViewSource(op), dim); })
      .Default([](Operation *) { return OpFoldResult(); });
}

/// The value of `op` if it is a `memref.dim` that does not need the memref.
static OpFoldResult getQueriedExtent(Operation *op) {
  auto dim = dyn_cast<memref::DimOp>(op);
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  return index ? getExtent(dim.getSource(), *index) : OpFoldResult();
}

/// True if `use` passes a value to a kernel that is outlined already.
static bool isKernelOperand(OpOperand &use) {
  auto launch = dyn_cast<gpu::LaunchFuncOp>(use.getOwner());
  return launch &&
         llvm::is_contained(
             llvm::make_pointer_range(launch.getKernelOperandsMutable()), &use);
}

static HostAlloc collectUses(Operation *op) {
  HostAlloc alloc(op);
  SmallVector<Value> worklist = {op->getResult(0)};
  for (unsigned i = 0; i < worklist.size(); ++i) {
    // The order of a use list is the reverse of the order of creation.
    auto uses =
        llvm::to_vector(llvm::make_pointer_range(worklist[i].getUses()));
    for (OpOperand *use : llvm::reverse(uses)) {
      Operation *user = use->getOwner();
      if (auto launch = user->getParentOfType<gpu::LaunchOp>()) {
        alloc.launches.insert(launch);
      } else if (isKernelOperand(*use)) {
        alloc.kernelOperands.push_back(use);
      } else if (isa<memref::DeallocOp>(user)) {
        alloc.deallocs.push_back(user);
      } else if (getQueriedExtent(user)) {
        alloc.dims.push_back(cast<memref::DimOp>(user));
      } else if (getViewSource(user) == worklist[i] && isPlainView(user)) {
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
    if (!isAllocation(op))
      return;
    Type type = op->getResult(0).getType();
    bool isPrivate = isPrivateMemory(type) && !isa<memref::GetGlobalOp>(op);
    Operation *scope = getExecutionScope(op);
    if ((!isPrivate && !isWorkgroupMemory(type)) || device.contains(scope) ||
        isInDeviceCode(op))
      return;
    HostAlloc alloc = collectUses(op);
    // Private memory is of use to any code, unless it is to be a kernel's.
    if (!isPrivate || alloc.isLaunched())
      allocs.push_back(std::move(alloc));
  });
  return allocs;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// The kernel that `launch` launches, if it is inside `root`.
static gpu::GPUFuncOp getKernel(gpu::LaunchFuncOp launch, Operation *root) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernelAttr());
  return kernel && root->isAncestor(kernel) ? kernel : gpu::GPUFuncOp();
}

/// The position of `use` among the arguments of the kernel.
static unsigned getArgumentIndex(OpOperand &use) {
  auto launch = cast<gpu::LaunchFuncOp>(use.getOwner());
  return use.getOperandNumber() -
         launch.getKernelOperands().getBeginOperandIndex();
}

/// Reports `alloc`, which the pass has to leave on the host.
static void leave(HostAlloc &alloc, StringRef why) {
  alloc.isLeft = true;
  recordRemark(RemarkId::SinkAllocs_NotSunk, alloc.op)
      << remark::reason("{0}", why.str());
}

static LogicalResult emitHostUseError(const HostAlloc &alloc) {
  InFlightDiagnostic error = alloc.op->emitOpError("in ")
                             << alloc.getSpaceName()
                             << " memory is accessed by host code";
  error.attachNote(alloc.hostUse->getLoc())
      << "used here; only kernels can reach " << alloc.getSpaceName()
      << " memory, so give the host a buffer in the default memory space";
  return error;
}

/// Checks that the kernel of `use` can rebuild what it is passed.
static LogicalResult verifyRebuildable(const HostAlloc &alloc, OpOperand &use,
                                       gpu::GPUFuncOp kernel,
                                       ArrayRef<gpu::LaunchFuncOp> launches) {
  std::optional<RebuildObstacle> obstacle =
      findRebuildObstacle(launches, getArgumentIndex(use));
  if (!obstacle)
    return success();
  InFlightDiagnostic error = alloc.op->emitOpError("in ")
                             << alloc.getSpaceName()
                             << " memory cannot move into kernel '"
                             << kernel.getName() << "': " << obstacle->reason;
  error.attachNote(use.getOwner()->getLoc())
      << "passed here; run workgroup-sink-allocs before gpu-kernel-outlining";
  if (obstacle->other && obstacle->other != use.getOwner())
    error.attachNote(obstacle->other.getLoc()) << "another launch is here";
  return error;
}

/// Decides about what outlined launches pass to their kernels.
static LogicalResult decideOperands(HostAlloc &alloc, Operation *root,
                                    const LaunchSites &sites) {
  for (OpOperand *use : alloc.kernelOperands) {
    auto launch = cast<gpu::LaunchFuncOp>(use->getOwner());
    gpu::GPUFuncOp kernel = getKernel(launch, root);
    if (kernel) {
      if (failed(verifyRebuildable(alloc, *use, kernel, sites.lookup(kernel))))
        return failure();
    } else if (!alloc.isLeft) {
      leave(alloc, "its kernel is outside of the operation that the pass runs "
                   "on");
    }
  }
  return success();
}

/// Decides what becomes of `alloc`, or says why nothing can.
static LogicalResult decide(HostAlloc &alloc, Operation *root,
                            const LaunchSites &sites) {
  if (alloc.hostUse && !alloc.isLaunched() && isa<FunctionOpInterface>(root)) {
    leave(alloc, "the function may be called by a kernel outside of the "
                 "operation that the pass runs on");
    return success();
  }
  if (alloc.hostUse)
    return emitHostUseError(alloc);
  if (alloc.isPrivate() &&
      !cast<MemRefType>(alloc.op->getResult(0).getType()).hasStaticShape())
    return alloc.op->emitOpError("in private memory has a size that is not "
                                 "constant, which the stack of a thread cannot "
                                 "provide; allocate as much as it can need");
  if (failed(decideOperands(alloc, root, sites)))
    return failure();
  llvm::SmallSetVector<Operation *, 4> launches(alloc.launches.begin(),
                                                alloc.launches.end());
  for (OpOperand *use : alloc.kernelOperands)
    launches.insert(use->getOwner());
  if (launches.size() > 1 && !alloc.isLeft)
    alloc.op->emitWarning() << "buffer used by " << launches.size()
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
  auto replace = [&](Operation *op, Operation *copy) {
    mapping.map(op->getResult(0), copy->getResult(0));
    op->getResult(0).replaceUsesWithIf(copy->getResult(0), [&](OpOperand &use) {
      return launch->isProperAncestor(use.getOwner());
    });
  };
  replace(alloc.op, cloneIntoKernel(builder, alloc.op));
  for (Operation *view : alloc.views)
    replace(view, builder.clone(*view, mapping));
  // Views that this kernel does not use were cloned in vain.
  for (Operation *view : llvm::reverse(alloc.views))
    if (Operation *copy = mapping.lookup(view->getResult(0)).getDefiningOp();
        copy->use_empty())
      copy->erase();
  recordRemark(RemarkId::SinkAllocs_SunkIntoKernel, alloc.op)
      << (alloc.getSpaceName() + " buffer moved from the host into the kernel")
             .str();
}

/// Replaces queries of extents by what they give.
static void replaceDims(const HostAlloc &alloc, RewriterBase &rewriter) {
  for (memref::DimOp dim : alloc.dims) {
    rewriter.setInsertionPoint(dim);
    // Asked again: it may be that of a dim which is gone by now.
    OpFoldResult extent = getQueriedExtent(dim);
    rewriter.replaceOp(
        dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), extent));
  }
}

/// Removes the host side of an allocation that no operation uses any more.
static void eraseHostSide(HostAlloc &alloc, RewriterBase &rewriter) {
  if (alloc.isLeft)
    return;
  for (Operation *dealloc : alloc.deallocs)
    rewriter.eraseOp(dealloc);
  for (Operation *view : llvm::reverse(alloc.views))
    if (view->use_empty())
      rewriter.eraseOp(view);
  if (alloc.op->use_empty())
    rewriter.eraseOp(alloc.op);
}

/// Moves the allocations into the kernels that use them.
static void apply(MutableArrayRef<HostAlloc> allocs, Operation *root,
                  const LaunchSites &sites) {
  IRRewriter rewriter(root->getContext());
  for (const HostAlloc &alloc : allocs)
    replaceDims(alloc, rewriter);
  DenseMap<Operation *, OpBuilder> builders;
  llvm::MapVector<gpu::GPUFuncOp, llvm::BitVector> kernels;
  for (const HostAlloc &alloc : allocs) {
    for (gpu::LaunchOp launch : alloc.launches) {
      auto [it, isNew] =
          builders.try_emplace(launch, OpBuilder(launch.getContext()));
      if (isNew)
        it->second.setInsertionPointToStart(&launch.getBody().front());
      sinkIntoLaunch(alloc, launch, it->second);
    }
    for (OpOperand *use : alloc.kernelOperands)
      if (gpu::GPUFuncOp kernel =
              getKernel(cast<gpu::LaunchFuncOp>(use->getOwner()), root)) {
        llvm::BitVector &sunk = kernels[kernel];
        sunk.resize(kernel.getNumArguments());
        sunk.set(getArgumentIndex(*use));
      }
  }
  KernelGlobals globals;
  for (auto &[kernel, sunk] : kernels)
    rebuildArguments(kernel, sites.lookup(kernel), sunk, globals);
  for (HostAlloc &alloc : llvm::reverse(allocs))
    eraseHostSide(alloc, rewriter);
  globals.eraseUnusedOriginals(root);
}

LogicalResult sinkAllocs(Operation *root) {
  std::vector<HostAlloc> allocs = collectHostAllocs(root);
  if (allocs.empty())
    return success();
  LaunchSites sites = collectLaunchSites(root);
  for (HostAlloc &alloc : allocs)
    if (failed(decide(alloc, root, sites)))
      return failure();
  apply(allocs, root, sites);
  return success();
}

namespace {
struct SinkAllocsPass final : impl::SinkAllocsPassBase<SinkAllocsPass> {
  using SinkAllocsPassBase::SinkAllocsPassBase;

  void runOnOperation() override {
    if (failed(mapMemorySpaces(getOperation(), fromSpaces)) ||
        failed(verifyMemorySpaces(getOperation(), /*isSunk=*/false)) ||
        failed(sinkAllocs(getOperation())))
      return signalPassFailure();
    unifyDynamicMemory(getOperation());
  }
};
} // namespace

} // namespace mlir::workgroup
