//===- BulkCopies.cpp - Copies by the asynchronous proxy ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy is checked by itself, then for what it does to both memories, each
// side as the access of an agent; then it is under way.
//
//===----------------------------------------------------------------------===//

#include "BulkCopies.h"
#include "WaitReport.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Beginning copies
//===----------------------------------------------------------------------===//

BulkCopy BulkCopies::makeCopy(const ThreadState &thread,
                              const Operation &operation) const {
  constexpr unsigned kGlobal = 4, kRest = 6; // registers
  BulkCopy copy;
  copy.site = operation.accessSite;
  copy.shared = getPlace(thread, getWide(thread, 0));
  copy.reduction = operation.async->reduction;
  if (operation.async->rank == 0) {
    copy.global = reinterpret_cast<uint8_t *>(getWide(thread, kGlobal));
    copy.bytes = thread.registers[kRest];
    return copy;
  }
  copy.map = reinterpret_cast<const TensorMap *>(getWide(thread, kGlobal));
  for (unsigned dim = 0; dim < operation.async->rank; ++dim)
    copy.coordinates[dim] = thread.registers[kRest + dim];
  return copy;
}

/// False, after a finding, if a copy does not fit its tensor map, or is not of
/// whole chunks.
bool BulkCopies::checkShape(const ThreadState &thread, const BulkCopy &copy,
                            const Operation &operation) {
  unsigned rank = operation.async->rank;
  if (copy.map && copy.map->getRank() != rank) {
    findings.giveUp(
        thread, FindingKind::TensorMap, operation.site,
        {makeNote("the copy has " + std::to_string(rank) +
                  " coordinates, but the tensor map has " +
                  std::to_string(copy.map->getRank()) + " dimensions")});
    return false;
  }
  if (!copy.map && copy.bytes % TensorMap::kChunk) {
    findings.giveUp(
        thread, FindingKind::BulkSize, operation.site,
        {makeNote("it is of " + std::to_string(copy.bytes) + " bytes")});
    return false;
  }
  return true;
}

/// Tells of an address in workgroup memory that its pattern does not begin at.
void BulkCopies::checkAlignment(const ThreadState &thread, const BulkCopy &copy,
                                uint32_t site) {
  uint64_t alignment = copy.map ? copy.map->getAlignment() : TensorMap::kChunk;
  if (copy.shared % alignment == 0)
    return;
  FindingInstance instance = findings.makeInstance(
      thread, Space::Shared, tables.sites[site].object,
      getOffset(copy.shared) - launch.siteBounds[site].begin, copy.getBytes());
  instance.notes.push_back(makeNote("it has to be a multiple of " +
                                    std::to_string(alignment) + " bytes"));
  findings.add({FindingKind::MisalignedTile, site, 0}, std::move(instance));
}

/// Checks what does not depend on other accesses. False if the copy cannot be
/// made.
bool BulkCopies::check(const ThreadState &thread, const BulkCopy &copy,
                       const Operation &operation) {
  if (!checkShape(thread, copy, operation))
    return false;
  uint32_t site = operation.async->isLoad() ? copy.site : copy.site + 1;
  // A swizzle moves chunks within its span, in which rows begin.
  uint64_t span = copy.map ? copy.map->getSpan() : 1;
  if (!memory.checkShared(thread, copy.shared, site,
                          llvm::alignTo(copy.getBytes(), span))) {
    launch.isOver = true;
    return false;
  }
  checkAlignment(thread, copy, site);
  return true;
}

/// Calls `run` with the bytes of global memory that a copy touches.
template <typename Function>
static void forEachGlobalPart(const BulkCopy &copy, Function run) {
  if (!copy.map)
    return run(copy.global, copy.bytes);
  copy.map->forEachRow(copy.getCoordinates(), [&](const TensorMap::Row &row) {
    if (row.begin != row.end)
      run(copy.map->address + row.offset, row.end - row.begin);
  });
}

/// Checks and records what a copy does to memory. False if it must not be made.
bool BulkCopies::access(ThreadState &thread, const BulkCopy &copy,
                        bool isLoad) {
  uint32_t sharedSite = isLoad ? copy.site : copy.site + 1;
  uint32_t globalSite = isLoad ? copy.site + 1 : copy.site;
  memory.markReached(sharedSite);
  memory.markReached(globalSite);
  if (copy.getBytes() == 0)
    return true;
  bool isPossible = true;
  AccessKind global = isLoad           ? AccessKind::Read
                      : copy.reduction ? AccessKind::Update
                                       : AccessKind::Write;
  forEachGlobalPart(copy, [&](uint8_t *address, uint64_t bytes) {
    isPossible &=
        memory.accessGlobal(thread, global, address, globalSite, bytes,
                            isLoad ? &copy.reader : &copy.writer) == address;
  });
  if (!isPossible) {
    launch.isOver = true;
    return false;
  }
  memory.accessInBulk(thread, isLoad ? AccessKind::Write : AccessKind::Read,
                      isLoad ? copy.writer : copy.reader, copy.shared,
                      sharedSite, copy.getBytes());
  return true;
}

/// The ranks of the blocks that a load is to; empty, after a finding, if the
/// cluster does not have all of them.
llvm::SmallVector<unsigned> BulkCopies::getTargets(const ThreadState &thread,
                                                   const Operation &operation) {
  constexpr unsigned kRest = 6; // registers
  const AsyncOp &op = *operation.async;
  if (!op.isMulticast)
    return {getRank(getPlace(thread, getWide(thread, 0)))};
  uint32_t mask = thread.registers[kRest + std::max(op.rank, 1u)] & 0xffff;
  llvm::SmallVector<unsigned> ranks;
  for (unsigned rank = 0; mask >> rank; ++rank)
    if (mask >> rank & 1)
      ranks.push_back(rank);
  unsigned numBlocks = block.getNumBlocks();
  if (!ranks.empty() && ranks.back() < numBlocks)
    return ranks;
  findings.giveUp(
      thread, FindingKind::BlockMask, operation.site,
      {makeNote("the mask is " + printMask(mask) + ", and the cluster has " +
                std::to_string(numBlocks) +
                (numBlocks == 1 ? " block" : " blocks"))});
  return {};
}

void BulkCopies::beginLoad(ThreadState &thread, uint32_t number) {
  const Operation &operation = tables.operations[number];
  uint64_t address = getPlace(thread, getWide(thread, 2));
  BulkCopy copy = makeCopy(thread, operation);
  for (unsigned rank : getTargets(thread, operation)) {
    if (operation.async->isMulticast) {
      copy.shared = getOffset(copy.shared) + rank * kSharedWindow;
      address = getOffset(address) + rank * kSharedWindow;
    }
    if (!beginLoad(thread, number, copy, address))
      return;
  }
}

/// Begins a load to one block. False if it cannot be made.
bool BulkCopies::beginLoad(ThreadState &thread, uint32_t number, BulkCopy copy,
                           uint64_t address) {
  const Operation &operation = tables.operations[number];
  MBarrier *barrier = mbarriers.find(thread, operation, address);
  if (!barrier || !check(thread, copy, operation))
    return false;
  mbarriers.checkOrder(thread, operation, *barrier, address, /*byProxy=*/true);
  Access agent = block.clocks.beginAgent(thread.linear, copy.site);
  copy.writer = agent;
  copy.reader = Access::make(agent.time, agent.getActor(), copy.site + 1,
                             /*isAsync=*/true);
  if (!access(thread, copy, /*isLoad=*/true))
    return false;
  if (copy.map)
    memory.setSwizzle(copy.site, unsigned(copy.map->view.swizzle));
  if (copy.getBytes())
    lastLoads[agent.getActor()] = {agent, operation.site, getRank(copy.shared)};
  flights.add({thread.linear, address, number, agent, copy});
  return true;
}

/// The type of the elements of a tensor, as far as reductions know it.
std::optional<BulkElement> BulkCopies::getElement(const BulkCopy &copy) const {
  if (!copy.reduction || !copy.map)
    return std::nullopt;
  return parseElement(
      launch.request.buffers[copy.map->view.buffer].elementType);
}

/// False, after a finding, for a reduction that there is none of.
bool BulkCopies::checkReduction(const ThreadState &thread, const BulkCopy &copy,
                                const Operation &operation) {
  if (!copy.reduction)
    return true;
  auto element = getElement(copy);
  if (element && canReduce(*element, *copy.reduction))
    return true;
  findings.giveUp(
      thread, FindingKind::TensorMap, operation.site,
      {makeNote("there is no such reduction of elements of type " +
                launch.request.buffers[copy.map->view.buffer].elementType)});
  return false;
}

void BulkCopies::beginStore(ThreadState &thread, uint32_t number) {
  const Operation &operation = tables.operations[number];
  BulkCopy copy = makeCopy(thread, operation);
  if (!check(thread, copy, operation) ||
      !checkReduction(thread, copy, operation))
    return;
  copy.writer = block.clocks.beginAgent(thread.linear, copy.site);
  copy.reader = block.clocks.beginAgent(thread.linear, copy.site + 1);
  if (!access(thread, copy, /*isLoad=*/false))
    return;
  StoreQueue::Store store{copy};
  if (flights.arrivesAtOnce())
    finish(store);
  queues[thread.linear].open.push_back(std::move(store));
}

//===----------------------------------------------------------------------===//
// Completing stores
//===----------------------------------------------------------------------===//

void BulkCopies::readSource(StoreQueue::Store &store) {
  if (!store.hasRead)
    store.bytes = store.copy.gather(block.window);
  store.hasRead = true;
}

void BulkCopies::finish(StoreQueue::Store &store) {
  readSource(store);
  if (!store.isDone)
    store.copy.store(store.bytes.data(), getElement(store.copy));
  store.isDone = true;
}

void BulkCopies::commitStores(const ThreadState &thread) {
  StoreQueue &queue = queues[thread.linear];
  queue.groups.push_back(std::move(queue.open));
  queue.open.clear();
}

void BulkCopies::waitForStores(const ThreadState &thread, uint64_t newerGroups,
                               bool onlyReads) {
  auto &groups = queues[thread.linear].groups;
  for (size_t i = 0; i + newerGroups < groups.size(); ++i)
    for (StoreQueue::Store &store : groups[i]) {
      readSource(store);
      store.isReadWaitedFor = true;
      block.clocks.learn(thread.linear, store.copy.reader);
      if (onlyReads)
        continue;
      finish(store);
      block.clocks.learn(thread.linear, store.copy.writer);
    }
  while (!onlyReads && groups.size() > newerGroups)
    groups.pop_front();
}

//===----------------------------------------------------------------------===//
// The end of a block
//===----------------------------------------------------------------------===//

void BulkCopies::endLoads(bool isComplete) {
  for (const auto &[agent, load] : lastLoads)
    if (isComplete && !block.isKnownIn(load.rank, load.access))
      findings.report(block.threads[block.clocks.getThread(load.access)],
                      FindingKind::NotWaitedAtEnd, load.site);
  lastLoads.clear();
}

void BulkCopies::endStores(bool isComplete) {
  for (unsigned thread = 0; thread < queues.size(); ++thread) {
    StoreQueue &queue = queues[thread];
    if (queue.open.empty() && queue.groups.empty())
      continue;
    commitStores(block.threads[thread]);
    for (std::vector<StoreQueue::Store> &group : queue.groups)
      for (StoreQueue::Store &store : group) {
        finish(store);
        if (isComplete && !store.isReadWaitedFor)
          findings.report(block.threads[thread], FindingKind::NotWaitedAtEnd,
                          store.copy.site);
      }
    queue = {};
  }
}

} // namespace mlir::workgroup::emulator
