//===- AsyncEngine.h - What goes on by itself ----------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that goes on beside the threads of a block: copies, and the mbarriers
// that track them. It gives each operation that generated code executes to the
// part that does it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_ASYNCENGINE_H
#define WORKGROUP_LIB_EMULATOR_RUN_ASYNCENGINE_H

#include "BulkCopies.h"
#include "PhaseWaits.h"
#include "ThreadCopies.h"

namespace mlir::workgroup::emulator {

class AsyncEngine {
public:
  AsyncEngine(Launch &launch, BlockState &block, FindingCollector &findings,
              AccessChecker &memory);

  void beginBlock() { phases.beginBlock(); }
  /// Ends what is under way; the block may have run to its end, or not.
  void endBlock(bool isComplete);

  /// Does what an operation says that is for no other threads to join in.
  void execute(ThreadState &thread, uint32_t operation);
  /// Lets the asynchronous proxy know what `thread` has done.
  void fenceProxy(const ThreadState &thread, ProxyFence fence);
  /// PhaseWaits::advance, if there are phases.
  bool advance(bool isMoving) {
    return tables.hasMBarriers ? phases.advance(isMoving) : isMoving;
  }

  ThreadCopies &getThreadCopies() { return threadCopies; }
  const MBarrierTable &getMBarriers() const { return mbarriers; }

private:
  const KernelTables &tables;
  BlockState &block;
  MBarrierTable mbarriers;
  CopyFlights flights;
  ThreadCopies threadCopies;
  BulkCopies bulkCopies;
  PhaseWaits phases;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_ASYNCENGINE_H
