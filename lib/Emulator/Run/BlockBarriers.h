//===- BlockBarriers.h - Where threads of a block meet -------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sixteen barriers of a block: `bar.sync`, with or without a count of
// threads, `bar.red`, and `bar.arrive`, which does not wait.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_BLOCKBARRIERS_H
#define WORKGROUP_LIB_EMULATOR_RUN_BLOCKBARRIERS_H

#include "Emulator/Shadow/Statistics.h"
#include "WaitReport.h"

namespace mlir::workgroup::emulator {

class BlockBarriers {
public:
  BlockBarriers(Launch &launch, BlockState &block, FindingCollector &findings,
                const WaitReport &waits, BlockCounters &counters)
      : tables(launch.tables), block(block), findings(findings), waits(waits),
        counters(counters), numThreads(launch.threadsPerBlock),
        arrivals(block.getNumBlocks() * kNumbers) {}

  /// Forgets arrivals that nobody has waited for.
  void endBlock();

  /// `thread` arrives at the barrier that its registers name, and goes on.
  void arrive(const ThreadState &thread);
  /// Lets threads through barriers that all they wait for have reached. True if
  /// there are any.
  bool open();

private:
  bool openCommon();
  bool openOf(unsigned rank);
  bool isReached(uint32_t id, llvm::ArrayRef<unsigned> waiting,
                 unsigned numLive);
  void open(uint32_t id, llvm::ArrayRef<unsigned> waiting);
  void checkAligned(llvm::ArrayRef<unsigned> waiting);
  void reducePredicates(llvm::ArrayRef<unsigned> waiting);

  /// Threads that arrived at a barrier without waiting for it.
  struct Arrivals {
    std::vector<unsigned> threads;
    Clocks::Meeting meeting;
  };

  Arrivals &getArrivals(unsigned rank, unsigned number) {
    return arrivals[rank * kNumbers + number];
  }

  static constexpr unsigned kNumbers = 16;

  const KernelTables &tables;
  BlockState &block;
  FindingCollector &findings;
  const WaitReport &waits;
  BlockCounters &counters;
  /// The threads of a block.
  unsigned numThreads;
  /// Of each block and number.
  std::vector<Arrivals> arrivals;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_BLOCKBARRIERS_H
