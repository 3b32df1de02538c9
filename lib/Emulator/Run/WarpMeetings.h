//===- WarpMeetings.h - What lanes of a warp do together ------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes wait at a warp operation for those that its mask names, at a matrix
// operation for all. When they have come, the operation is executed on the
// registers of all, and they go on.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_WARPMEETINGS_H
#define WORKGROUP_LIB_EMULATOR_RUN_WARPMEETINGS_H

#include "Warpgroups.h"

namespace mlir::workgroup::emulator {

class WarpMeetings {
public:
  WarpMeetings(Launch &launch, BlockState &block, FindingCollector &findings,
               AccessChecker &memory, Warpgroups &warpgroups,
               BlockCounters &counters)
      : launch(launch), tables(launch.tables), block(block), findings(findings),
        memory(memory), warpgroups(warpgroups), counters(counters) {}

  /// Executes what lanes of a warp wait to do together. True if any can go on.
  bool meet(unsigned warp);

private:
  uint32_t getConverged(unsigned warp, unsigned lane);
  uint32_t getGroup(unsigned warp, unsigned lane);
  void execute(unsigned warp, uint32_t lanes);
  void executeMatrix(unsigned warp, uint32_t lanes, const Operation &operation);
  void checkRow(const ThreadState &thread, const Operation &operation);
  void checkFragment(const ThreadState &thread, const Operation &operation);

  Launch &launch;
  const KernelTables &tables;
  BlockState &block;
  FindingCollector &findings;
  AccessChecker &memory;
  Warpgroups &warpgroups;
  BlockCounters &counters;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_WARPMEETINGS_H
