//===- BlockBarriers.cpp - Where threads of a block meet ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One barrier of all threads is the common case, and costs nothing per thread
// but to wake it. Barriers of some threads are looked at one by one.
//
//===----------------------------------------------------------------------===//

#include "BlockBarriers.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::workgroup::emulator {

void BlockBarriers::endBlock() {
  for (Arrivals &arrival : arrivals)
    arrival = {};
}

void BlockBarriers::arrive(const ThreadState &thread) {
  Arrivals &arrival = getArrivals(thread.rank, thread.registers[0] % kNumbers);
  arrival.threads.push_back(thread.linear);
  block.clocks.release(thread.linear, arrival.meeting);
}

/// The case that is most common: all threads of the block are at one barrier.
bool BlockBarriers::openCommon() {
  const ThreadState &first = block.threads.front();
  if (first.wait != Wait::Barrier || first.registers[0] != 0 ||
      block.getNumBlocks() > 1 || !getArrivals(0, 0).threads.empty())
    return false;
  const Operation &operation = tables.operations[first.operation];
  if (operation.kind != Operation::Kind::Barrier || operation.reduction)
    return false;
  bool isWhole = true;
  for (const ThreadState &thread : block.threads)
    isWhole &= thread.wait == Wait::Barrier &&
               thread.operation == first.operation && thread.registers[0] == 0;
  if (!isWhole)
    return false;
  ++counters.barriers;
  block.lastBarrier = operation.site;
  block.clocks.synchronizeAll();
  block.setTimes();
  for (ThreadState &thread : block.threads)
    thread.wait = Wait::None;
  return true;
}

bool BlockBarriers::open() {
  if (openCommon())
    return true;
  bool hasOpened = false;
  for (unsigned rank = 0; rank < block.getNumBlocks(); ++rank)
    hasOpened |= openOf(rank);
  return hasOpened;
}

/// Opens barriers of the block of that rank.
bool BlockBarriers::openOf(unsigned rank) {
  llvm::SmallVector<unsigned, 64> waiting[kNumbers];
  unsigned numLive = 0;
  unsigned perBlock = block.getThreadsPerBlock();
  for (const ThreadState &thread :
       llvm::ArrayRef(block.threads).slice(rank * perBlock, perBlock)) {
    numLive += thread.wait != Wait::Done;
    if (thread.wait == Wait::Barrier)
      waiting[thread.registers[0] % kNumbers].push_back(thread.linear);
  }
  bool hasOpened = false;
  for (uint32_t id = 0; id < kNumbers; ++id) {
    if (waiting[id].empty() || !isReached(id, waiting[id], numLive))
      continue;
    open(id, waiting[id]);
    hasOpened = true;
  }
  return hasOpened;
}

/// True if the threads that `waiting` ones wait for are there, too. Tells of
/// barriers that are not what they should be; `numLive` threads have not left
/// the kernel.
bool BlockBarriers::isReached(uint32_t id, llvm::ArrayRef<unsigned> waiting,
                              unsigned numLive) {
  const ThreadState &first = block.threads[waiting.front()];
  const Operation &operation = tables.operations[first.operation];
  bool isCounted = operation.kind == Operation::Kind::BarrierCount;
  size_t present = waiting.size() + getArrivals(first.rank, id).threads.size();
  size_t needed = isCounted ? first.registers[1] : numLive;
  bool isInvalid =
      first.registers[0] >= kNumbers ||
      (isCounted && (needed % kWarpSize || needed == 0 || present > needed));
  if (isInvalid)
    findings.report(
        first, FindingKind::InvalidBarrier, operation.site,
        {makeNote(std::to_string(present) + " threads are at barrier " +
                  std::to_string(first.registers[0]) + ", which is for " +
                  std::to_string(needed))});
  if (present < needed)
    return false;
  if (!isCounted && numLive < numThreads)
    findings.report(first, FindingKind::ExitedThread, operation.site,
                    waits.describeAll());
  return true;
}

void BlockBarriers::open(uint32_t id, llvm::ArrayRef<unsigned> waiting) {
  Clocks &clocks = block.clocks;
  ++counters.barriers;
  checkAligned(waiting);
  reducePredicates(waiting);
  block.lastBarrier =
      tables.operations[block.threads[waiting.front()].operation].site;
  Arrivals &arrival = getArrivals(block.threads[waiting.front()].rank, id);
  if (arrival.threads.empty()) {
    clocks.synchronize(waiting);
  } else {
    for (unsigned thread : waiting)
      clocks.release(thread, arrival.meeting);
    for (unsigned thread : waiting)
      clocks.acquire(thread, arrival.meeting);
    arrival = {};
  }
  block.setTimes();
  for (unsigned thread : waiting)
    block.threads[thread].wait = Wait::None;
}

/// The aligned form wants the lanes of a warp to be at one barrier in the
/// program. That warps are at different ones is only odd.
void BlockBarriers::checkAligned(llvm::ArrayRef<unsigned> waiting) {
  const ThreadState *first = nullptr;
  for (unsigned index : waiting) {
    const ThreadState &thread = block.threads[index];
    const Operation &operation = tables.operations[thread.operation];
    if (!operation.isAligned)
      continue;
    if (!first || first->warp != thread.warp) {
      first = &thread;
      continue;
    }
    uint32_t site = tables.operations[first->operation].site;
    if (site == operation.site)
      continue;
    FindingInstance instance = findings.makeInstance(*first);
    instance.otherThread = thread.local;
    instance.notes = waits.describe(waiting);
    findings.add({FindingKind::Divergence, site, operation.site},
                 std::move(instance));
    return;
  }
}

/// `barrier.cta.red`: every thread gets what the predicates of all come to.
void BlockBarriers::reducePredicates(llvm::ArrayRef<unsigned> waiting) {
  std::vector<ThreadState> &threads = block.threads;
  const Operation &operation =
      tables.operations[threads[waiting.front()].operation];
  if (!operation.reduction)
    return;
  unsigned source = operation.kind == Operation::Kind::BarrierCount ? 2 : 1;
  uint32_t count = llvm::count_if(waiting, [&](unsigned thread) {
    return threads[thread].registers[source] & 1;
  });
  uint32_t result = count;
  if (*operation.reduction == BarrierReduction::And)
    result = count == waiting.size();
  else if (*operation.reduction == BarrierReduction::Or)
    result = count != 0;
  for (unsigned thread : waiting)
    threads[thread].registers[0] = result;
}

} // namespace mlir::workgroup::emulator
