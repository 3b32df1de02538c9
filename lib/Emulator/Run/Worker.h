//===- Worker.h - Runs blocks, one after the other ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A worker is a thread of the host that takes blocks of a launch until there
// are none. It has one part for each concern of a block, and goes round them:
// threads run, lanes of warps meet, barriers open, phases end. Generated code
// reaches the parts by way of RuntimeFunctions.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_WORKER_H
#define WORKGROUP_LIB_EMULATOR_RUN_WORKER_H

#include "AsyncEngine.h"
#include "BlockBarriers.h"
#include "ClusterBarrier.h"
#include "Scheduler.h"
#include "WarpMeetings.h"
#include "Warpgroups.h"

namespace mlir::workgroup::emulator {

/// The parts are in the order in which they need each other. Everything in them
/// belongs to one host thread.
class Worker {
public:
  explicit Worker(Launch &launch);

  /// False if there is no memory for it.
  bool isReady() { return block.isReady() && memory.isReady(); }

  /// Takes blocks until there is none, or the launch is over.
  void run();

  BlockState block;
  FindingCollector findings;
  MemoryOrder order;
  AccessChecker memory;
  AsyncEngine async;
  Warpgroups warpgroups;
  WaitReport waits;
  /// What has been executed.
  BlockCounters counters;
  BlockBarriers barriers;
  ClusterBarrier clusters;
  WarpMeetings warps;
  Scheduler scheduler;

  uint64_t blocksRun = 0;
  uint64_t mostIterations = 0;
  /// What has been printed.
  std::string output;

private:
  bool runBlock();
  bool runRound();
  void beginBlock(uint64_t id);
  void endBlock(bool isComplete);
  void reportDeadlock();

  Launch &launch;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_WORKER_H
