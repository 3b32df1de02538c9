//===- PackCollector.cpp - Buffers that can be packed ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackCollector.h"
#include "BufferEscape.h"
#include "Transforms/Utils/BufferTypes.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// Larger than any multiple at which shared memory of a block could begin.
static constexpr int64_t kMaxAlignment = int64_t(1) << 18;

std::vector<PackedKernel> PackCollector::collectKernels() {
  std::vector<PackedKernel> kernels;
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
    llvm::erase_if(kernel.memory.buffers, [&](const KernelBuffer &buffer) {
      bool isDead = buffer.kind == KernelBuffer::Kind::Attribution &&
                    buffer.value.use_empty();
      if (isDead)
        kernel.dead.push_back(cast<BlockArgument>(buffer.value));
      return isDead;
    });
    for (Operation *reached : kernel.memory.scopes)
      ++numKernels[reached];
  }
  for (PackedKernel &kernel : kernels)
    for (Operation *scope : kernel.memory.scopes)
      if (isOwnScope(scope, kernel))
        kernel.ownScopes.push_back(scope);
  module.walk([&](memref::GetGlobalOp get) {
    if (isWorkgroupMemory(get.getType()))
      ++numGets[symbols.lookupNearestSymbolFrom(get, get.getNameAttr())];
  });
  return kernels;
}

/// The functions in the module of `kernel` that nothing but calls and launches
/// refers to.
static DenseSet<Operation *> findOnlyCalled(gpu::GPUFuncOp kernel) {
  DenseSet<Operation *> functions;
  Operation *module = kernel->getParentOp();
  auto uses = SymbolTable::getSymbolUses(&module->getRegion(0));
  if (!uses)
    return functions;
  for (Operation &op : module->getRegion(0).getOps())
    if (isa<FunctionOpInterface>(op))
      functions.insert(&op);
  SymbolTableCollection symbols;
  for (SymbolTable::SymbolUse use : *uses)
    if (!isa<CallOpInterface, gpu::LaunchFuncOp>(use.getUser()))
      functions.erase(
          symbols.lookupNearestSymbolFrom(use.getUser(), use.getSymbolRef()));
  return functions;
}

bool PackCollector::isOwnScope(Operation *scope, const PackedKernel &kernel) {
  if (scope == kernel.kernel)
    return true;
  auto function = dyn_cast<gpu::GPUFuncOp>(kernel.kernel);
  Operation *module = scope->getParentOp();
  if (!function || numKernels.lookup(scope) != 1 ||
      module != function->getParentOp())
    return false;
  auto [it, isNew] = onlyCalled.try_emplace(module);
  if (isNew)
    it->second = findOnlyCalled(function);
  return it->second.contains(scope);
}

/// True if `buffer`, a global, can be replaced wherever it is used.
bool PackCollector::isOwnGlobal(KernelBuffer &buffer,
                                const PackedKernel &kernel) {
  auto global = symbols.lookupNearestSymbolFrom<memref::GlobalOp>(
      buffer.gets.front(), buffer.gets.front().getNameAttr());
  return isa<gpu::GPUFuncOp>(kernel.kernel) && global.isPrivate() &&
         global.isUninitialized() &&
         numGets.lookup(global) == buffer.gets.size() &&
         llvm::all_of(buffer.gets, [&](memref::GetGlobalOp get) {
           return isInOwnScope(get, kernel);
         });
}

/// True if `buffer` belongs to `kernel` alone and can be made a view of a
/// larger one.
bool PackCollector::isMember(KernelBuffer &buffer, const PackedKernel &kernel) {
  // What is wrong with an alignment, verify-kernels says.
  if (!llvm::isPowerOf2_64(buffer.alignment) ||
      buffer.alignment > kMaxAlignment)
    return false;
  switch (buffer.kind) {
  case KernelBuffer::Kind::Lowering:
    return false;
  case KernelBuffer::Kind::Allocation:
    return isInOwnScope(buffer.value.getDefiningOp(), kernel);
  case KernelBuffer::Kind::Global:
    return isOwnGlobal(buffer, kernel);
  case KernelBuffer::Kind::Attribution:
    break;
  }
  auto type = cast<MemRefType>(buffer.value.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  std::optional<int64_t> span = getSpan(type.getShape(), strides, offset);
  bool isDense = span && *span <= type.getNumElements();
  return buffer.bytes > 0 && isDense;
}

/// For each function, the calls in `kernel` from which control gets to it.
static PackCollector::CallSites getCallSites(Operation *kernel,
                                             SymbolTableCollection &symbols) {
  PackCollector::CallSites sites;
  getBody(kernel)->walk([&](CallOpInterface site) {
    SetVector<Operation *> reached;
    auto reach = [&](CallOpInterface call) {
      if (Operation *callee = call.resolveCallableInTable(&symbols))
        reached.insert(callee);
    };
    reach(site);
    for (unsigned i = 0; i < reached.size(); ++i)
      reached[i]->walk(reach);
    for (Operation *function : reached)
      sites[function].push_back(site);
  });
  return sites;
}

BufferUses PackCollector::getUses(const KernelBuffer &buffer,
                                  PackedKernel &kernel,
                                  const CallSites &sites) {
  BufferUses uses;
  auto collectFrom = [&](Value value) {
    Operation *scope =
        getExecutionScope(value.getParentRegion()->getParentOp());
    if (scope == kernel.kernel)
      return collectBufferUses(value, /*site=*/nullptr, symbols, dominance,
                               uses);
    for (Operation *site : sites.lookup(scope)) {
      uses.ops.insert(site);
      collectBufferUses(value, site, symbols, dominance, uses);
    }
  };
  if (buffer.gets.empty())
    collectFrom(buffer.value);
  for (memref::GetGlobalOp get : buffer.gets)
    collectFrom(get);
  return uses;
}

/// True if no two activations of `allocation` are in use together, as far as a
/// barrier there separates them. Hoisting says what is wrong with the others.
bool PackCollector::canBeRefilled(Operation *allocation) {
  if (!recursive)
    recursive = findRecursiveFunctions(module);
  return !recursive->contains(getExecutionScope(allocation)) &&
         !findEscape(allocation, dominance);
}

/// Two accesses by which threads meet in a buffer that `kernel` allocates.
std::optional<BufferMeeting>
PackCollector::findMeeting(Operation *allocation, const PackedKernel &kernel) {
  std::unique_ptr<BufferMeetings> &ofKernel = meetings[kernel.kernel];
  if (!ofKernel)
    ofKernel = std::make_unique<BufferMeetings>(kernel.kernel);
  return ofKernel->find(allocation->getResult(0));
}

/// `buffer` as a member of `kernel`, or nothing if it cannot be one.
std::optional<PackedBuffer>
PackCollector::makeMember(const KernelBuffer &buffer, PackedKernel &kernel,
                          const CallSites &sites, BufferLiveness &liveness,
                          const UniformityAnalysis *uniformity) {
  PackedBuffer member(buffer);
  member.buffer.alignment =
      std::max({buffer.alignment, alignment, getNeededAlignment(buffer.value)});
  for (memref::GetGlobalOp get : buffer.gets)
    member.buffer.alignment =
        std::max(member.buffer.alignment, getNeededAlignment(get));
  BufferUses uses = getUses(buffer, kernel, sites);
  Operation *allocation = buffer.getAllocation();
  bool isElsewhere =
      allocation && getExecutionScope(allocation) != kernel.kernel;
  member.life = liveness.getLife(uses, isElsewhere ? nullptr : allocation);
  bool isRepeated =
      isElsewhere || (allocation && isInLoop(allocation, kernel.kernel));
  if (!isRepeated)
    return member;
  if (uses.isOutOfSight || uses.carrier)
    return std::nullopt;
  if (!isElsewhere && liveness.isWithinIteration(member.life, allocation))
    return member;
  if (!canBeRefilled(allocation))
    return std::nullopt;
  if (uniformity && !uniformity->isUniformPoint(allocation)) {
    // Threads iterate on their own, around a life that they begin together.
    bool isOfThreads = !isElsewhere && !findMeeting(allocation, kernel);
    return isOfThreads ? std::optional(std::move(member)) : std::nullopt;
  }
  member.life = liveness.getLife(uses, /*allocation=*/nullptr);
  member.refill = allocation;
  return member;
}

void PackCollector::collectMembers(PackedKernel &kernel,
                                   const UniformityAnalysis *uniformity) {
  BufferLiveness liveness(kernel.kernel, uniformity);
  CallSites sites = getCallSites(kernel.kernel, symbols);
  kernel.members.clear();
  for (KernelBuffer &buffer : kernel.memory.buffers) {
    if (!isMember(buffer, kernel))
      continue;
    if (std::optional<PackedBuffer> member =
            makeMember(buffer, kernel, sites, liveness, uniformity))
      kernel.members.push_back(std::move(*member));
  }
}

} // namespace mlir::workgroup
