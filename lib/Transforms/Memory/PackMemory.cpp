//===- PackMemory.cpp - Let workgroup buffers share bytes -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collect finds the buffers of each kernel and their lives; decide computes the
// layout, whether the arena is static or dynamic, and where barriers are due;
// apply is PackRewriter.cpp.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Program/OpEffects.h"
#include "PackCollector.h"
#include "Support/Remarks.h"
#include "Transforms/Launch/LaunchSizes.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/ConservativeBarriers.h"
#include "Transforms/Utils/DynamicWindow.h"
#include "Transforms/Verify/KernelChecks.h"
#include "UnifyDynamicMemory.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms/Memory.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

#define GEN_PASS_DEF_PACKMEMORYPASS
#include "workgroup/Transforms/Memory.h.inc"

namespace {

class MemoryPacker {
public:
  MemoryPacker(ModuleOp module, const PackMemoryOptions &options,
               MemoryReport &report)
      : module(module), options(options), report(report),
        collector(module, options.alignment) {}

  LogicalResult run();

private:
  LogicalResult decide(PackedKernel &kernel);
  void decideArena(PackedKernel &kernel, const MemoryLayout &layout);
  int64_t getStaticLimit(const PackedKernel &kernel) const {
    return std::min(options.maxStaticBytes, kernel.maxBytes);
  }
  void findMembers(PackedKernel &kernel);
  bool mayNeedBarriers(const PackedKernel &kernel) const;
  MemoryLayout chooseLayout(PackedKernel &kernel, BufferLiveness &liveness,
                            const Chip &chip);
  void collectRuntimeSized(PackedKernel &kernel);
  LogicalResult placeWindow(PackedKernel &kernel);
  LogicalResult fail(const PackedKernel &kernel, ArrayRef<KernelBuffer> buffers,
                     int64_t bytes, int64_t limit);
  LogicalResult checkCapacity(const PackedKernel &kernel);
  const UniformityAnalysis *getUniformity() const {
    return uniformity ? &*uniformity : nullptr;
  }

  ModuleOp module;
  const PackMemoryOptions &options;
  MemoryReport &report;
  PackCollector collector;
  std::optional<UniformityAnalysis> uniformity;
};

} // namespace

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// A layout of the members of `kernel` in which those share bytes whose lives
/// are disjoint.
static MemoryLayout findTightLayout(const PackedKernel &kernel) {
  return findLayout(kernel.getItems(), [&](unsigned lhs, unsigned rhs) {
    return kernel.members[lhs].life.range.overlaps(
        kernel.members[rhs].life.range);
  });
}

/// A layout of the members of `kernel` in which those share bytes between whose
/// lives a barrier stands already.
static MemoryLayout findLooseLayout(const PackedKernel &kernel,
                                    const BufferLiveness &liveness) {
  unsigned size = kernel.members.size();
  constexpr unsigned kMaxPairedMembers = 1 << 14;
  if (size > kMaxPairedMembers) // too many pairs to look at
    return makeLinearLayout(kernel.getItems());
  auto isFree = [&](const BufferLife &life, const BufferLife &next) {
    return !liveness.mayFollow(life, next) || liveness.isSeparated(life, next);
  };
  // Layouts ask for the same pairs many times.
  llvm::BitVector interfere(size * size);
  for (unsigned lhs = 0; lhs < size; ++lhs)
    for (unsigned rhs = 0; rhs < lhs; ++rhs) {
      const BufferLife &a = kernel.members[lhs].life,
                       &b = kernel.members[rhs].life;
      if (a.range.overlaps(b.range) || !isFree(a, b) || !isFree(b, a)) {
        interfere.set(lhs * size + rhs);
        interfere.set(rhs * size + lhs);
      }
    }
  return findLayout(kernel.getItems(), [&](unsigned lhs, unsigned rhs) {
    return interfere.test(lhs * size + rhs);
  });
}

/// Marks what shares bytes in the kernel's layout, and finds the lives that
/// have to begin with a barrier.
static void findBarriers(PackedKernel &kernel, BufferLiveness &liveness) {
  SmallVector<unsigned> order(kernel.members.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return kernel.members[a].life.range.first <
           kernel.members[b].life.range.first;
  });
  auto overlap = [](const PackedBuffer &a, const PackedBuffer &b) {
    return a.offset < b.offset + b.buffer.bytes &&
           b.offset < a.offset + a.buffer.bytes;
  };
  for (unsigned next : order) {
    PackedBuffer &member = kernel.members[next];
    bool needsBarrier = false;
    for (auto [i, other] : llvm::enumerate(kernel.members)) {
      if (!member.life.isUsed || !other.life.isUsed || !overlap(member, other))
        continue;
      member.isShared |= i != next;
      needsBarrier |= liveness.mayFollow(other.life, member.life) &&
                      !liveness.isSeparated(other.life, member.life);
    }
    if (!needsBarrier)
      continue;
    kernel.barriers.insert(member.life.begin);
    liveness.addBarrierBefore(member.life.begin);
  }
}

/// Finds the places where buffers are filled once more within their lives.
static void findRefills(PackedKernel &kernel) {
  for (const PackedBuffer &member : kernel.members) {
    if (!member.refill)
      continue;
    Operation *op = member.refill->getNextNode();
    while (isTransparent(op) && op->getNextNode())
      op = op->getNextNode();
    if (needsBarrierBefore(op))
      kernel.barriers.insert(op);
  }
}

/// Bytes of dynamic memory that every launch of `kernel` asks for; nothing if
/// launches differ, or are not known.
static std::optional<int64_t> getLaunchBytes(const PackedKernel &kernel) {
  auto getConstant = [](Value bytes) {
    return bytes ? getConstantIntValue(bytes) : std::optional<int64_t>(0);
  };
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel.kernel))
    return getConstant(launch.getDynamicSharedMemorySize());
  std::optional<int64_t> common;
  for (gpu::LaunchFuncOp launch : kernel.launches) {
    std::optional<int64_t> bytes =
        getConstant(launch.getDynamicSharedMemorySize());
    if (!bytes || (common && common != bytes))
      return std::nullopt;
    common = bytes;
  }
  return common;
}

/// Emits an error for a launch of `kernel` that asks for a negative number of
/// bytes, to which none can be added.
static LogicalResult verifyLaunches(PackedKernel &kernel) {
  auto verify = [](Operation *launch, Value asked) -> LogicalResult {
    if (!asked || getConstantIntValue(asked).value_or(0) >= 0)
      return success();
    return launch->emitOpError(
        "asks for a negative number of bytes of dynamic "
        "workgroup memory; ask for what the kernel uses");
  };
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel.kernel))
    return verify(launch, launch.getDynamicSharedMemorySize());
  for (gpu::LaunchFuncOp launch : kernel.launches)
    if (failed(verify(launch, launch.getDynamicSharedMemorySize())))
      return failure();
  return success();
}

/// Makes room in dynamic memory for the arena and for what `kernel` itself does
/// with dynamic memory.
LogicalResult MemoryPacker::placeWindow(PackedKernel &kernel) {
  if (!kernel.isDynamic && kernel.runtimeSized.empty())
    return success();
  if (failed(verifyLaunches(kernel)))
    return failure();
  int64_t alignment = kernel.getRuntimeAlignment();
  if (isa<gpu::LaunchOp>(kernel.kernel) && alignment > kWindowAlignment)
    return kernel.kernel->emitOpError("has a workgroup buffer aligned to ")
           << alignment
           << " bytes that does not fit into static memory, where dynamic "
              "memory is aligned to "
           << kWindowAlignment << "; run gpu-kernel-outlining before";
  if (kernel.memory.windows.empty())
    return success();
  kernel.windowAsked = getLaunchBytes(kernel);
  if (kernel.windowAsked)
    kernel.windowBytes = llvm::alignTo(*kernel.windowAsked, kernel.alignment);
  else
    kernel.windowShift = llvm::alignTo(kernel.bytes, kWindowAlignment);
  for (Operation *window : kernel.memory.windows) {
    if (!collector.isInOwnScope(window, kernel))
      return window->emitOpError("takes dynamic workgroup memory in a function "
                                 "that several kernels call, which cannot make "
                                 "room for the ")
             << kernel.bytes << " bytes of other buffers of kernel '"
             << getScopeName(kernel.kernel)
             << "'; take it in the kernel, and pass it on";
    if (kernel.windowShift != 0 && !isa<gpu::DynamicSharedMemoryOp>(window))
      return window->emitOpError("is dynamic workgroup memory of a size that "
                                 "differs between launches, which cannot make "
                                 "room for the ")
             << kernel.bytes
             << " bytes of other buffers; run workgroup-pack-memory before "
                "workgroup-lower-dynamic-memory, or launch with a constant "
                "size";
  }
  return success();
}

/// The layout that `reuse=auto` stands for: the one with fewer bytes, `tight`,
/// needs more barriers, and is taken where it pays.
static bool isWorthBarriers(const PackedKernel &kernel, int64_t tight,
                            int64_t loose, int64_t limit, const Chip &chip) {
  int64_t kept = kernel.getKeptBytes();
  if (kept + loose > limit)
    return kept + tight <= limit;
  int64_t numThreads = getBlockShape(kernel.kernel).getNumThreads().value_or(1);
  return chip.getResidentBlocks(kept + tight, numThreads) >
         chip.getResidentBlocks(kept + loose, numThreads);
}

MemoryLayout MemoryPacker::chooseLayout(PackedKernel &kernel,
                                        BufferLiveness &liveness,
                                        const Chip &chip) {
  MemoryLayout linear = makeLinearLayout(kernel.getItems());
  if (options.reuse == Reuse::Never)
    return linear;
  MemoryLayout tight = findTightLayout(kernel);
  if (options.reuse == Reuse::Always || tight.bytes == linear.bytes ||
      getBlockShape(kernel.kernel).isSingleThread())
    return tight;
  MemoryLayout loose = findLooseLayout(kernel, liveness);
  int64_t limit = options.dynamic == DynamicMemory::Never
                      ? getStaticLimit(kernel)
                      : kernel.maxBytes;
  return isWorthBarriers(kernel, tight.bytes, loose.bytes, limit, chip) ? tight
                                                                        : loose;
}

/// Decides which allocations of sizes that only the host knows become parts of
/// dynamic memory. The others are left for hoisting to refuse.
void MemoryPacker::collectRuntimeSized(PackedKernel &kernel) {
  bool isLaunchKnown =
      isa<gpu::LaunchOp>(kernel.kernel) || !kernel.launches.empty();
  bool hasPlace = kernel.memory.windows.empty() || getLaunchBytes(kernel);
  if (options.dynamic == DynamicMemory::Never || !isLaunchKnown || !hasPlace)
    return;
  for (Operation *op : kernel.memory.unbounded) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    if (getExecutionScope(op) == kernel.kernel &&
        !isInLoop(op, kernel.kernel) && type.getLayout().isIdentity() &&
        getElementBytes(type, op) &&
        areKnownAtLaunch(op->getOperands(), kernel.kernel))
      kernel.runtimeSized.push_back(op);
  }
}

/// Says that `kernel` would take `bytes` where it can have `limit`.
LogicalResult MemoryPacker::fail(const PackedKernel &kernel,
                                 ArrayRef<KernelBuffer> buffers, int64_t bytes,
                                 int64_t limit) {
  report.shortages.push_back(
      emitCapacityError(RemarkId::PackMemory_OutOfCapacity, kernel.kernel,
                        buffers, bytes, limit));
  return failure();
}

LogicalResult MemoryPacker::checkCapacity(const PackedKernel &kernel) {
  auto check = [&](int64_t bytes, int64_t limit) -> LogicalResult {
    if (bytes <= limit)
      return success();
    return fail(kernel, kernel.memory.buffers, bytes, limit);
  };
  int64_t kept = kernel.getKeptBytes(), maxStatic = getStaticLimit(kernel);
  if (!kernel.hasArena)
    return check(kernel.memory.getStaticBytes(), maxStatic);
  if (!kernel.isDynamic)
    return check(llvm::alignTo(kept, kernel.alignment) + kernel.bytes,
                 maxStatic);
  if (failed(check(kept, maxStatic)))
    return failure();
  // Dynamic memory begins in the alignment of its symbol.
  int64_t alignment =
      std::max({kernel.alignment, kernel.memory.dynamicAlignment,
                kernel.memory.windows.empty() ? 1 : kWindowAlignment});
  return check(llvm::alignTo(kept, alignment) + kernel.windowBytes +
                   kernel.bytes,
               kernel.maxBytes);
}

/// True if lives in `kernel` may follow one another in the same bytes.
bool MemoryPacker::mayNeedBarriers(const PackedKernel &kernel) const {
  bool isRepeated =
      llvm::any_of(kernel.members, [&](const PackedBuffer &member) {
        Operation *allocation = member.buffer.getAllocation();
        return member.refill ||
               (allocation && isInLoop(allocation, kernel.kernel));
      });
  return isRepeated || (options.reuse != Reuse::Never &&
                        getLowerBound(kernel.getItems()) < kernel.getSum());
}

/// A buffer of more than `limit` bytes, or null.
static const KernelBuffer *findLargerThan(const KernelBuffers &memory,
                                          int64_t limit) {
  auto it = llvm::find_if(memory.buffers, [&](const KernelBuffer &buffer) {
    return buffer.bytes > limit;
  });
  return it == memory.buffers.end() ? nullptr : &*it;
}

/// Finds the members of `kernel` with their lives. Uniformity makes lives
/// longer and takes time, and counts only where one may follow another.
void MemoryPacker::findMembers(PackedKernel &kernel) {
  collector.collectMembers(kernel, getUniformity());
  if (uniformity || !mayNeedBarriers(kernel))
    return;
  uniformity.emplace(module);
  collector.collectMembers(kernel, getUniformity());
}

/// Decides on the arena of `kernel`, given the layout of its members.
void MemoryPacker::decideArena(PackedKernel &kernel,
                               const MemoryLayout &layout) {
  int64_t total = kernel.getKeptBytes() + layout.bytes;
  bool isTooLarge =
      options.dynamic == DynamicMemory::Auto && total > getStaticLimit(kernel);
  kernel.isDynamic = layout.bytes > 0 &&
                     (isTooLarge || options.dynamic == DynamicMemory::Always);
  // Less padding alone is not worth that the compiler, and checks of bounds,
  // cannot tell the buffers apart any more.
  kernel.hasArena = kernel.isDynamic || layout.bytes < kernel.getSum();
  kernel.bytes = kernel.hasArena ? layout.bytes : 0;
  for (auto [member, offset] :
       llvm::zip_equal(kernel.members, layout.offsets)) {
    member.offset = offset;
    kernel.alignment = std::max(kernel.alignment, member.buffer.alignment);
  }
}

/// Lets allocations count as unbounded whose bound, as that of a block size, is
/// more than there can be, if the launch knows their size.
static void dropUselessBounds(PackedKernel &kernel) {
  llvm::erase_if(kernel.memory.buffers, [&](const KernelBuffer &buffer) {
    Operation *op = buffer.getAllocation();
    bool isUseless = op && buffer.bytes > kernel.maxBytes &&
                     op->getNumOperands() != 0 &&
                     areKnownAtLaunch(op->getOperands(), kernel.kernel);
    if (isUseless)
      kernel.memory.unbounded.push_back(op);
    return isUseless;
  });
}

LogicalResult MemoryPacker::decide(PackedKernel &kernel) {
  const Chip *chip = resolveChip(kernel.kernel, options.chip);
  if (!chip)
    return failure();
  kernel.maxBytes = chip->getCapacity(options.maxBytes);
  dropUselessBounds(kernel);
  if (const KernelBuffer *large =
          findLargerThan(kernel.memory, kernel.maxBytes))
    return fail(kernel, *large, large->bytes, kernel.maxBytes);
  findMembers(kernel);
  BufferLiveness liveness(kernel.kernel, getUniformity());
  decideArena(kernel, chooseLayout(kernel, liveness, *chip));
  collectRuntimeSized(kernel);
  if (failed(placeWindow(kernel)) || failed(checkCapacity(kernel)))
    return failure();
  if (kernel.hasArena) {
    findBarriers(kernel, liveness);
    findRefills(kernel);
  }
  if (!options.insertBarriers || getBlockShape(kernel.kernel).isSingleThread())
    kernel.barriers.clear();
  return success();
}

LogicalResult MemoryPacker::run() {
  std::vector<PackedKernel> kernels = collector.collectKernels();
  bool hasFailed = false;
  for (PackedKernel &kernel : kernels)
    hasFailed |= failed(decide(kernel));
  if (hasFailed)
    return failure();
  IRRewriter rewriter(module.getContext());
  for (PackedKernel &kernel : kernels) {
    reportKernel(kernel);
    report.placements.push_back(describeKernel(kernel));
    rewriteKernel(kernel, rewriter);
  }
  return success();
}

LogicalResult packMemory(ModuleOp module, const PackMemoryOptions &options,
                         MemoryReport *report) {
  unifyDynamicMemory(module);
  MemoryReport unwanted;
  return MemoryPacker(module, options, report ? *report : unwanted).run();
}

namespace {
struct PackMemoryPass final : impl::PackMemoryPassBase<PackMemoryPass> {
  using PackMemoryPassBase::PackMemoryPassBase;

  LogicalResult verifyOptions() {
    Location loc = getOperation()->getLoc();
    if (!llvm::isPowerOf2_64(alignment) || alignment > kWindowAlignment)
      return emitError(loc)
             << "alignment must be a power of two up to " << kWindowAlignment
             << ", not " << alignment.getValue();
    for (auto [name, bytes] :
         {std::pair("max-static-bytes", maxStaticBytes.getValue()),
          std::pair("max-bytes", maxBytes.getValue())})
      if (bytes < 0 || bytes > std::numeric_limits<int32_t>::max())
        return emitError(loc)
               << name << " must be from 0 to 2^31 - 1, not " << bytes;
    return success();
  }

  void runOnOperation() override {
    if (failed(verifyOptions()))
      return signalPassFailure();
    if (failed(packMemory(getOperation(),
                          {reuse, dynamic, maxStaticBytes, maxBytes, alignment,
                           insertBarriers, chip},
                          report)))
      signalPassFailure();
  }

  MemoryReport *report = nullptr;
};
} // namespace

std::unique_ptr<Pass> createPackMemoryPass(const PackMemoryOptions &options,
                                           MemoryReport *report) {
  auto pass = std::make_unique<PackMemoryPass>(PackMemoryPassOptions{
      options.reuse, options.dynamic, options.maxStaticBytes, options.maxBytes,
      options.alignment, options.insertBarriers, options.chip});
  pass->report = report;
  return pass;
}

} // namespace mlir::workgroup
