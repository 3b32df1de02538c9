//===- CopyFlights.h - Copies that mbarriers track ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is under way until an mbarrier is told of it, and when it lands: as late
// as may be, at once, or at some time. Each flight is a load in bulk, or the
// copies that a thread had begun by `cp.async`.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_COPYFLIGHTS_H
#define WORKGROUP_LIB_EMULATOR_RUN_COPYFLIGHTS_H

#include "AsyncCopies.h"
#include "MBarrierTable.h"

namespace mlir::workgroup::emulator {

class CopyFlights {
public:
  CopyFlights(Launch &launch, BlockState &block, AccessChecker &memory,
              MBarrierTable &mbarriers)
      : launch(launch), block(block), memory(memory), mbarriers(mbarriers) {}

  /// What is still under way, with nobody to wait for it, goes away.
  void endBlock();

  /// Whether a copy shall arrive now, as early as it may.
  bool arrivesAtOnce();

  bool empty() const { return flights.empty(); }
  /// Begins a flight, which may land at once.
  void add(Flight flight);
  /// Lands the copies that `agent` completes, if they have not landed.
  void landFlightOf(Access agent);
  void landOldest() { land(0); }
  /// Lands some, by the launch's seed.
  void landSome();

  /// Lands a copy of a thread, after which its bytes are written by `writer`.
  void land(const AsyncCopy &copy, Access writer);

private:
  void land(size_t index);

  Launch &launch;
  BlockState &block;
  AccessChecker &memory;
  MBarrierTable &mbarriers;
  std::deque<Flight> flights;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_COPYFLIGHTS_H
