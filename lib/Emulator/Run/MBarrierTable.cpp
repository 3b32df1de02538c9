//===- MBarrierTable.cpp - The mbarriers of a block -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operation looks its mbarrier up, holds the order in which threads came
// to know of it against that of the operation, and writes the state back to
// memory.
//
//===----------------------------------------------------------------------===//

#include "MBarrierTable.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace mlir::workgroup::emulator {

void MBarrierTable::endBlock() {
  mbarriers.clear();
  unfenced.clear();
}

//===----------------------------------------------------------------------===//
// Misuse
//===----------------------------------------------------------------------===//

void MBarrierTable::refuse(const ThreadState &thread,
                           const Operation &operation, std::string why) {
  if (!launch.isOver)
    findings.giveUp(thread, FindingKind::MBarrier, operation.site,
                    {makeNote(std::move(why))});
}

/// False, after a finding, if no mbarrier can be at `offset`.
bool MBarrierTable::canHold(const ThreadState &thread,
                            const Operation &operation, uint64_t place) {
  uint64_t offset = getOffset(place);
  bool isInside = offset >= kSharedBase && offset < launch.sharedEnd &&
                  launch.sharedEnd - offset >= MBarrier::kBytes &&
                  getRank(place) < block.getNumBlocks();
  if (isInside && offset % MBarrier::kBytes == 0)
    return true;
  refuse(thread, operation,
         isInside ? block.describeAddress(place) +
                        " is no multiple of 8 bytes, as the address of an "
                        "mbarrier has to be"
                  : "its address is not in workgroup memory");
  return false;
}

MBarrier *MBarrierTable::find(const ThreadState &thread,
                              const Operation &operation, uint64_t offset) {
  if (!canHold(thread, operation, offset))
    return nullptr;
  auto it = mbarriers.find(offset);
  if (it == mbarriers.end()) {
    refuse(thread, operation,
           "there is no mbarrier at " + block.describeAddress(offset) +
               ": none has been initialized, or it is invalid again");
    return nullptr;
  }
  uint64_t word = it->second.getWord();
  if (std::memcmp(block.window + offset, &word, sizeof(word)) != 0) {
    refuse(thread, operation,
           "something else has written to the mbarrier at " +
               block.describeAddress(offset));
    return nullptr;
  }
  return &it->second;
}

bool MBarrierTable::accept(const ThreadState &thread,
                           const Operation &operation,
                           llvm::StringRef complaint) {
  if (!complaint.empty())
    refuse(thread, operation, complaint.str());
  return complaint.empty();
}

/// Adds a finding about the access that made the mbarrier at `offset`.
void MBarrierTable::reportInit(const ThreadState &thread,
                               const Operation &operation,
                               const MBarrier &barrier, uint64_t offset,
                               FindingKind kind) {
  memory.addConflict(thread, {kind, barrier.getInit(), {}}, offset,
                     operation.accessSite, MBarrier::kBytes);
}

void MBarrierTable::checkOrder(const ThreadState &thread,
                               const Operation &operation,
                               const MBarrier &barrier, uint64_t offset,
                               bool byProxy) {
  memory.markReached(operation.accessSite);
  if (!launch.checksRaces())
    return;
  const Clocks &clocks = block.clocks;
  if (!clocks.isOrdered(barrier.getInit(), thread.linear))
    return reportInit(thread, operation, barrier, offset,
                      FindingKind::SharedRace);
  bool isKnown = barrier.getFence() &&
                 clocks.isOrdered(*barrier.getFence(), thread.linear);
  if (byProxy && !isKnown)
    reportInit(thread, operation, barrier, offset, FindingKind::ProxyFence);
}

std::string MBarrierTable::describe(uint64_t offset) const {
  auto it = mbarriers.find(offset);
  return block.describeAddress(offset) + ", of which " +
         (it == mbarriers.end() ? "there is none" : it->second.describe());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void MBarrierTable::writeBack(uint64_t offset, const MBarrier &barrier) {
  uint64_t word = barrier.getWord();
  std::memcpy(block.window + offset, &word, sizeof(word));
}

void MBarrierTable::init(ThreadState &thread, const Operation &operation,
                         uint64_t offset, uint64_t count) {
  if (count == 0 || count > MBarrier::kMaxCount)
    return refuse(thread, operation,
                  "its count is " + std::to_string(count) +
                      ", but must be from 1 to 1048575");
  uint8_t *bytes = memory.accessShared(thread, AccessKind::Write, offset,
                                       operation.accessSite, MBarrier::kBytes);
  if (bytes != block.window + offset) { // out of bounds, as the access has told
    launch.isOver = true;
    return;
  }
  if (!canHold(thread, operation, offset))
    return;
  mbarriers.erase(offset);
  Access init = Access::make(block.clocks.getTime(thread.linear), thread.linear,
                             operation.accessSite);
  auto [it, isNew] = mbarriers.try_emplace(offset, count, init);
  unfenced.push_back(offset);
  writeBack(offset, it->second);
}

void MBarrierTable::invalidate(ThreadState &thread, const Operation &operation,
                               uint64_t offset) {
  if (!find(thread, operation, offset))
    return;
  memory.accessShared(thread, AccessKind::Write, offset, operation.accessSite,
                      MBarrier::kBytes);
  mbarriers.erase(offset);
}

void MBarrierTable::arrive(ThreadState &thread, const Operation &operation,
                           uint64_t offset, uint64_t operand) {
  const AsyncOp &op = *operation.async;
  MBarrier *barrier = find(thread, operation, offset);
  if (!barrier)
    return;
  checkOrder(thread, operation, *barrier, offset);
  memory.useOther(thread, offset, operation.accessSite);
  uint64_t state = barrier->getState();
  if (op.expectsBytes &&
      !accept(thread, operation, barrier->expectBytes(operand)))
    return;
  if (!op.isRelaxed)
    block.clocks.release(thread.linear, barrier->getArriving());
  uint32_t count = op.expectsBytes ? 1 : operand;
  if (accept(thread, operation, barrier->arrive(count, op)))
    writeBack(offset, *barrier);
  setWide(thread, state);
}

void MBarrierTable::countBytes(ThreadState &thread, const Operation &operation,
                               uint64_t offset, int64_t bytes) {
  MBarrier *barrier = find(thread, operation, offset);
  if (!barrier)
    return;
  checkOrder(thread, operation, *barrier, offset);
  if (accept(thread, operation, barrier->expectBytes(bytes)))
    writeBack(offset, *barrier);
}

void MBarrierTable::fence(const ThreadState &thread) {
  llvm::erase_if(unfenced, [&](uint64_t offset) {
    auto it = mbarriers.find(offset);
    if (it == mbarriers.end())
      return true;
    Access init = it->second.getInit();
    if (init.getActor() != thread.linear)
      return false;
    it->second.setFence(Access::make(block.clocks.getTime(thread.linear),
                                     thread.linear, init.getSite()));
    return true;
  });
}

} // namespace mlir::workgroup::emulator
