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

#include "BufferTypes.h"
#include "DynamicWindow.h"
#include "KernelChecks.h"
#include "LaunchSizes.h"
#include "MemoryLayout.h"
#include "PackedKernel.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Support/Remarks.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

#define GEN_PASS_DEF_PACKMEMORYPASS
#include "workgroup/Passes.h.inc"

namespace {

class MemoryPacker {
public:
  MemoryPacker(ModuleOp module, const PackMemoryOptions &options,
               std::vector<MemoryPlacement> *placements)
      : module(module), options(options), placements(placements) {}

  LogicalResult run();

private:
  void collect();
  void collectMembers(PackedKernel &kernel);
  bool isMember(KernelBuffer &buffer, const PackedKernel &kernel);
  bool isOwnScope(Operation *op, const PackedKernel &kernel);
  BufferUses getUses(const KernelBuffer &buffer, PackedKernel &kernel);
  LogicalResult placeWindow(PackedKernel &kernel);
  LogicalResult decide(PackedKernel &kernel);
  MemoryLayout chooseLayout(PackedKernel &kernel, BufferLiveness &liveness,
                            int64_t limit, const Chip &chip);
  void collectRuntimeSized(PackedKernel &kernel);
  bool mayNeedBarriers(const PackedKernel &kernel) const;
  LogicalResult checkCapacity(const PackedKernel &kernel, int64_t limit);

  ModuleOp module;
  const PackMemoryOptions &options;
  std::vector<MemoryPlacement> *placements;
  SymbolTableCollection symbols;
  std::vector<PackedKernel> kernels;
  /// How many kernels get to a function.
  DenseMap<Operation *, unsigned> numKernels;
  /// How often a global is got in all of the module.
  DenseMap<Operation *, unsigned> numGets;
  /// Of a `gpu.module`, the functions that are not only called.
  DenseMap<Operation *, DenseSet<Operation *>> addressTaken;
  std::optional<UniformityAnalysis> uniformity;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

void MemoryPacker::collect() {
  LaunchSites sites = collectLaunchSites(module);
  for (Operation *scope : collectDeviceScopes(module)) {
    if (!isa<gpu::LaunchOp, gpu::GPUFuncOp>(scope) || !isKernel(scope) ||
        !getBody(scope))
      continue;
    PackedKernel &kernel = kernels.emplace_back();
    kernel.kernel = scope;
    kernel.memory = collectKernelBuffers(scope);
    if (auto function = dyn_cast<gpu::GPUFuncOp>(scope))
      kernel.launches = sites.lookup(function);
    for (Operation *reached : kernel.memory.scopes)
      ++numKernels[reached];
  }
  module.walk([&](memref::GetGlobalOp get) {
    if (isWorkgroupMemory(get.getType()))
      ++numGets[symbols.lookupNearestSymbolFrom(get, get.getNameAttr())];
  });
}

/// The functions in the module of `kernel` that something else than a call or
/// a launch refers to.
static DenseSet<Operation *> findAddressTaken(Operation *kernel) {
  DenseSet<Operation *> taken;
  Operation *module = kernel->getParentOp();
  SymbolTableCollection symbols;
  auto uses = SymbolTable::getSymbolUses(&module->getRegion(0));
  if (uses)
    for (SymbolTable::SymbolUse use : *uses)
      if (!isa<CallOpInterface, gpu::LaunchFuncOp>(use.getUser()))
        taken.insert(
            symbols.lookupNearestSymbolFrom(use.getUser(), use.getSymbolRef()));
  return taken;
}

/// True if `op` stands in `kernel`, or in a function of its module that nothing
/// but calls from this kernel gets to.
bool MemoryPacker::isOwnScope(Operation *op, const PackedKernel &kernel) {
  Operation *scope = getExecutionScope(op);
  if (scope == kernel.kernel)
    return true;
  auto function = dyn_cast<gpu::GPUFuncOp>(kernel.kernel);
  Operation *module = scope->getParentOp();
  if (!function || numKernels.lookup(scope) != 1 ||
      module != function->getParentOp())
    return false;
  auto [it, isNew] = addressTaken.try_emplace(module);
  if (isNew)
    it->second = findAddressTaken(function);
  return !it->second.contains(scope);
}

/// True if `buffer` belongs to `kernel` alone and can be made a view of a
/// larger one.
bool MemoryPacker::isMember(KernelBuffer &buffer, const PackedKernel &kernel) {
  switch (buffer.kind) {
  case KernelBuffer::Kind::Lowering:
    return false;
  case KernelBuffer::Kind::Allocation:
    // Each call of a function would be a turn; hoisting deals with them.
    return getExecutionScope(buffer.value.getDefiningOp()) == kernel.kernel;
  case KernelBuffer::Kind::Global: {
    auto global = symbols.lookupNearestSymbolFrom<memref::GlobalOp>(
        buffer.gets.front(), buffer.gets.front().getNameAttr());
    return isa<gpu::GPUFuncOp>(kernel.kernel) && global.isPrivate() &&
           global.isUninitialized() &&
           numGets.lookup(global) == buffer.gets.size() &&
           llvm::all_of(buffer.gets, [&](memref::GetGlobalOp get) {
             return isOwnScope(get, kernel);
           });
  }
  case KernelBuffer::Kind::Attribution:
    break;
  }
  auto type = cast<MemRefType>(buffer.value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  std::optional<int64_t> span = getSpan(type.getShape(), strides, offset);
  return buffer.bytes > 0 && span && *span <= type.getNumElements();
}

/// The calls in `kernel` from which control gets to function `scope`.
static SmallVector<Operation *> getCallSites(Operation *kernel,
                                             Operation *scope,
                                             SymbolTableCollection &symbols) {
  SmallVector<Operation *> sites;
  getBody(kernel)->walk([&](CallOpInterface site) {
    SetVector<Operation *> reached;
    auto reach = [&](CallOpInterface call) {
      if (Operation *callee = call.resolveCallableInTable(&symbols))
        reached.insert(callee);
    };
    reach(site);
    for (unsigned i = 0; i < reached.size(); ++i)
      reached[i]->walk(reach);
    if (reached.contains(scope))
      sites.push_back(site);
  });
  return sites;
}

BufferUses MemoryPacker::getUses(const KernelBuffer &buffer,
                                 PackedKernel &kernel) {
  BufferUses uses;
  auto collectFrom = [&](Value value) {
    Operation *scope =
        getExecutionScope(value.getParentRegion()->getParentOp());
    if (scope == kernel.kernel)
      return collectBufferUses(value, kernel.kernel, nullptr, symbols, uses);
    for (Operation *site : getCallSites(kernel.kernel, scope, symbols)) {
      uses.ops.insert(site);
      collectBufferUses(value, kernel.kernel, site, symbols, uses);
    }
  };
  if (buffer.gets.empty())
    collectFrom(buffer.value);
  for (memref::GetGlobalOp get : buffer.gets)
    collectFrom(get);
  return uses;
}

/// The allocation whose executions make the contents of `buffer` undefined, if
/// any.
static Operation *getAllocation(const KernelBuffer &buffer) {
  return buffer.kind == KernelBuffer::Kind::Allocation
             ? buffer.value.getDefiningOp()
             : nullptr;
}

void MemoryPacker::collectMembers(PackedKernel &kernel) {
  BufferLiveness liveness(kernel.kernel, uniformity ? &*uniformity : nullptr);
  kernel.members.clear();
  for (KernelBuffer &buffer : kernel.memory.buffers) {
    if (!isMember(buffer, kernel))
      continue;
    BufferUses uses = getUses(buffer, kernel);
    Operation *allocation = getAllocation(buffer);
    BufferLife life = liveness.getLife(uses, allocation);
    // Hoisting says what is wrong with an allocation whose activations cannot
    // share one buffer, or cannot be told apart by a barrier.
    if (allocation && (uses.isOutOfSight || uses.carrier ||
                       !liveness.isWithinTurn(life, allocation)))
      continue;
    PackedBuffer &member = kernel.members.emplace_back(buffer);
    member.buffer.alignment = std::max(buffer.alignment, options.alignment);
    member.life = life;
  }
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

static SmallVector<LayoutItem> getItems(const PackedKernel &kernel) {
  return llvm::map_to_vector(kernel.members, [](const PackedBuffer &member) {
    // What nobody uses takes nothing.
    return LayoutItem{member.life.isUsed ? member.buffer.bytes : 0,
                      member.buffer.alignment, member.life.range.first,
                      member.life.range.last};
  });
}

namespace {
/// Layouts of the members of one kernel.
class LayoutFinder {
public:
  LayoutFinder(const PackedKernel &kernel, const BufferLiveness &liveness)
      : kernel(kernel), liveness(liveness), items(getItems(kernel)) {}

  /// With sharing wherever lives are disjoint; or only where no barrier would
  /// have to be added.
  MemoryLayout find(bool addBarriers) const;

private:
  bool interfere(unsigned lhs, unsigned rhs) const {
    return kernel.members[lhs].life.range.overlaps(
        kernel.members[rhs].life.range);
  }
  bool needsBarrier(unsigned lhs, unsigned rhs) const {
    const BufferLife &life = kernel.members[lhs].life,
                     &next = kernel.members[rhs].life;
    return liveness.mayFollow(life, next) && !liveness.isSeparated(life, next);
  }

  const PackedKernel &kernel;
  const BufferLiveness &liveness;
  SmallVector<LayoutItem> items;
};
} // namespace

MemoryLayout LayoutFinder::find(bool addBarriers) const {
  return findLayout(items, [&](unsigned lhs, unsigned rhs) {
    return interfere(lhs, rhs) ||
           (!addBarriers && (needsBarrier(lhs, rhs) || needsBarrier(rhs, lhs)));
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
    kernel.barriers.push_back(member.life.begin);
    liveness.addBarrierBefore(member.life.begin);
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

/// Makes room in dynamic memory for the arena and for what `kernel` itself does
/// with dynamic memory.
LogicalResult MemoryPacker::placeWindow(PackedKernel &kernel) {
  if (kernel.memory.windows.empty())
    return success();
  kernel.windowAsked = getLaunchBytes(kernel);
  if (kernel.windowAsked)
    kernel.windowBytes = llvm::alignTo(*kernel.windowAsked, kernel.alignment);
  else
    kernel.windowShift = llvm::alignTo(kernel.bytes, kWindowAlignment);
  for (Operation *window : kernel.memory.windows) {
    if (!isOwnScope(window, kernel))
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

/// Bytes of all members of `kernel` without padding.
static int64_t getSum(const PackedKernel &kernel) {
  int64_t sum = 0;
  for (const PackedBuffer &member : kernel.members)
    sum += member.life.isUsed ? member.buffer.bytes : 0;
  return sum;
}

/// Bytes of static memory of `kernel` that packing leaves as it is.
static int64_t getKeptBytes(const PackedKernel &kernel) {
  KernelBuffers kept;
  DenseSet<Value> members;
  for (const PackedBuffer &member : kernel.members)
    members.insert(member.buffer.value);
  for (const KernelBuffer &buffer : kernel.memory.buffers)
    if (!buffer.value || !members.contains(buffer.value))
      kept.buffers.push_back(buffer);
  return kept.getStaticBytes();
}

/// The layout that `reuse=auto` stands for: the one with fewer bytes, `tight`,
/// needs more barriers, and is taken where it pays.
static bool isWorthBarriers(const PackedKernel &kernel, int64_t tight,
                            int64_t loose, int64_t limit, const Chip &chip) {
  int64_t kept = getKeptBytes(kernel);
  if (kept + loose > limit)
    return kept + tight <= limit;
  int64_t numThreads = getBlockShape(kernel.kernel).getNumThreads().value_or(1);
  return chip.getResidentBlocks(kept + tight, numThreads) >
         chip.getResidentBlocks(kept + loose, numThreads);
}

MemoryLayout MemoryPacker::chooseLayout(PackedKernel &kernel,
                                        BufferLiveness &liveness, int64_t limit,
                                        const Chip &chip) {
  MemoryLayout linear = makeLinearLayout(getItems(kernel));
  if (options.reuse == Reuse::Never)
    return linear;
  LayoutFinder finder(kernel, liveness);
  MemoryLayout tight = finder.find(/*addBarriers=*/true);
  if (options.reuse == Reuse::Always || tight.bytes == linear.bytes ||
      getBlockShape(kernel.kernel).isSingleThread())
    return tight;
  MemoryLayout loose = finder.find(/*addBarriers=*/false);
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

LogicalResult MemoryPacker::checkCapacity(const PackedKernel &kernel,
                                          int64_t limit) {
  int64_t maxStatic = std::min(options.maxStaticBytes, limit);
  int64_t kept = getKeptBytes(kernel);
  int64_t unpacked = kernel.memory.getStaticBytes();
  int64_t packed = kernel.hasArena ? kept + kernel.bytes : unpacked;
  if (!kernel.isDynamic)
    return packed > maxStatic
               ? emitCapacityError(kernel.kernel, kernel.memory.buffers, packed,
                                   maxStatic)
               : success();
  if (kept > maxStatic)
    return emitCapacityError(kernel.kernel, kernel.memory.buffers, kept,
                             maxStatic);
  int64_t total =
      llvm::alignTo(kept, kernel.alignment) + kernel.windowBytes + kernel.bytes;
  return total > limit ? emitCapacityError(kernel.kernel, kernel.memory.buffers,
                                           total, limit)
                       : success();
}

/// True if lives in `kernel` may follow one another in the same bytes.
bool MemoryPacker::mayNeedBarriers(const PackedKernel &kernel) const {
  bool isRepeated =
      llvm::any_of(kernel.members, [&](const PackedBuffer &member) {
        Operation *allocation = getAllocation(member.buffer);
        return allocation && isInLoop(allocation, kernel.kernel);
      });
  return isRepeated || (options.reuse != Reuse::Never &&
                        getLowerBound(getItems(kernel)) < getSum(kernel));
}

/// A buffer of more than `limit` bytes, or null.
static const KernelBuffer *findLargerThan(const KernelBuffers &memory,
                                          int64_t limit) {
  auto it = llvm::find_if(memory.buffers, [&](const KernelBuffer &buffer) {
    return buffer.bytes > limit;
  });
  return it == memory.buffers.end() ? nullptr : &*it;
}

LogicalResult MemoryPacker::decide(PackedKernel &kernel) {
  const Chip *chip = resolveChip(kernel.kernel, options.chip);
  if (!chip)
    return failure();
  int64_t limit = kernel.maxBytes =
      options.maxBytes > 0 ? options.maxBytes : chip->maxWorkgroupBytes;
  bool isNever = options.dynamic == DynamicMemory::Never;
  int64_t maxStatic = std::min(options.maxStaticBytes, limit);

  collectMembers(kernel);
  if (const KernelBuffer *large = findLargerThan(kernel.memory, limit))
    return emitCapacityError(kernel.kernel, *large, large->bytes, limit);
  // Uniformity makes lives longer, and takes time.
  if (!uniformity && mayNeedBarriers(kernel)) {
    uniformity.emplace(module);
    collectMembers(kernel);
  }
  int64_t sum = getSum(kernel);
  BufferLiveness liveness(kernel.kernel, uniformity ? &*uniformity : nullptr);
  MemoryLayout layout =
      chooseLayout(kernel, liveness, isNever ? maxStatic : limit, *chip);
  int64_t total = getKeptBytes(kernel) + layout.bytes;
  bool isTooLarge = total > maxStatic && !isNever;
  kernel.isDynamic = layout.bytes > 0 &&
                     (isTooLarge || options.dynamic == DynamicMemory::Always);
  // Less padding alone is not worth that the compiler, and checks of bounds,
  // cannot tell the buffers apart any more.
  kernel.hasArena = kernel.isDynamic || layout.bytes < sum;
  kernel.bytes = kernel.hasArena ? layout.bytes : 0;
  for (auto [member, offset] :
       llvm::zip_equal(kernel.members, layout.offsets)) {
    member.offset = offset;
    kernel.alignment = std::max(kernel.alignment, member.buffer.alignment);
  }
  if (kernel.isDynamic && isa<gpu::LaunchOp>(kernel.kernel) &&
      kernel.alignment > kWindowAlignment)
    return kernel.kernel->emitOpError("has a workgroup buffer aligned to ")
           << kernel.alignment
           << " bytes that does not fit into static memory, where dynamic "
              "memory is aligned to "
           << kWindowAlignment << "; run gpu-kernel-outlining before";
  collectRuntimeSized(kernel);
  if ((kernel.isDynamic || !kernel.runtimeSized.empty()) &&
      failed(placeWindow(kernel)))
    return failure();
  if (failed(checkCapacity(kernel, limit)))
    return failure();
  if (kernel.hasArena)
    findBarriers(kernel, liveness);
  if (!options.insertBarriers || getBlockShape(kernel.kernel).isSingleThread())
    kernel.barriers.clear();
  return success();
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static void reportMember(const PackedBuffer &member,
                         const PackedKernel &kernel) {
  remark::passed(member.buffer.loc, remarkOptions(RemarkSource::PackMemory,
                                                  "Packed", kernel.kernel))
      << (member.isShared ? "workgroup buffer packed into bytes that others "
                            "use before or after it"
                          : "workgroup buffer packed into bytes of its own")
      << remark::metric("Offset", kernel.windowBytes + member.offset)
      << remark::metric("Bytes", member.buffer.bytes)
      << remark::metric("Alignment", member.buffer.alignment);
}

/// Says what became of the memory of `kernel`, which takes `bytes` unpacked.
static void report(const PackedKernel &kernel, int64_t bytes) {
  int64_t bound = getLowerBound(getItems(kernel));
  if (!kernel.hasArena) {
    if (kernel.members.size() > 1)
      missedRemark(RemarkSource::PackMemory, "NotPacked", kernel.kernel)
          << remark::reason(bound < bytes
                                ? "no two lives are disjoint, or barriers "
                                  "between them would not pay"
                                : "all buffers are in use at the same time")
          << remark::metric("Bytes", bytes)
          << remark::metric("LowerBound", bound);
    return;
  }
  for (const PackedBuffer &member : kernel.members)
    reportMember(member, kernel);
  passedRemark(RemarkSource::PackMemory, "PackedKernel", kernel.kernel)
      << (kernel.isDynamic ? "workgroup buffers packed into dynamic memory"
                           : "workgroup buffers packed into static memory")
      << remark::metric("BytesBefore", bytes)
      << remark::metric("BytesAfter", kernel.bytes)
      << remark::metric("LowerBound", bound)
      << remark::metric("Reused", llvm::count_if(kernel.members,
                                                 [](const PackedBuffer &b) {
                                                   return b.isShared;
                                                 }))
      << remark::metric("Barriers", kernel.barriers.size());
  bool isLaunchUnknown = isa<gpu::GPUFuncOp>(kernel.kernel) &&
                         kernel.isDynamic && kernel.launches.empty();
  if (isLaunchUnknown)
    missedRemark(RemarkSource::PackMemory, "LaunchUnknown", kernel.kernel)
        << remark::reason("no launch of the kernel is in the module; each has "
                          "to ask for {0} bytes of dynamic workgroup memory",
                          kernel.windowShift + kernel.windowBytes +
                              kernel.bytes);
}

/// What became of the memory of `kernel`, as data.
static MemoryPlacement describe(PackedKernel &kernel, int64_t maxBytes) {
  MemoryPlacement placement;
  placement.kernel = getScopeName(kernel.kernel);
  placement.maxBytes = maxBytes;
  placement.isPackedDynamic = kernel.isDynamic;
  placement.staticBytes =
      kernel.hasArena ? getKeptBytes(kernel) : kernel.memory.getStaticBytes();
  if (kernel.hasArena && !kernel.isDynamic)
    placement.staticBytes =
        llvm::alignTo(placement.staticBytes, kernel.alignment) + kernel.bytes;
  if (kernel.isDynamic)
    placement.dynamicBytes =
        kernel.windowShift + kernel.windowBytes + kernel.bytes;
  DenseMap<Value, const PackedBuffer *> members;
  if (kernel.hasArena)
    for (const PackedBuffer &member : kernel.members)
      members[member.buffer.value] = &member;
  for (const KernelBuffer &buffer : kernel.memory.buffers) {
    auto type =
        buffer.value ? cast<MemRefType>(buffer.value.getType()) : MemRefType();
    BufferPlacement place{buffer.loc, type, buffer.bytes, buffer.alignment, {}};
    if (const PackedBuffer *member = members.lookup(buffer.value)) {
      place.offset = kernel.windowBytes + member->offset;
      place.alignment = member->buffer.alignment;
      place.isShared = member->isShared;
    }
    placement.buffers.push_back(place);
  }
  for (Operation *op : kernel.runtimeSized)
    placement.buffers.push_back(
        {op->getLoc(), cast<MemRefType>(op->getResult(0).getType()),
         std::nullopt, kMinBufferAlignment, std::nullopt});
  return placement;
}

LogicalResult MemoryPacker::run() {
  collect();
  bool hasFailed = false;
  for (PackedKernel &kernel : kernels)
    hasFailed |= failed(decide(kernel));
  if (hasFailed)
    return failure();
  IRRewriter rewriter(module.getContext());
  for (PackedKernel &kernel : kernels) {
    report(kernel, makeLinearLayout(getItems(kernel)).bytes);
    if (placements)
      placements->push_back(describe(kernel, kernel.maxBytes));
    if (kernel.hasArena || !kernel.runtimeSized.empty())
      rewriteKernel(kernel, rewriter);
  }
  return success();
}

LogicalResult packMemory(ModuleOp module, const PackMemoryOptions &options,
                         std::vector<MemoryPlacement> *placements) {
  return MemoryPacker(module, options, placements).run();
}

namespace {
struct PackMemoryPass final : impl::PackMemoryPassBase<PackMemoryPass> {
  using PackMemoryPassBase::PackMemoryPassBase;

  LogicalResult verifyOptions() {
    Location loc = getOperation()->getLoc();
    if (!llvm::isPowerOf2_64(alignment))
      return emitError(loc) << "alignment must be a power of two, not "
                            << alignment.getValue();
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
                          placements)))
      signalPassFailure();
  }

  std::vector<MemoryPlacement> *placements = nullptr;
};
} // namespace

std::unique_ptr<Pass>
createPackMemoryPass(const PackMemoryOptions &options,
                     std::vector<MemoryPlacement> *placements) {
  auto pass = std::make_unique<PackMemoryPass>(PackMemoryPassOptions{
      options.reuse, options.dynamic, options.maxStaticBytes, options.maxBytes,
      options.alignment, options.insertBarriers, options.chip});
  pass->placements = placements;
  return pass;
}

} // namespace mlir::workgroup
