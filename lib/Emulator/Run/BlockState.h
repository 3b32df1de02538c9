//===- BlockState.h - The block that a worker runs ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of one block: its threads, its workgroup memory, the clocks of its
// threads, and where it is in the grid. All parts of a worker look at it; each
// block that the worker takes uses it anew. Blocks of a cluster that work
// together run together: they are one here, of as many times the threads, and
// with a window of workgroup memory each.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_BLOCKSTATE_H
#define WORKGROUP_LIB_EMULATOR_RUN_BLOCKSTATE_H

#include "Emulator/State/Clocks.h"
#include "Launch.h"
#include <random>

namespace mlir::workgroup::emulator {

class BlockState {
public:
  BlockState(const Launch &launch, Worker &worker);
  ~BlockState();
  BlockState(const BlockState &) = delete;

  /// False if there is no memory for it.
  bool isReady() const { return window != nullptr; }

  /// Starts block, or cluster, `id` of the grid. Returns true if times start
  /// again at zero, after which records of them mean nothing.
  bool begin(uint64_t id);

  /// Sets the times that generated code compares with; none if it must not.
  void setTimes();

  unsigned getNumBlocks() const { return ids.size(); }
  /// The threads of each block, filled up to whole warps if there are several.
  unsigned getThreadsPerBlock() const { return threads.size() / ids.size(); }
  /// The linear id in the grid of the block of a thread.
  uint64_t getBlock(const ThreadState &thread) const {
    return launch.getBlockOf(number, thread.rank);
  }
  /// True if a thread of the block of that rank knows of `access`.
  bool isKnownIn(unsigned rank, Access access) const {
    unsigned perBlock = getThreadsPerBlock();
    return clocks.isKnownToAny(access, rank * perBlock, perBlock);
  }

  /// The object in workgroup memory that has `place`; 0 if none has.
  uint32_t findObject(uint64_t place) const;
  /// A place in workgroup memory in words, as `@buffer + 8`.
  std::string describeAddress(uint64_t place) const;

  std::vector<ThreadState> threads;
  Clocks clocks;
  /// The linear id in the grid, of a cluster among the clusters.
  uint64_t number = 0;
  /// The site of the last barrier that opened; 0 if none has.
  uint32_t lastBarrier = 0;
  /// Workgroup memory, by places; the first bytes of each block's are nobody's.
  uint8_t *const window;
  /// Of seeded orders of threads and of copies.
  std::mt19937_64 random;

private:
  void setSizes(BlockIds &own) const;
  void place(unsigned rank);

  const Launch &launch;
  const KernelTables &tables;
  /// Of each block.
  std::vector<BlockIds> ids;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_BLOCKSTATE_H
