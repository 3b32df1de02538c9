//===- SpecializeWarps.cpp - Warps that fill rings ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads that a kernel has go on as they are, but for the copies of its
// rings: warps that are added behind them execute these, with what they are
// computed of.
//
//===----------------------------------------------------------------------===//

#include "ProducerSlice.h"
#include "Ring.h"
#include "RingCounter.h"
#include "Support/Remarks.h"
#include "TensorRings.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Target/LaunchLimits.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "workgroup/Transforms/Rings.h.inc"

constexpr int64_t kThreadsOfGroup = 128;

namespace {
/// A kernel that is to get warps for its rings.
struct SpecializedKernel {
  gpu::LaunchOp launch;
  SmallVector<RingOp> rings = {};
  /// The threads of a block; 0 if that is no constant.
  int64_t numConsumers = 0;
  int64_t numProducers = 0;
  /// Of a consumer and of a producer; empty to leave them as they are.
  SmallVector<int64_t> registers = {};

  int64_t getNumThreads() const { return numConsumers + numProducers; }
};

/// What is asked of all kernels.
struct SpecializeContext {
  const SpecializeWarpsOptions &options;
  TensorRings &tensors;
  const UniformityAnalysis &uniformity;
  const ArgumentAliases &aliases;
};
} // namespace

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True for memory that threads only write, and from which TMA stores, or for
/// views of it: warps that write it have it for themselves.
static bool isForStores(Value memref) {
  return llvm::all_of(memref.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto view = dyn_cast<memref::ViewOp>(user))
      return isForStores(view);
    auto store = dyn_cast<vector::StoreOp>(user);
    return isa<nvgpu::TmaAsyncStoreOp>(user) ||
           (store && &use == &store.getBaseMutable());
  });
}

/// True for slots at the kernel's entry from which TMA stores.
static bool isStoreSlots(Operation *op) {
  auto alloc = dyn_cast<memref::AllocOp>(op);
  return alloc && isWorkgroupMemory(alloc.getType()) &&
         isa<gpu::LaunchOp>(op->getParentOp()) && isForStores(alloc);
}

/// True if `op` is part of what each warp does for itself to have TMA store
/// what it has written to slots of its own.
static bool isOfStores(Operation *op) {
  auto store = dyn_cast<vector::StoreOp>(op);
  Operation *slots =
      store ? getRootBuffer(store.getBase()).getDefiningOp() : nullptr;
  auto fence = dyn_cast<NVVM::FenceProxyOp>(op);
  return (slots && isStoreSlots(slots)) || isStoreSlots(op) ||
         (fence && fence.getKind() == NVVM::ProxyKind::async_shared) ||
         isa<nvgpu::TmaAsyncStoreOp, NVVM::SyncWarpOp,
             NVVM::CpAsyncBulkCommitGroupOp, NVVM::CpAsyncBulkWaitGroupOp>(op);
}

/// Why what `op` does is not what each thread does for itself; empty if it is.
static std::string getObstacleInOp(Operation *op) {
  if (isOfStores(op))
    return "";
  if (isa<RingOp, PutOp, CommitOp, GetOp, ReleaseOp, GroupProductOp,
          AwaitProductsOp, gpu::ShuffleOp, gpu::TerminatorOp>(op) ||
      (isa<CopyOp>(op) && op->getNumResults() == 0))
    return "";
  bool isAccess =
      isa<memref::LoadOp, memref::StoreOp, memref::AllocaOp, vector::LoadOp,
          vector::StoreOp, vector::MaskedLoadOp, vector::MaskedStoreOp,
          vector::TransferReadOp, vector::TransferWriteOp>(op);
  auto isOfBlock = [](Value operand) {
    return isWorkgroupMemory(operand.getType());
  };
  if (isAccess && !llvm::any_of(op->getOperands(), isOfBlock))
    return "";
  if (isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op) ||
      (op->getNumRegions() == 0 && isMemoryEffectFree(op)))
    return "";
  return nameInRemark(op) + " is for all threads of the block, or not known "
                            "not to be";
}

/// Why producers cannot fill `op`; empty if they can.
static std::string getObstacleInRing(RingOp op, const GlobalWrites &writes,
                                     SpecializeContext &context) {
  Ring ring = matchRing(op);
  if (!ring.flaw.empty())
    return ring.flaw;
  if (!ring.hasLayouts() || !llvm::all_of(ring.copies, getFilledLayout))
    return "tiles are not for products of warp groups";
  if (!ring.getLoop() || !RingCounter::canReach(ring.getLoop()))
    return "phases cannot be carried through what is around the loop";
  KernelWrites kernelWrites;
  findObstacle(ring, context.aliases, kernelWrites);
  if (!ring.obstacle.empty())
    return ring.obstacle;
  if (context.uniformity.getDivergence(ring.put))
    return "not all threads of the block use the ring together";
  for (Operation *copy : ring.copies) {
    CopyOperands operands = *getFillOperands(copy);
    if (!context.uniformity.isUniform(operands.source))
      return "threads differ in what they copy";
    std::string why =
        getObstacleToReadAhead(writes, operands.source, context.aliases);
    if (!why.empty())
      return why;
  }
  return context.tensors.getObstacle(
      op, SmallVector<TileLayoutAttr>(ring.getType().getTiles().size()));
}

/// The registers that each thread of a block of `numThreads` has at most.
static int64_t getLaunchedRegisters(int64_t numThreads) {
  constexpr int64_t kFile = 65536, kUnit = 8, kMost = 255;
  return std::min(kMost, kFile / numThreads) / kUnit * kUnit;
}

/// Why threads of a block of `numThreads` have too few registers for the
/// products of `launch`; empty if they have enough.
static std::string getRegisterObstacle(gpu::LaunchOp launch,
                                       int64_t numThreads) {
  constexpr int64_t kBesideSums = 32; // as ptxas asks for
  int64_t needed = 0;
  launch.getBody().walk([&](GroupProductOp product) {
    int64_t sums = kBesideSums;
    for (Value result : product.getResults())
      sums += cast<VectorType>(result.getType()).getNumElements();
    needed = std::max(needed, sums);
  });
  int64_t launched = getLaunchedRegisters(numThreads);
  if (needed <= launched)
    return "";
  return llvm::formatv("{0} threads have {1} registers each, and products take "
                       "{2}",
                       numThreads, launched, needed)
      .str();
}

/// The registers of consumers and producers, so that all fit in what the block
/// was launched with (PTX ISA, `setmaxnreg`); none if that cannot be.
static SmallVector<int64_t> chooseRegisters(int64_t numConsumers,
                                            int64_t numProducers) {
  constexpr int64_t kUnit = 8, kMostAsked = 240, kProducer = 40;
  if (numConsumers % kThreadsOfGroup != 0 ||
      numProducers % kThreadsOfGroup != 0)
    return {};
  int64_t numThreads = numConsumers + numProducers;
  int64_t launched = getLaunchedRegisters(numThreads);
  int64_t consumer =
      (launched * numThreads - kProducer * numProducers) / numConsumers;
  consumer = std::min(consumer / kUnit * kUnit, kMostAsked);
  if (consumer <= launched)
    return {};
  return {consumer, kProducer};
}

/// Why blocks of `kernel` cannot have its producers behind the threads that
/// they have; empty if they can.
static std::string getObstacleInBlock(const SpecializedKernel &kernel) {
  BlockShape shape = getBlockShape(kernel.launch);
  if (kernel.numConsumers == 0 || shape.sizes[1] != 1 || shape.sizes[2] != 1)
    return "blocks are not of a constant number of threads in one dimension";
  if (kernel.numConsumers % kThreadsOfGroup != 0 ||
      kernel.getNumThreads() > kMaxBlockThreads)
    return llvm::formatv("blocks of {0} threads are no whole warp groups, or "
                         "have no room for {1} more",
                         kernel.numConsumers, kernel.numProducers)
        .str();
  return getRegisterObstacle(kernel.launch, kernel.getNumThreads());
}

/// Why an operation of `launch` is not what each thread does for itself; empty
/// if all are.
static std::string getObstacleInOps(gpu::LaunchOp launch) {
  std::string why;
  launch.getBody().walk([&](Operation *op) {
    why = getObstacleInOp(op);
    return why.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return why;
}

/// Why producers cannot fill one of the rings, or do all that its copies are
/// computed of; empty if they can.
static std::string getObstacleInRings(const SpecializedKernel &kernel,
                                      SpecializeContext &context) {
  gpu::LaunchOp launch = kernel.launch;
  GlobalWrites writes(launch);
  ProducerSlice slice(launch.getBody().front());
  for (RingOp op : kernel.rings) {
    std::string why = getObstacleInRing(op, writes, context);
    if (!why.empty())
      return why;
    Ring ring = matchRing(op);
    SmallVector<Operation *> roots = {ring.put, ring.commit};
    roots.append(ring.copies);
    for (Operation *root : roots)
      if (std::string why = slice.add(root); !why.empty())
        return why;
  }
  return "";
}

/// Decides on `kernel`. Returns why it is left as it is, or empty.
static std::string decide(SpecializedKernel &kernel,
                          SpecializeContext &context) {
  const Chip *chip = resolveChip(kernel.launch, context.options.chip);
  if (!chip || !chip->hasTensorCopies())
    return "the chip has no tensor copies";
  std::string why = getObstacleInBlock(kernel);
  if (why.empty())
    why = getObstacleInOps(kernel.launch);
  if (why.empty())
    why = getObstacleInRings(kernel, context);
  if (why.empty() && chip->isSpecific())
    kernel.registers =
        chooseRegisters(kernel.numConsumers, kernel.numProducers);
  return why;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

static void report(const SpecializedKernel &kernel) {
  auto remark =
      recordRemark(RemarkId::SpecializeWarps_Specialized, kernel.launch);
  remark << "warps of their own fill the rings of a kernel"
         << remark::metric("Consumers", kernel.numConsumers)
         << remark::metric("Producers", kernel.numProducers);
  if (!kernel.registers.empty())
    remark << remark::metric("Registers", kernel.registers[0]);
}

/// Gives the block the threads of producers, of which the code that there is
/// knows nothing.
static void addThreads(SpecializedKernel &kernel, RewriterBase &rewriter) {
  gpu::LaunchOp launch = kernel.launch;
  Location loc = launch.getLoc();
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  Value before =
      arith::ConstantIndexOp::create(rewriter, loc, kernel.numConsumers);
  rewriter.replaceAllUsesWith(launch.getBlockSize().x, before);
  launch.getBody().walk([&](gpu::BlockDimOp size) {
    if (size.getDimension() == gpu::Dimension::x)
      rewriter.replaceAllUsesWith(size, before);
  });
  rewriter.setInsertionPoint(launch);
  Value all =
      arith::ConstantIndexOp::create(rewriter, loc, kernel.getNumThreads());
  rewriter.modifyOpInPlace(launch,
                           [&] { launch.getBlockSizeXMutable().assign(all); });
}

static void apply(SpecializedKernel &kernel, RewriterBase &rewriter) {
  report(kernel);
  addThreads(kernel, rewriter);
  Block &body = kernel.launch.getBody().front();
  ProducerSlice slice(body);
  SmallVector<Operation *> roots;
  for (RingOp op : kernel.rings) {
    Ring ring = matchRing(op);
    llvm::append_range(roots, ring.copies);
    roots.append({ring.commit, ring.put});
    rewriter.moveOpBefore(op, &body, body.begin());
  }
  for (Operation *root : roots)
    (void)slice.add(root);
  rewriter.setInsertionPoint(body.getTerminator());
  DenseI64ArrayAttr registers;
  if (!kernel.registers.empty())
    registers = rewriter.getDenseI64ArrayAttr(kernel.registers);
  auto specialize = SpecializeOp::create(
      rewriter, kernel.launch.getLoc(),
      rewriter.getI64IntegerAttr(kernel.numConsumers),
      rewriter.getI64IntegerAttr(kernel.numProducers), registers);
  rewriter.createBlock(&specialize.getProducer());
  slice.clone(rewriter);
  Block *consumer = rewriter.createBlock(&specialize.getConsumer());
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    if (!isa<RingOp, SpecializeOp>(op) && !isStoreSlots(&op))
      rewriter.moveOpBefore(&op, consumer, consumer->end());
  for (Operation *root : roots)
    rewriter.eraseOp(root);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The kernels that are to have producers, and have none.
static std::vector<SpecializedKernel> collect(Operation *root,
                                              int64_t numProducers) {
  std::vector<SpecializedKernel> kernels;
  for (Operation *scope : collectDeviceScopes(root)) {
    SpecializedKernel kernel{dyn_cast<gpu::LaunchOp>(scope)};
    kernel.numProducers = numProducers;
    scope->walk([&](RingOp ring) {
      kernel.rings.push_back(ring);
      if (numProducers == 0)
        kernel.numProducers = std::max<int64_t>(
            kernel.numProducers, ring.getProducers().value_or(0));
    });
    auto interrupt = [](SpecializeOp) { return WalkResult::interrupt(); };
    if (kernel.rings.empty() || !kernel.launch || kernel.numProducers == 0 ||
        scope->walk(interrupt).wasInterrupted())
      continue;
    kernel.numConsumers = getBlockShape(scope).getNumThreads().value_or(0);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

void specializeWarps(Operation *root, const SpecializeWarpsOptions &options) {
  std::vector<SpecializedKernel> kernels = collect(root, options.producers);
  if (kernels.empty())
    return;
  LowerRingsOptions rings;
  rings.copies.assumeAlignment = options.assumeAlignment;
  rings.copies.chip = options.chip;
  rings.copies.assumeDistinctArguments = options.assumeDistinctArguments;
  ArgumentAliases aliases(root, options.assumeDistinctArguments);
  UniformityAnalysis uniformity(root, UniformityUnit::Block, &aliases);
  TensorRings tensors(root, rings);
  SpecializeContext context{options, tensors, uniformity, aliases};
  llvm::erase_if(kernels, [&](SpecializedKernel &kernel) {
    std::string why = decide(kernel, context);
    if (!why.empty())
      recordRemark(RemarkId::SpecializeWarps_NotSpecialized,
                   kernel.rings.front())
          << "warps that read tiles copy them too"
          << remark::reason("{0}", why);
    return !why.empty();
  });
  IRRewriter rewriter(root->getContext());
  for (SpecializedKernel &kernel : kernels)
    apply(kernel, rewriter);
}

namespace {
struct SpecializeWarpsPass final
    : impl::SpecializeWarpsPassBase<SpecializeWarpsPass> {
  using SpecializeWarpsPassBase::SpecializeWarpsPassBase;

  void runOnOperation() override {
    std::string why;
    if (producers != 0)
      why = getProducersObstacle(producers);
    if (!why.empty()) {
      getOperation()->emitError() << why;
      return signalPassFailure();
    }
    specializeWarps(getOperation(), {producers, assumeAlignment,
                                     assumeDistinctArguments, chip});
  }
};
} // namespace

} // namespace mlir::workgroup
