//===- MemoryOrder.cpp - What fences and atomics order --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the order that reaches other blocks: what a release publishes,
// and what an acquire comes to know.
//
//===----------------------------------------------------------------------===//

#include "MemoryOrder.h"

namespace mlir::workgroup::emulator {

void MemoryOrder::orderGlobal(const ThreadState &thread, const uint8_t *address,
                              AtomicOrder order) {
  auto where = reinterpret_cast<uintptr_t>(address);
  uint32_t time = block.clocks.getTime(thread.linear);
  block.clocks.orderAt(where, thread.linear, order);
  if (order.writes && order.isDeviceWide())
    launch.publications.publish(
        where, order.releases
                   ? launch.publications.release(block.number, thread.linear,
                                                 time, block.clocks)
                   : knowledge[thread.linear].covered);
}

void MemoryOrder::finishAtomic(const ThreadState &thread, uint64_t address,
                               uint32_t site) {
  uint32_t stamp = launch.publications.see(address);
  uint32_t &seen = knowledge[thread.linear].seen;
  if (launch.tables.sites[site].order.acquires)
    block.clocks.raiseKnown(thread.linear, stamp);
  else
    seen = std::max(seen, stamp);
}

void MemoryOrder::fence(const ThreadState &thread, bool isDeviceWide) {
  Knowledge &own = knowledge[thread.linear];
  if (isDeviceWide)
    block.clocks.raiseKnown(thread.linear, own.seen);
  uint32_t time = block.clocks.getTime(thread.linear);
  block.clocks.fence(thread.linear);
  if (isDeviceWide)
    own.covered = launch.publications.release(block.number, thread.linear, time,
                                              block.clocks);
}

} // namespace mlir::workgroup::emulator
