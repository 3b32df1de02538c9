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

#include "mlir/Dialect/Arith/Utils/Utils.h"
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
#include "llvm/ADT/TypeSwitch.h"

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
  /// Queries of extents on the host, and the extents.
  SmallVector<std::pair<memref::DimOp, OpFoldResult>> dims;
  /// Launches that use it or a view of it.
  llvm::SmallSetVector<gpu::LaunchOp, 2> launches;
  /// Operands of outlined launches that pass it or a view of it.
  SmallVector<OpOperand *> kernelOperands;
  /// The first use in host code that is none of the above.
  Operation *hostUse = nullptr;
  /// Stays on the host, as the pass may not change all that uses it.
  bool isLeft = false;
};

/// Kernels that are outlined already, with their launches.
using LaunchSites =
    llvm::MapVector<gpu::GPUFuncOp, SmallVector<gpu::LaunchFuncOp, 1>>;

} // namespace

/// True if `op` gives a buffer of its own: an allocation, or a global, of which
/// each block has one too.
static bool isAllocation(Operation *op) {
  return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(op);
}

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
        llvm::SmallBitVector dropped = view.getDroppedDims();
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
      } else if (isa<gpu::LaunchFuncOp>(user)) {
        alloc.kernelOperands.push_back(use);
      } else if (isa<memref::DeallocOp>(user)) {
        alloc.deallocs.push_back(user);
      } else if (OpFoldResult extent = getQueriedExtent(user)) {
        alloc.dims.emplace_back(cast<memref::DimOp>(user), extent);
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

/// True if argument `index` shares its buffer with the same other arguments at
/// both launches of a kernel.
static bool haveEqualAliases(gpu::LaunchFuncOp launch, gpu::LaunchFuncOp other,
                             unsigned index) {
  auto getAliases = [&](gpu::LaunchFuncOp site) {
    Value root = getRootBuffer(site.getKernelOperand(index));
    return llvm::map_to_vector(site.getKernelOperands(), [&](Value operand) {
      return getRootBuffer(operand) == root;
    });
  };
  return getAliases(launch) == getAliases(other);
}

/// The reason why the kernel cannot rebuild the host values that `use` passes
/// to it; empty if it can.
static StringRef getObstacle(OpOperand &use, const LaunchSites &sites,
                             gpu::GPUFuncOp kernel) {
  if (isa_and_nonnull<memref::GetGlobalOp>(
          getRootBuffer(use.get()).getDefiningOp()))
    return "it is a global of the host, which the kernel's module does not "
           "have";
  if (!areEquivalentViews(use.get(), use.get()))
    return "its size or a view of it depends on values of the host";
  unsigned index = getArgumentIndex(use);
  auto launch = cast<gpu::LaunchFuncOp>(use.getOwner());
  for (gpu::LaunchFuncOp site : sites.lookup(kernel))
    if (!areEquivalentViews(use.get(), site.getKernelOperand(index)) ||
        !haveEqualAliases(launch, site, index))
      return "launches of the kernel pass different buffers";
  return "";
}

/// Reports `alloc`, which the pass has to leave on the host.
static void leave(HostAlloc &alloc, StringRef why) {
  alloc.isLeft = true;
  missedRemark(RemarkSource::SinkAllocs, "NotSunk", alloc.op)
      << remark::reason("{0}", why.str());
}

static LogicalResult emitHostUseError(const HostAlloc &alloc) {
  InFlightDiagnostic error =
      alloc.op->emitOpError("in workgroup memory is accessed by host code");
  error.attachNote(alloc.hostUse->getLoc())
      << "used here; only kernels can reach workgroup memory, so give the host "
         "a buffer in the default memory space";
  return error;
}

/// Decides what becomes of `alloc`, or says why nothing can.
static LogicalResult decide(HostAlloc &alloc, Operation *root,
                            const LaunchSites &sites) {
  bool isLaunched = !alloc.launches.empty() || !alloc.kernelOperands.empty();
  if (alloc.hostUse && !isLaunched && isa<FunctionOpInterface>(root)) {
    leave(alloc, "the function may be called by a kernel outside of the "
                 "operation that the pass runs on");
    return success();
  }
  if (alloc.hostUse)
    return emitHostUseError(alloc);
  llvm::SmallSetVector<Operation *, 4> launches(alloc.launches.begin(),
                                                alloc.launches.end());
  for (OpOperand *use : alloc.kernelOperands) {
    auto launch = cast<gpu::LaunchFuncOp>(use->getOwner());
    launches.insert(launch);
    gpu::GPUFuncOp kernel = getKernel(launch, root);
    if (!kernel) {
      if (!alloc.isLeft)
        leave(alloc, "its kernel is outside of the operation that the pass "
                     "runs on");
      continue;
    }
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

/// Erases arguments of `kernel`. The interface's method does not reckon with
/// the buffers of the kernel, which follow the arguments in its entry block.
static void eraseArguments(gpu::GPUFuncOp kernel,
                           const llvm::BitVector &erased) {
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i)
    if (!erased.test(i))
      attributes.push_back(kernel.getArgAttrDict(i));
  FunctionType type = kernel.getFunctionType().getWithoutArgsAndResults(
      erased, llvm::BitVector(kernel.getNumResults()));
  kernel.setFunctionType(type);
  kernel.setAllArgAttrs(attributes);
  llvm::BitVector ofBlock = erased;
  ofBlock.resize(kernel.front().getNumArguments());
  kernel.front().eraseArguments(ofBlock);
}

/// Makes the workgroup buffers that launches pass to `kernel` its own.
static void sinkIntoKernel(gpu::GPUFuncOp kernel,
                           ArrayRef<gpu::LaunchFuncOp> launches,
                           const DenseSet<OpOperand *> &sunk) {
  gpu::LaunchFuncOp launch = launches.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.front());
  IRMapping mapping;
  llvm::BitVector erased(kernel.getNumArguments());
  for (auto [i, operand] : llvm::enumerate(launch.getKernelOperandsMutable())) {
    if (!sunk.contains(&operand))
      continue;
    kernel.getArgument(i).replaceAllUsesWith(
        rebuild(operand.get(), builder, mapping));
    erased.set(i);
    passedRemark(RemarkSource::SinkAllocs, "SunkIntoKernel", kernel)
        << "workgroup buffer of the host made a buffer of the kernel"
        << remark::metric("Argument", i);
  }
  eraseArguments(kernel, erased);
  for (gpu::LaunchFuncOp site : launches)
    for (unsigned i = erased.size(); i-- > 0;)
      if (erased.test(i))
        site.getKernelOperandsMutable().erase(i);
}

/// Removes the host side of an allocation that no operation uses any more.
static void eraseHostSide(HostAlloc &alloc, RewriterBase &rewriter) {
  for (auto [dim, extent] : alloc.dims) {
    rewriter.setInsertionPoint(dim);
    rewriter.replaceOp(
        dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), extent));
  }
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
    for (OpOperand *use : alloc.kernelOperands)
      if (gpu::GPUFuncOp kernel =
              getKernel(cast<gpu::LaunchFuncOp>(use->getOwner()), root)) {
        sunk.insert(use);
        kernels.insert(kernel);
      }
  }
  for (gpu::GPUFuncOp kernel : kernels)
    sinkIntoKernel(kernel, sites.lookup(kernel), sunk);
  IRRewriter rewriter(root->getContext());
  for (HostAlloc &alloc : llvm::reverse(allocs))
    eraseHostSide(alloc, rewriter);
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
    if (failed(sinkAllocs(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace mlir::workgroup
