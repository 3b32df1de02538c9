//===- PhaseWaits.h - Threads that wait for phases ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When threads that wait at mbarriers go on, and when copies under way land for
// them to do so.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_PHASEWAITS_H
#define WORKGROUP_LIB_EMULATOR_RUN_PHASEWAITS_H

#include "CopyFlights.h"

namespace mlir::workgroup::emulator {

class PhaseWaits {
public:
  PhaseWaits(Launch &launch, BlockState &block, MBarrierTable &mbarriers,
             CopyFlights &flights)
      : launch(launch), block(block), mbarriers(mbarriers), flights(flights) {}

  void beginBlock() { idleRounds = busyRounds = 0; }

  /// Moves copies and phases on after a round of the threads, in which any may
  /// have gone on (`isMoving`). What is under way arrives when nothing else can
  /// happen, or at some time before: threads may loop until one goes on that
  /// waits for it. True if any thread may go on.
  bool advance(bool isMoving);

private:
  bool wakeWaiters();
  bool endTests();

  Launch &launch;
  BlockState &block;
  MBarrierTable &mbarriers;
  CopyFlights &flights;
  /// Rounds in a row in which nothing happened but tests of phases, and in
  /// which threads ran but no phase that is waited for was over.
  unsigned idleRounds = 0, busyRounds = 0;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_PHASEWAITS_H
