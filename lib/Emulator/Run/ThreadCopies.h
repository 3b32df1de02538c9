//===- ThreadCopies.h - Copies by `cp.async` ------------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The copies that threads begin by `cp.async`, which go through the generic
// proxy. Their thread waits for groups of them, or lets an mbarrier track them,
// which makes them a flight.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_THREADCOPIES_H
#define WORKGROUP_LIB_EMULATOR_RUN_THREADCOPIES_H

#include "CopyFlights.h"

namespace mlir::workgroup::emulator {

class ThreadCopies {
public:
  ThreadCopies(Launch &launch, BlockState &block, FindingCollector &findings,
               AccessChecker &memory, MBarrierTable &mbarriers,
               CopyFlights &flights)
      : launch(launch), block(block), findings(findings), memory(memory),
        mbarriers(mbarriers), flights(flights), queues(block.threads.size()) {}

  /// Lets copies arrive that no thread has waited for, too late for anyone.
  void endBlock();

  void begin(ThreadState &thread, uint64_t target, uint64_t source,
             uint64_t sourceBytes, uint32_t site);
  /// Makes a group of what the thread has begun since the last one.
  void commit(const ThreadState &thread) { queues[thread.linear].commit(); }
  /// Waits for all groups but the newest ones.
  void wait(const ThreadState &thread, uint64_t newerGroups);
  void waitForAll(const ThreadState &thread) {
    commit(thread);
    wait(thread, 0);
  }
  /// Lets the mbarrier that operation `number` names track what the thread has
  /// begun.
  void track(const ThreadState &thread, uint32_t number);

private:
  Launch &launch;
  BlockState &block;
  FindingCollector &findings;
  AccessChecker &memory;
  MBarrierTable &mbarriers;
  CopyFlights &flights;
  /// Of each thread.
  std::vector<AsyncQueue> queues;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_THREADCOPIES_H
