//===- ProtocolTargets.cpp - What is followed of a kernel -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProtocolTargets.h"
#include "Analysis/Program/OpEffects.h"
#include "ProtocolPlaces.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "workgroup/Support/Kernel.h"
#include <numeric>

namespace mlir::workgroup {

/// Threads of a kernel with more mbarriers, or longer periods, are not
/// followed.
static constexpr int64_t kMaxBarriers = 64, kMaxPeriod = 96;

static bool isOrder(Operation *op) {
  switch (getOpKind(op)) {
  case OpKind::Barrier:
  case OpKind::WarpBarrier:
  case OpKind::ProxyFence:
  case OpKind::GroupAccess:
  case OpKind::GroupCommit:
  case OpKind::GroupWait:
    return true;
  default:
    return isMBarrierOp(op) || isa<NVVM::FenceMbarrierInitOp>(op);
  }
}

/// True for an operation on an mbarrier that is followed.
static bool isKnownMBarrierOp(Operation *op) {
  return isa<nvgpu::MBarrierInitOp, nvgpu::MBarrierArriveOp,
             nvgpu::MBarrierArriveExpectTxOp, nvgpu::MBarrierTryWaitParityOp>(
      op);
}

/// True for what may tell an mbarrier of anything, or wait for anything.
static bool isUnknown(Operation *op) {
  switch (getOpKind(op)) {
  case OpKind::MBarrierInit:
  case OpKind::MBarrierArrival:
  case OpKind::MBarrierWait:
    return !isKnownMBarrierOp(op);
  case OpKind::BulkLoad: {
    auto load = dyn_cast<nvgpu::TmaAsyncLoadOp>(op);
    return !load || load.getMulticastMask();
  }
  case OpKind::RingUse:
  case OpKind::BlockExchange:
  case OpKind::Call:
  case OpKind::Assembly:
  case OpKind::ClusterWait:
  case OpKind::BarrierArrival:
    return true;
  case OpKind::Storage:
    return isa<nvgpu::MBarrierGetOp>(op);
  default:
    return false;
  }
}

void ProtocolTargets::addGroup(nvgpu::MBarrierCreateOp create) {
  int64_t size = create.getBarriers().getType().getNumBarriers();
  bool isKnown = llvm::all_of(create->getUsers(), [](Operation *user) {
    return isKnownMBarrierOp(user) || isa<nvgpu::TmaAsyncLoadOp>(user);
  });
  if (!isKnown || size < 1 || size > kMaxBarriers) {
    isFollowed = false;
    return;
  }
  groups[create.getBarriers()] = {numBarriers, size};
  numBarriers += size;
  period = std::lcm(period, 2 * size);
  isFollowed &= numBarriers <= kMaxBarriers && period <= kMaxPeriod;
}

std::optional<unsigned> ProtocolTargets::getBarrier(Value group,
                                                    int64_t index) const {
  auto it = groups.find(group);
  if (it == groups.end() || index < 0 || index >= it->second.second)
    return std::nullopt;
  return it->second.first + unsigned(index);
}

/// True for the bytes of one buffer in workgroup memory.
static bool isOfOneBuffer(const ThreadAccess &access) {
  return access.space == MemorySpace::Workgroup && access.roots.size() == 1 &&
         access.roots.front() != 0 && access.operand &&
         !isa<nvgpu::MBarrierGroupType>(access.operand->get().getType());
}

/// The buffers that are accessed in a block in which something is done about
/// mbarriers, or in something that is there.
void ProtocolTargets::collectRoots(Operation *scope) {
  DenseSet<Block *> blocks;
  scope->walk([&](Operation *op) {
    if (isMBarrierOp(op) && getOpKind(op) != OpKind::MBarrierInit &&
        op->getParentOp() != scope)
      blocks.insert(op->getBlock());
  });
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses())) {
    if (!isOfOneBuffer(access))
      continue;
    bool isHanded = getOpKind(access.op) == OpKind::BulkLoad;
    for (Operation *op = access.op; op != scope && !isHanded;
         op = op->getParentOp())
      isHanded = blocks.contains(op->getBlock());
    if (isHanded)
      handedOver.insert(number);
    if (isHanded || getOpKind(access.op) == OpKind::BulkStore)
      roots.insert(access.roots.front());
  }
}

/// True if threads wait for mbarriers in loops in loops, up to `scope`.
static bool hasNestedWaits(Operation *scope) {
  return scope
      ->walk([&](nvgpu::MBarrierTryWaitParityOp wait) {
        auto loop = wait->getParentOfType<scf::ForOp>();
        return loop && loop->getParentOfType<scf::ForOp>()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// Bytes of a buffer.
struct Part {
  unsigned root = 0;
  int64_t first = 0, end = 0;

  bool meets(const Part &other) const {
    return root == other.root && first < other.end && other.first < end;
  }
};
} // namespace

/// The bytes that `access` is in, whoever does it when; nothing if that may be
/// anywhere.
static std::optional<Part> getPart(const ThreadAccess &access) {
  auto evaluate = [](Value) -> const ThreadValues * { return nullptr; };
  DenseMap<Value, std::pair<int64_t, int64_t>> ranges;
  ProtocolPlace place =
      getProtocolPlace(access, /*numThreads=*/1, evaluate, ranges);
  if (place.isAnywhere())
    return std::nullopt;
  return Part{place.root, place.first, place.end};
}

/// The accesses to bytes that TMA stores, and that mbarriers have nothing to do
/// with, where these are waited for in loops in loops: beside a loop that waits
/// nothing else is followed, and that threads wait for their own stores is
/// known without. None if others may be to the same bytes.
DenseSet<unsigned> ProtocolTargets::findOwnStores(Operation *scope) const {
  if (!hasNestedWaits(scope))
    return {};
  std::vector<std::pair<unsigned, std::optional<Part>>> parts;
  SmallVector<Part> stored;
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses())) {
    if (!isOfOneBuffer(access) || !roots.contains(access.roots.front()))
      continue;
    parts.emplace_back(number, getPart(access));
    std::optional<Part> part = parts.back().second;
    if (getOpKind(access.op) != OpKind::BulkStore)
      continue;
    if (!part)
      return {};
    stored.push_back(*part);
  }
  DenseSet<unsigned> own;
  for (auto &[number, part] : parts) {
    bool isOther =
        part && llvm::none_of(stored, [&, &part = part](const Part &other) {
          return part->meets(other);
        });
    if (isOther)
      continue;
    if (!part || handedOver.contains(number))
      return {};
    own.insert(number);
  }
  return own;
}

void ProtocolTargets::mark(Operation *op, Operation *scope) {
  bool isSync = isOrder(op);
  bool isNeededHere = !accessesOf.lookup(op).empty() || isMBarrierOp(op) ||
                      isa<nvgpu::TmaAsyncLoadOp>(op);
  if (!isSync && !isNeededHere)
    return;
  bool isAsync = llvm::any_of(getAccesses(op), [&](unsigned number) {
    return getAccess(number).isAsync;
  });
  for (; op != scope; op = op->getParentOp()) {
    relevant.insert(op);
    if (isSync || isa<nvgpu::TmaAsyncLoadOp>(op))
      syncs.insert(op);
    if (isNeededHere)
      needed.insert(op);
    if (isAsync)
      asyncs.insert(op);
  }
}

ProtocolTargets::ProtocolTargets(Operation *scope,
                                 const ThreadAccesses &accesses)
    : accesses(accesses) {
  isFollowed = isKernel(scope) && getBlockShape(scope).getNumThreads();
  if (!isFollowed)
    return;
  scope->walk([&](Operation *op) {
    OpKind kind = getOpKind(op);
    hasWaits |= kind == OpKind::MBarrierWait || kind == OpKind::BulkLoad ||
                kind == OpKind::BulkStore;
    isFollowed &= !isUnknown(op);
  });
  if (!areFollowed())
    return;
  scope->walk([&](nvgpu::MBarrierCreateOp create) { addGroup(create); });
  collectRoots(scope);
  DenseSet<unsigned> own = findOwnStores(scope);
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses()))
    if (isOfOneBuffer(access) && roots.contains(access.roots.front()) &&
        !own.contains(number)) {
      tracked.insert(number);
      accessesOf[access.op].push_back(number);
    }
  scope->walk([&](Operation *op) {
    if (op != scope)
      mark(op, scope);
  });
}

bool ProtocolTargets::hasInnerSync(Operation *scope) const {
  return scope
      ->walk([&](scf::ForOp loop) {
        return hasSync(loop) && loop->getParentOfType<scf::ForOp>()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if nothing that has to be followed stands beside `loop` in `outer`, in
/// branch regions around `loop` either: it would be followed once, not in each
/// iteration.
bool ProtocolTargets::isAlone(scf::ForOp loop, scf::ForOp outer) const {
  for (Operation *op = loop; op != outer; op = op->getParentOp())
    for (Operation &beside : *op->getBlock())
      if (&beside != op && isNeeded(&beside))
        return false;
  return true;
}

/// True if what `outer` carries goes into `loop` as what that carries, and
/// nowhere else: it has the value of the first iteration where it is read.
static bool handsOnAlone(scf::ForOp outer, scf::ForOp loop) {
  return llvm::all_of(outer.getRegionIterArgs(), [&](BlockArgument argument) {
    return llvm::all_of(argument.getUsers(), [&](Operation *user) {
      return user == loop || user == outer.getBody()->getTerminator();
    });
  });
}

bool ProtocolTargets::isHandedOn(scf::ForOp loop, Operation *scope) const {
  while (true) {
    Operation *parent = loop->getParentOp();
    bool isDirect = true;
    for (; parent != scope && !isa<scf::ForOp>(parent);
         parent = parent->getParentOp())
      isDirect &= isa<scf::IfOp>(parent) && parent->getNumResults() == 0;
    if (parent == scope)
      return true;
    if (!isDirect)
      return false;
    auto outer = cast<scf::ForOp>(parent);
    if (!isAlone(loop, outer) || !handsOnAlone(outer, loop))
      return false;
    for (auto [number, initial] : llvm::enumerate(loop.getInitArgs())) {
      auto argument = dyn_cast<BlockArgument>(initial);
      if (!argument || argument.getOwner() != outer.getBody())
        continue; // begins anew: `visitTurns` does not count on it
      unsigned position = argument.getArgNumber() - 1;
      if (argument.getArgNumber() == 0 ||
          outer.getBody()->getTerminator()->getOperand(position) !=
              loop.getResult(number))
        return false;
    }
    loop = outer;
  }
}

} // namespace mlir::workgroup
