//===- CopyFlights.cpp - Copies that mbarriers track ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A flight that lands writes its bytes, and tells its mbarrier.
//
//===----------------------------------------------------------------------===//

#include "CopyFlights.h"

namespace mlir::workgroup::emulator {

bool CopyFlights::arrivesAtOnce() {
  AsyncMode mode = launch.request.asyncMode;
  return mode == AsyncMode::Eager ||
         (mode == AsyncMode::Seeded && (block.random() & 1));
}

void CopyFlights::add(Flight flight) {
  flights.push_back(std::move(flight));
  if (arrivesAtOnce())
    land(flights.size() - 1);
}

void CopyFlights::land(const AsyncCopy &copy, Access writer) {
  memory.holdSource(copy.source, copy.sourceBytes, /*begins=*/false);
  if (!copy.hasLanded)
    copy.write(block.window);
  memory.endCopy(copy.target, copy.bytes,
                 Access::make(writer.time, writer.getActor(), copy.site,
                              /*isAsync=*/true));
}

/// Completes what is under way, and tells its mbarrier.
void CopyFlights::land(size_t index) {
  Flight flight = std::move(flights[index]);
  flights.erase(flights.begin() + index);
  if (flight.load)
    flight.load->load(block.window);
  for (const AsyncCopy &copy : flight.copies)
    land(copy, flight.agent);
  const Operation &operation = launch.tables.operations[flight.operation];
  const ThreadState &thread = block.threads[flight.thread];
  MBarrier *barrier = mbarriers.find(thread, operation, flight.barrier);
  if (!barrier)
    return;
  block.clocks.finishAgent(flight.agent, barrier->getArriving());
  llvm::StringRef complaint =
      flight.load ? barrier->completeBytes(flight.load->getBytes())
                  : barrier->arrive(1, *operation.async);
  if (mbarriers.accept(thread, operation, complaint))
    mbarriers.writeBack(flight.barrier, *barrier);
}

void CopyFlights::landFlightOf(Access agent) {
  for (size_t i = 0; i < flights.size(); ++i)
    if (flights[i].agent.time == agent.time)
      return land(i);
}

void CopyFlights::landSome() {
  for (size_t i = 0; i < flights.size();)
    if (block.random() & 1)
      land(i);
    else
      ++i;
}

void CopyFlights::endBlock() {
  for (Flight &flight : flights)
    for (const AsyncCopy &copy : flight.copies)
      land(copy, flight.agent);
  flights.clear();
}

} // namespace mlir::workgroup::emulator
