//===- PhaseWaits.cpp - Threads that wait for phases ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Waits end with their phase; tests of a phase that is not over end in vain
// once nothing else can happen.
//
//===----------------------------------------------------------------------===//

#include "PhaseWaits.h"

namespace mlir::workgroup::emulator {

/// Lets those go on that wait for a phase that is over.
bool PhaseWaits::wakeWaiters() {
  bool hasWoken = false;
  for (ThreadState &thread : block.threads) {
    if (thread.wait != Wait::Phase)
      continue;
    const Operation &operation = launch.tables.operations[thread.operation];
    uint64_t offset = getPlace(thread, getWide(thread, 0));
    MBarrier *barrier = mbarriers.find(thread, operation, offset);
    if (!barrier)
      return true;
    if (!barrier->isOver(getWide(thread, 2), operation.async->isParity))
      continue;
    mbarriers.checkOrder(thread, operation, *barrier, offset);
    if (!operation.async->isRelaxed)
      block.clocks.acquire(thread.linear, barrier->getPassed());
    setWide(thread, 1);
    thread.wait = Wait::None;
    hasWoken = true;
  }
  return hasWoken;
}

/// Tells those that wait for a phase, but not for ever, that it is not over.
/// False if none does, or if that has been in vain often enough.
bool PhaseWaits::endTests() {
  constexpr unsigned kMaxIdleRounds = 1000;
  if (++idleRounds > kMaxIdleRounds)
    return false;
  bool hasWoken = false;
  for (ThreadState &thread : block.threads)
    if (thread.wait == Wait::Phase &&
        launch.tables.operations[thread.operation].async->kind ==
            AsyncOp::Kind::Test) {
      setWide(thread, 0);
      thread.wait = Wait::None;
      hasWoken = true;
    }
  return hasWoken;
}

bool PhaseWaits::advance(bool isMoving) {
  constexpr unsigned kMaxBusyRounds = 64;
  if (launch.request.asyncMode == AsyncMode::Seeded)
    flights.landSome();
  if (wakeWaiters()) {
    idleRounds = busyRounds = 0;
    return true;
  }
  if (isMoving && ++busyRounds % kMaxBusyRounds)
    return true;
  if (flights.empty())
    return endTests() || isMoving;
  idleRounds = 0;
  flights.landOldest();
  return true;
}

} // namespace mlir::workgroup::emulator
