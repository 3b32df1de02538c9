//===- WorkerMBarriers.cpp - Operations on mbarriers ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace mlir::workgroup::emulator {

static void setWide(ThreadState &thread, uint64_t value) {
  thread.registers[0] = value;
  thread.registers[1] = value >> 32;
}

//===----------------------------------------------------------------------===//
// Misuse
//===----------------------------------------------------------------------===//

/// `@__mbarrier + 8`.
std::string Worker::describeShared(uint64_t offset) const {
  uint32_t found = findObject(offset);
  if (found == 0)
    return "address " + std::to_string(offset);
  const Object &object = tables.objects[found];
  std::string name = object.kind == Object::Kind::Dynamic
                         ? "dynamic workgroup memory"
                         : "@" + object.name;
  uint64_t distance = offset - object.offset;
  return distance ? name + " + " + std::to_string(distance) : name;
}

void Worker::refuseMBarrier(ThreadState &thread, const Operation &operation,
                            std::string why) {
  if (!launch.isOver)
    giveUp(thread, FindingKind::MBarrier, operation.site,
           {makeNote(std::move(why))});
}

/// False, after a finding, if no mbarrier can be at `offset`.
bool Worker::canHoldMBarrier(ThreadState &thread, const Operation &operation,
                             uint64_t offset) {
  bool isInside = offset >= kSharedBase && offset < launch.sharedEnd &&
                  launch.sharedEnd - offset >= MBarrier::kBytes;
  if (isInside && offset % MBarrier::kBytes == 0)
    return true;
  refuseMBarrier(thread, operation,
                 isInside ? describeShared(offset) +
                                " is no multiple of 8 bytes, as the address of "
                                "an mbarrier has to be"
                          : "its address is not in workgroup memory");
  return false;
}

/// The mbarrier at `offset`; null, after a finding, if there is none.
MBarrier *Worker::findMBarrier(ThreadState &thread, const Operation &operation,
                               uint64_t offset) {
  if (!canHoldMBarrier(thread, operation, offset))
    return nullptr;
  auto it = mbarriers.find(offset);
  if (it == mbarriers.end()) {
    refuseMBarrier(thread, operation,
                   "there is no mbarrier at " + describeShared(offset) +
                       ": none has been initialized, or it is invalid again");
    return nullptr;
  }
  uint64_t word = it->second.getWord();
  if (std::memcmp(window + offset, &word, sizeof(word)) != 0) {
    refuseMBarrier(thread, operation,
                   "something else has written to the mbarrier at " +
                       describeShared(offset));
    return nullptr;
  }
  return &it->second;
}

/// False, after a finding, if there is a complaint.
bool Worker::accept(ThreadState &thread, const Operation &operation,
                    llvm::StringRef complaint) {
  if (!complaint.empty())
    refuseMBarrier(thread, operation, complaint.str());
  return complaint.empty();
}

/// Adds a finding about the access that made the mbarrier at `offset`.
void Worker::reportInit(ThreadState &thread, const Operation &operation,
                        const MBarrier &barrier, uint64_t offset,
                        FindingKind kind) {
  uint32_t object = findObject(offset);
  conflicts.push_back({offset, {kind, barrier.getInit(), {}}});
  addConflicts(thread, Space::Shared, object, tables.objects[object].offset,
               offset, tables.sharedGrain, operation.accessSite,
               MBarrier::kBytes, window + offset);
}

/// Tells of an operation on an mbarrier that may come before it is made. If it
/// is `byProxy`, a fence has to come in between.
void Worker::checkOrder(ThreadState &thread, const Operation &operation,
                        const MBarrier &barrier, uint64_t offset,
                        bool byProxy) {
  reached[operation.accessSite] = 1;
  if (!launch.checksRaces())
    return;
  if (!clocks.isOrdered(barrier.getInit(), thread.linear))
    return reportInit(thread, operation, barrier, offset,
                      FindingKind::SharedRace);
  bool isKnown = barrier.getFence() &&
                 clocks.isOrdered(*barrier.getFence(), thread.linear);
  if (byProxy && !isKnown)
    reportInit(thread, operation, barrier, offset, FindingKind::ProxyFence);
}

void Worker::fenceProxy(ThreadState &thread, ProxyFence fence) {
  if (fence.ofMBarriers)
    llvm::erase_if(unfenced, [&](uint64_t offset) {
      auto it = mbarriers.find(offset);
      if (it == mbarriers.end())
        return true;
      Access init = it->second.getInit();
      if (init.getActor() != thread.linear)
        return false;
      it->second.setFence(Access::make(clocks.getTime(thread.linear),
                                       thread.linear, init.getSite()));
      return true;
    });
  if (fence.ofShared)
    clocks.fenceProxy(thread.linear, ProxyMemory::Shared);
  if (fence.ofGlobal)
    clocks.fenceProxy(thread.linear, ProxyMemory::Global);
}

/// Keeps the bytes of an mbarrier up to date, so that it shows if anything
/// else is written there.
void Worker::writeBack(uint64_t offset, const MBarrier &barrier) {
  uint64_t word = barrier.getWord();
  std::memcpy(window + offset, &word, sizeof(word));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Worker::initMBarrier(ThreadState &thread, const Operation &operation,
                          uint64_t offset, uint64_t count) {
  if (count == 0 || count > MBarrier::kMaxCount)
    return refuseMBarrier(thread, operation,
                          "its count is " + std::to_string(count) +
                              ", but must be from 1 to 1048575");
  uint8_t *bytes = accessShared(thread, AccessKind::Write, offset,
                                operation.accessSite, MBarrier::kBytes);
  if (bytes != window + offset) { // out of bounds, which the access has told
    launch.isOver = true;
    return;
  }
  if (!canHoldMBarrier(thread, operation, offset))
    return;
  mbarriers.erase(offset);
  Access init = Access::make(clocks.getTime(thread.linear), thread.linear,
                             operation.accessSite);
  auto [it, isNew] = mbarriers.try_emplace(offset, count, init);
  unfenced.push_back(offset);
  writeBack(offset, it->second);
}

void Worker::invalidate(ThreadState &thread, const Operation &operation,
                        uint64_t offset) {
  if (!findMBarrier(thread, operation, offset))
    return;
  accessShared(thread, AccessKind::Write, offset, operation.accessSite,
               MBarrier::kBytes);
  mbarriers.erase(offset);
}

void Worker::arrive(ThreadState &thread, const Operation &operation,
                    uint64_t offset, uint64_t operand) {
  const AsyncOp &op = *operation.async;
  MBarrier *barrier = findMBarrier(thread, operation, offset);
  if (!barrier)
    return;
  checkOrder(thread, operation, *barrier, offset);
  uint64_t state = barrier->getState();
  if (op.expectsBytes &&
      !accept(thread, operation, barrier->expectBytes(operand)))
    return;
  if (!op.isRelaxed)
    clocks.release(thread.linear, barrier->getArriving());
  uint32_t count = op.expectsBytes ? 1 : operand;
  if (accept(thread, operation, barrier->arrive(count, op)))
    writeBack(offset, *barrier);
  setWide(thread, state);
}

void Worker::countBytes(ThreadState &thread, const Operation &operation,
                        uint64_t offset, int64_t bytes) {
  MBarrier *barrier = findMBarrier(thread, operation, offset);
  if (!barrier)
    return;
  checkOrder(thread, operation, *barrier, offset);
  if (accept(thread, operation, barrier->expectBytes(bytes)))
    writeBack(offset, *barrier);
}

void Worker::executeAsync(ThreadState &thread, uint32_t number) {
  using Kind = AsyncOp::Kind;
  const Operation &operation = tables.operations[number];
  uint64_t offset = getWide(thread, 0), operand = getWide(thread, 2);
  switch (operation.async->kind) {
  case Kind::Init:
    return initMBarrier(thread, operation, offset, operand);
  case Kind::Invalidate:
    return invalidate(thread, operation, offset);
  case Kind::Arrive:
    return arrive(thread, operation, offset, operand);
  case Kind::ExpectBytes:
    return countBytes(thread, operation, offset, operand);
  case Kind::CompleteBytes:
    return countBytes(thread, operation, offset, -int64_t(operand));
  case Kind::CopiesArrive:
    return trackCopies(thread, number);
  case Kind::LoadTensor:
  case Kind::LoadBytes:
    return beginLoad(thread, number);
  case Kind::StoreTensor:
  case Kind::StoreBytes:
    return beginStore(thread, operation);
  case Kind::CommitStores:
    return commitStores(thread);
  case Kind::WaitForStores:
    return waitForStores(thread, thread.registers[0], /*onlyReads=*/false);
  case Kind::WaitForStoreReads:
    return waitForStores(thread, thread.registers[0], /*onlyReads=*/true);
  case Kind::Test:
  case Kind::Wait:
    break;
  }
  llvm_unreachable("threads are suspended at waits");
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

/// Lets those go on that wait for a phase that is over.
bool Worker::wakeWaiters() {
  bool hasWoken = false;
  for (ThreadState &thread : threads) {
    if (thread.wait != Wait::Phase)
      continue;
    const Operation &operation = tables.operations[thread.operation];
    uint64_t offset = getWide(thread, 0);
    MBarrier *barrier = findMBarrier(thread, operation, offset);
    if (!barrier)
      return true;
    if (!barrier->isOver(getWide(thread, 2), operation.async->isParity))
      continue;
    checkOrder(thread, operation, *barrier, offset);
    if (!operation.async->isRelaxed)
      clocks.acquire(thread.linear, barrier->getPassed());
    setWide(thread, 1);
    thread.wait = Wait::None;
    hasWoken = true;
  }
  return hasWoken;
}

/// Tells those that wait for a phase, but not for ever, that it is not over.
/// False if none does, or if that has been in vain often enough.
bool Worker::endTests() {
  constexpr unsigned kMaxIdleRounds = 1000;
  if (++idleRounds > kMaxIdleRounds)
    return false;
  bool hasWoken = false;
  for (ThreadState &thread : threads)
    if (thread.wait == Wait::Phase &&
        tables.operations[thread.operation].async->kind ==
            AsyncOp::Kind::Test) {
      setWide(thread, 0);
      thread.wait = Wait::None;
      hasWoken = true;
    }
  return hasWoken;
}

/// Moves copies and phases on after a round of the threads. What is under way
/// arrives when nothing else can happen, or at some time before: threads may
/// turn round until one goes on that waits for it. True if any thread may go
/// on.
bool Worker::advancePhases(bool isMoving) {
  constexpr unsigned kMaxBusyRounds = 64;
  if (launch.request.asyncMode == AsyncMode::Seeded)
    landSome();
  if (wakeWaiters()) {
    idleRounds = busyRounds = 0;
    return true;
  }
  if (isMoving && ++busyRounds % kMaxBusyRounds)
    return true;
  if (flights.empty())
    return endTests() || isMoving;
  idleRounds = 0;
  land(0);
  return true;
}

} // namespace mlir::workgroup::emulator
