//===- KernelBuffers.cpp - The workgroup memory of a kernel ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuffers.h"
#include "BufferTypes.h"
#include "ReductionBuffers.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

std::optional<int64_t> getStaticBytes(MemRefType type, Operation *scope) {
  std::optional<int64_t> bytes = getElementBytes(type, scope);
  if (!bytes)
    return std::nullopt;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(*bytes, extent, *bytes))
      return std::nullopt;
  return bytes;
}

int64_t getEnd(int64_t start, int64_t bytes) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;
  int64_t end = 0;
  return llvm::AddOverflow(start, bytes, end) ? kMost : std::min(end, kMost);
}

int64_t getSlotBytes(MemRefType type, Operation *scope, int64_t alignment) {
  return llvm::alignTo(getStaticBytes(type, scope).value_or(0), alignment);
}

bool isDynamicSymbol(memref::GlobalOp global) {
  return isWorkgroupMemory(global.getType()) && global.isExternal() &&
         global.getType().hasStaticShape() &&
         global.getType().getNumElements() == 0;
}

int64_t KernelBuffers::getStaticBytes() const {
  int64_t bytes = 0;
  for (const KernelBuffer &buffer : buffers) {
    bytes = llvm::alignTo(bytes, buffer.alignment);
    if (llvm::AddOverflow(bytes, buffer.bytes, bytes))
      bytes = std::numeric_limits<int64_t>::max() / 2;
  }
  // Dynamic memory begins where static memory ends, in the symbol's alignment.
  return bytes == 0 ? 0 : llvm::alignTo(bytes, dynamicAlignment);
}

/// True if each run of `scope` gets to `op`, which is in it: there is no branch
/// before it, and no loop that may have no iteration.
static bool isAlwaysExecutedIn(Operation *scope, Operation *op) {
  for (; op->getBlock()->isEntryBlock(); op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    if (parent == scope)
      return true;
    if (!isa<scf::ExecuteRegionOp, memref::AllocaScopeOp>(parent))
      return false;
  }
  return false;
}

bool KernelBuffers::isAlwaysExecuted(Operation *op) const {
  Operation *scope = getExecutionScope(op);
  return executedScopes.contains(scope) && isAlwaysExecutedIn(scope, op);
}

void eraseAttributions(Operation *kernel, const llvm::BitVector &erased,
                       RewriterBase &rewriter) {
  if (erased.none())
    return;
  Block &entry = getBody(kernel)->front();
  auto erase = [&](StringRef name, int64_t number) {
    rewriter.modifyOpInPlace(kernel, [&] {
      kernel->setAttr(name, rewriter.getI64IntegerAttr(number));
      entry.eraseArguments(erased);
    });
  };
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel))
    return erase(launch.getNumWorkgroupAttributionsAttrName(),
                 launch.getNumWorkgroupAttributions() - erased.count());
  auto function = cast<gpu::GPUFuncOp>(kernel);
  SmallVector<Attribute> attributes;
  if (ArrayAttr all = function.getWorkgroupAttribAttrsAttr())
    for (auto [i, attribute] : llvm::enumerate(all))
      if (!erased.test(function.getFirstWorkgroupAttributionIndex() + i))
        attributes.push_back(attribute);
  function.setWorkgroupAttribAttrsAttr(
      attributes.empty() ? ArrayAttr() : rewriter.getArrayAttr(attributes));
  erase(function.getNumWorkgroupAttributionsAttrName(),
        function.getNumWorkgroupAttributions() - erased.count());
}

LaunchSites collectLaunchSites(Operation *root) {
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

namespace {

class BufferCollector {
public:
  explicit BufferCollector(KernelBuffers &memory) : memory(memory) {}

  void run(Operation *kernel);

private:
  void visit(Operation *op, Operation *scope);
  void findExecutedScopes(Operation *kernel);
  bool isLoweredWindow(Operation *op);
  void addAttributions(Operation *kernel);
  void addAllocation(Operation *op);
  void addGlobal(memref::GetGlobalOp get);
  void addSymbol(memref::GetGlobalOp get, memref::GlobalOp symbol);
  void addReduction(gpu::AllReduceOp op, Operation *scope);
  void addMBarriers(nvgpu::MBarrierCreateOp op);
  void addRing(RingOp op);
  KernelBuffer *add(KernelBuffer::Kind kind, MemRefType type, Value value,
                    Operation *scope);

  KernelBuffers &memory;
  SymbolTableCollection symbols;
  /// The index of each global in `memory`.
  DenseMap<Operation *, unsigned> globals;
  DenseSet<std::pair<Operation *, Type>> reductions;
};

} // namespace

KernelBuffer *BufferCollector::add(KernelBuffer::Kind kind, MemRefType type,
                                   Value value, Operation *scope) {
  if (!type || !type.hasStaticShape() || !isWorkgroupMemory(type))
    return nullptr;
  std::optional<int64_t> bytes = getStaticBytes(type, scope);
  if (!bytes)
    return nullptr;
  // Hoisting and the lowering to NVVM align every buffer to as much. One that
  // states no power of two is wrong, and stays so.
  int64_t alignment = getStatedAlignment(value);
  if (alignment == 0 || llvm::isPowerOf2_64(alignment))
    alignment = std::max(
        {alignment, getNaturalAlignment(type, scope), kMinBufferAlignment});
  memory.buffers.push_back({kind, *bytes, alignment, value.getLoc(), value});
  return &memory.buffers.back();
}

void BufferCollector::addAttributions(Operation *kernel) {
  ArrayRef<BlockArgument> attributions;
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel))
    attributions = launch.getWorkgroupAttributions();
  else if (auto function = dyn_cast<gpu::GPUFuncOp>(kernel))
    attributions = function.getWorkgroupAttributions();
  for (BlockArgument buffer : attributions)
    add(KernelBuffer::Kind::Attribution, dyn_cast<MemRefType>(buffer.getType()),
        buffer, kernel);
}

void BufferCollector::addAllocation(Operation *op) {
  Value value = op->getResult(0);
  if (!isWorkgroupMemory(value.getType()))
    return;
  if (std::optional<int64_t> span = getBufferSpan(op))
    add(KernelBuffer::Kind::Allocation, getBufferType(op, *span), value, op);
  else
    memory.unbounded.push_back(op);
}

void BufferCollector::addSymbol(memref::GetGlobalOp get,
                                memref::GlobalOp symbol) {
  memory.windows.push_back(get);
  memory.dynamicAlignment = std::max<int64_t>(
      memory.dynamicAlignment, symbol.getAlignment().value_or(1));
  auto addView = [&](Operation *view, MemRefType type, OpFoldResult offset) {
    std::optional<int64_t> start = getConstantIntValue(offset);
    std::optional<int64_t> bytes;
    if (type.hasStaticShape())
      bytes = getStaticBytes(type, get);
    if (!start || !bytes)
      return;
    int64_t end = getEnd(*start, *bytes);
    memory.dynamicBytes = std::max(memory.dynamicBytes, end);
    if (memory.isAlwaysExecuted(view))
      memory.leastDynamicBytes = std::max(memory.leastDynamicBytes, end);
  };
  for (Operation *user : get->getUsers()) {
    auto window = dyn_cast<memref::ReinterpretCastOp>(user);
    if (!window)
      continue;
    OpFoldResult offset = window.getMixedOffsets().front();
    addView(window, window.getType(), offset);
    if (isConstantIntValue(offset, 0)) // as large as the launch makes it
      for (Operation *part : window->getUsers())
        if (auto view = dyn_cast<memref::ViewOp>(part))
          addView(view, view.getType(), view.getByteShift());
  }
}

void BufferCollector::addGlobal(memref::GetGlobalOp get) {
  auto global =
      symbols.lookupNearestSymbolFrom<memref::GlobalOp>(get, get.getNameAttr());
  if (!global || !isWorkgroupMemory(get.getType()))
    return;
  if (isDynamicSymbol(global))
    return addSymbol(get, global);
  auto [it, isNew] = globals.try_emplace(global, memory.buffers.size());
  if (isNew && !add(KernelBuffer::Kind::Global, get.getType(), get, get)) {
    globals.erase(global);
    return;
  }
  memory.buffers[it->second].gets.push_back(get);
}

void BufferCollector::addReduction(gpu::AllReduceOp op, Operation *scope) {
  MemRefType type = getReductionBufferType(op);
  std::optional<int64_t> bytes = type ? getStaticBytes(type, op) : std::nullopt;
  if (bytes && reductions.insert({scope, op.getType()}).second)
    memory.buffers.push_back({KernelBuffer::Kind::Lowering, *bytes,
                              kMinBufferAlignment, op.getLoc(), Value()});
}

void BufferCollector::addMBarriers(nvgpu::MBarrierCreateOp op) {
  int64_t count = op.getBarriers().getType().getNumBarriers();
  memory.buffers.push_back({KernelBuffer::Kind::Lowering,
                            count * kMBarrierBytes, kMBarrierBytes, op.getLoc(),
                            Value()});
}

void BufferCollector::addRing(RingOp op) {
  RingType type = op.getRing().getType();
  int64_t bytes = 0;
  for (MemRefType tile : type.getTiles())
    bytes += getSlotBytes(tile, op);
  if (llvm::MulOverflow(bytes, type.getSlots(), bytes))
    bytes = std::numeric_limits<int64_t>::max() / 2;
  memory.buffers.push_back({KernelBuffer::Kind::Lowering, bytes, kSlotAlignment,
                            op.getLoc(), Value()});
}

/// True if `op` is the address of dynamic memory, lowered to LLVM.
bool BufferCollector::isLoweredWindow(Operation *op) {
  auto address = dyn_cast<LLVM::AddressOfOp>(op);
  auto global = address ? symbols.lookupNearestSymbolFrom<LLVM::GlobalOp>(
                              address, address.getGlobalNameAttr())
                        : LLVM::GlobalOp();
  constexpr unsigned kShared = unsigned(NVVM::NVVMMemorySpace::Shared);
  return global && global.getAddrSpace() == kShared &&
         global.getLinkage() == LLVM::Linkage::External;
}

void BufferCollector::visit(Operation *op, Operation *scope) {
  if (isa<gpu::DynamicSharedMemoryOp>(op) || isLoweredWindow(op))
    memory.windows.push_back(op);
  else if (isa<memref::AllocOp, memref::AllocaOp>(op))
    addAllocation(op);
  else if (auto reduce = dyn_cast<gpu::AllReduceOp>(op))
    addReduction(reduce, scope);
  else if (auto create = dyn_cast<nvgpu::MBarrierCreateOp>(op))
    addMBarriers(create);
  else if (auto ring = dyn_cast<RingOp>(op))
    addRing(ring);
  else if (auto get = dyn_cast<memref::GetGlobalOp>(op))
    addGlobal(get);
  else if (auto call = dyn_cast<CallOpInterface>(op))
    if (Operation *callee = call.resolveCallableInTable(&symbols))
      memory.scopes.insert(callee);
}

void BufferCollector::findExecutedScopes(Operation *kernel) {
  SetVector<Operation *> &scopes = memory.executedScopes;
  scopes.insert(kernel);
  for (unsigned i = 0; i < scopes.size(); ++i)
    scopes[i]->walk([&](CallOpInterface call) {
      if (!memory.isAlwaysExecuted(call))
        return;
      if (Operation *callee = call.resolveCallableInTable(&symbols))
        scopes.insert(callee);
    });
}

void BufferCollector::run(Operation *kernel) {
  addAttributions(kernel);
  findExecutedScopes(kernel);
  memory.scopes.insert(kernel);
  for (unsigned i = 0; i < memory.scopes.size(); ++i) {
    Operation *scope = memory.scopes[i];
    scope->walk([&](Operation *op) { visit(op, scope); });
  }
}

KernelBuffers collectKernelBuffers(Operation *kernel) {
  KernelBuffers memory;
  BufferCollector(memory).run(kernel);
  return memory;
}

} // namespace mlir::workgroup
