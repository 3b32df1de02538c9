//===- Scheduler.h - Which thread of a block runs ------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a block as coroutines: each runs until it waits or is done, in
// the order that the launch asks for, and makes no more iterations of loops
// than it may.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_SCHEDULER_H
#define WORKGROUP_LIB_EMULATOR_RUN_SCHEDULER_H

#include "FindingCollector.h"

namespace mlir::workgroup::emulator {

class Scheduler {
public:
  Scheduler(Launch &launch, BlockState &block, FindingCollector &findings);

  /// All threads are to begin.
  void beginBlock();

  /// Chooses the order of the next round.
  void shuffle();
  llvm::ArrayRef<unsigned> getWarps() const { return warpOrder; }
  /// Runs the lanes of a warp that can run, each until it waits. True if any
  /// did.
  bool runLanes(unsigned warp);
  /// True if all threads are done.
  bool isDone() const;

  //===--------------------------------------------------------------------===//
  // What coroutines ask
  //===--------------------------------------------------------------------===//

  /// The memory for the frame of a thread.
  void *getFrame(ThreadState &thread, uint64_t bytes);
  /// The thread has made the iterations of loops that it might; returns how
  /// many more it may, or none if it has to end.
  uint32_t poll(ThreadState &thread, uint32_t site);
  /// Lets the thread stop for a random time, which mostly is none.
  void delay(ThreadState &thread);

private:
  void resume(ThreadState &thread);
  uint32_t getIterations(const ThreadState &thread) const;

  Launch &launch;
  BlockState &block;
  FindingCollector &findings;
  std::vector<unsigned> warpOrder, laneOrder;
  std::optional<CellArray<uint8_t>> frames;
  uint64_t frameBytes = 0;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_SCHEDULER_H
