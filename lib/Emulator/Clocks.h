//===- Clocks.h - Which accesses of a block are ordered ------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks (Flanagan, Freund: FastTrack, PLDI 2009), with one time for the
// whole block: a barrier of all threads moves a common base and costs nothing
// per thread. Threads have vectors of their own only from a partial barrier, or
// an atomic operation that orders, to the next barrier of all threads.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_EMULATOR_CLOCKS_H
#define WORKGROUP_EMULATOR_CLOCKS_H

#include "ThreadState.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace mlir::workgroup::emulator {

class Clocks {
public:
  explicit Clocks(unsigned numThreads);

  /// Starts a block: nothing before it matters. Returns true if the time had
  /// to start again at zero, after which records of it mean nothing.
  bool beginBlock();

  /// The time of the accesses of a thread.
  uint32_t getTime(unsigned thread) const { return times[thread]; }

  /// When the block began.
  uint32_t getStart() const { return start; }

  /// What `thread` knows of the others; empty if it is the base for all.
  std::vector<uint32_t> copyVector(unsigned thread) const {
    if (!hasVector[thread])
      return {};
    return {getVector(thread), getVector(thread) + numThreads};
  }

  /// Accesses up to this time are ordered before all that follows.
  uint32_t getBase() const { return base; }

  /// True if `access` is ordered before what `thread` does now.
  bool isOrdered(Access access, unsigned thread) const {
    unsigned other = access.getThread();
    return access.time <= base || other == thread ||
           (hasVector[thread] && access.time <= getVector(thread)[other]);
  }

  /// Orders all that was before all that follows.
  void synchronizeAll();

  /// Orders what each of `threads` knows of before what each does next.
  void synchronize(llvm::ArrayRef<unsigned> threads);

  /// Arrives somewhere: `meeting` comes to know what `thread` knows.
  void release(unsigned thread, std::vector<uint32_t> &meeting);
  /// The counterpart of `release`.
  void acquire(unsigned thread, const std::vector<uint32_t> &meeting);

  /// Lanes of a warp exchange values, which takes what they were read from: no
  /// memory is ordered by it, but the reads are over.
  void exchangeValues(llvm::ArrayRef<unsigned> threads);

  /// True if a read whose value went into such an exchange is over for
  /// `thread`.
  bool isConsumed(Access read, unsigned thread) const {
    unsigned other = read.getThread();
    return other / kWarpSize == thread / kWarpSize &&
           read.time <= consumed[thread * kWarpSize + other % kWarpSize];
  }

  /// An atomic operation on `address` that orders: it continues what earlier
  /// ones at the same address began.
  void orderAt(uint64_t address, unsigned thread);

private:
  const uint32_t *getVector(unsigned thread) const {
    return &vectors[size_t(thread) * numThreads];
  }
  uint32_t *makeVector(unsigned thread);
  void tick(unsigned thread);

  unsigned numThreads;
  uint32_t now = 0, base = 0, start = 0;
  std::vector<uint32_t> times;
  std::vector<uint32_t> vectors;
  std::vector<uint8_t> hasVector;
  /// Per thread and lane of its warp: the time up to which reads are over.
  std::vector<uint32_t> consumed;
  llvm::DenseMap<uint64_t, std::vector<uint32_t>> meetings;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_EMULATOR_CLOCKS_H
