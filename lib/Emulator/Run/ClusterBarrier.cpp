//===- ClusterBarrier.cpp - Where blocks of a cluster meet ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No thread arrives again before it has waited, so that two phases are all that
// there are at a time: that in which threads arrive, and the one before it,
// which some have still to wait for.
//
//===----------------------------------------------------------------------===//

#include "ClusterBarrier.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::workgroup::emulator {

void ClusterBarrier::beginBlock() {
  std::fill(hasArrived.begin(), hasArrived.end(), Arrival::None);
  isInUse = false;
  arriving.clear();
  passed.clear();
}

void ClusterBarrier::arrive(const ThreadState &thread, uint32_t number) {
  const Operation &operation = tables.operations[number];
  Arrival &own = hasArrived[thread.linear];
  if (own != Arrival::None) {
    findings.giveUp(thread, FindingKind::ClusterBarrier, operation.site,
                    {makeNote("the thread has arrived before, and has not "
                              "waited since")});
    return;
  }
  own = Arrival::Now;
  isInUse = true;
  if (!operation.isRelaxed)
    block.clocks.release(thread.linear, arriving);
}

bool ClusterBarrier::open() {
  bool hasWaiters = llvm::any_of(block.threads, [](const ThreadState &thread) {
    return thread.wait == Wait::Cluster;
  });
  if (!isInUse && !hasWaiters)
    return false;
  bool isOver = isInUse;
  for (const ThreadState &thread : block.threads)
    isOver &=
        thread.wait == Wait::Done || hasArrived[thread.linear] == Arrival::Now;
  if (isOver) {
    passed = std::move(arriving);
    arriving.clear();
    isInUse = false;
    for (Arrival &arrival : hasArrived)
      if (arrival == Arrival::Now)
        arrival = Arrival::Before;
  }
  bool hasOpened = false;
  for (ThreadState &thread : block.threads) {
    if (thread.wait != Wait::Cluster)
      continue;
    Arrival &own = hasArrived[thread.linear];
    if (own == Arrival::None) {
      findings.giveUp(thread, FindingKind::ClusterBarrier,
                      tables.operations[thread.operation].site,
                      {makeNote("the thread waits and has not arrived")});
      return false;
    }
    if (own != Arrival::Before)
      continue;
    own = Arrival::None;
    block.clocks.acquire(thread.linear, passed);
    thread.wait = Wait::None;
    hasOpened = true;
  }
  return hasOpened;
}

} // namespace mlir::workgroup::emulator
