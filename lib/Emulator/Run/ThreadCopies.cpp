//===- ThreadCopies.cpp - Copies by `cp.async` ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy reads its source when it begins, as the shadow of the source knows
// until it lands, and its bytes count as written once its thread has waited.
//
//===----------------------------------------------------------------------===//

#include "ThreadCopies.h"

namespace mlir::workgroup::emulator {

void ThreadCopies::begin(ThreadState &thread, uint64_t target, uint64_t source,
                         uint64_t sourceBytes, uint32_t site) {
  AsyncCopy copy;
  copy.target = target;
  copy.bytes = launch.tables.sites[site].bytes;
  copy.sourceBytes = std::min<uint64_t>(sourceBytes, copy.bytes);
  copy.site = site;
  copy.source = memory.access(thread, AccessKind::Read, source, site + 1,
                              copy.sourceBytes);
  memory.markReached(site);
  if (launch.withStatistics) {
    memory.log(thread, getOffset(target), site);
    memory.log(thread, source, site + 1);
  }
  if (!memory.checkShared(thread, target, site, copy.bytes))
    return;
  memory.beginCopy(thread, target, site, copy.bytes);
  memory.holdSource(copy.source, copy.sourceBytes, /*begins=*/true);
  copy.hasLanded = flights.arrivesAtOnce();
  if (copy.hasLanded)
    copy.write(block.window);
  if (!queues[thread.linear].add(copy) && !launch.isOver)
    findings.giveUp(thread, FindingKind::TooManyCopies, site);
}

void ThreadCopies::wait(const ThreadState &thread, uint64_t newerGroups) {
  Clocks &clocks = block.clocks;
  queues[thread.linear].wait(newerGroups, [&](const AsyncCopy &copy) {
    if (copy.agent) {
      flights.landFlightOf(*copy.agent);
      clocks.learn(thread.linear, *copy.agent);
      return;
    }
    flights.land(copy, Access::make(clocks.getTime(thread.linear),
                                    thread.linear, copy.site));
  });
}

void ThreadCopies::track(const ThreadState &thread, uint32_t number) {
  const Operation &operation = launch.tables.operations[number];
  uint64_t address = getPlace(thread, getWide(thread, 0));
  MBarrier *barrier = mbarriers.find(thread, operation, address);
  if (!barrier)
    return;
  mbarriers.checkOrder(thread, operation, *barrier, address);
  if (!operation.async->isCounted &&
      !mbarriers.accept(thread, operation, barrier->expectArrival()))
    return;
  Flight flight{thread.linear,
                address,
                number,
                block.clocks.beginAgent(thread.linear, operation.site),
                {}};
  queues[thread.linear].forEach([&](AsyncCopy &copy) {
    if (copy.agent)
      return;
    copy.agent = flight.agent;
    flight.copies.push_back(copy);
  });
  mbarriers.writeBack(address, *barrier);
  flights.add(std::move(flight));
}

void ThreadCopies::endBlock() {
  for (const ThreadState &thread : block.threads)
    if (!queues[thread.linear].empty())
      waitForAll(thread);
}

} // namespace mlir::workgroup::emulator
