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

/// What an atomic operation does to the order of other accesses.
///
/// PTX ISA, "Memory Consistency Model": one that is relaxed makes known what
/// the last fence before it covers, and what it sees is known from the next
/// fence on.
struct AtomicOrder {
  bool reads = false, writes = false;
  bool acquires = false, releases = false;
  /// A fence comes before it.
  bool isSequential = false;
  /// Threads of other blocks take part.
  bool isDeviceWide = false;
};

/// A time of each thread and, last, a stamp of what is known of other blocks,
/// for the threads that have got them.
class VectorTable {
public:
  explicit VectorTable(unsigned numThreads)
      : width(numThreads + 1), isSet(numThreads) {}

  bool has(unsigned thread) const { return isSet[thread]; }
  const uint32_t *get(unsigned thread) const {
    return &times[size_t(thread) * width];
  }
  /// The times of `thread`; all of them `initial`, with stamp `known`, if it
  /// had none.
  uint32_t *make(unsigned thread, uint32_t initial, uint32_t known);
  void erase(unsigned thread) { isSet[thread] = 0; }
  void clear() { std::fill(isSet.begin(), isSet.end(), 0); }

private:
  unsigned width;
  std::vector<uint32_t> times;
  std::vector<uint8_t> isSet;
};

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
    if (!vectors.has(thread))
      return {};
    return {vectors.get(thread), vectors.get(thread) + numThreads};
  }

  /// Accesses up to this time are ordered before all that follows.
  uint32_t getBase() const { return base; }

  /// True if `access` is ordered before what `thread` does now.
  bool isOrdered(Access access, unsigned thread) const {
    unsigned other = access.getThread();
    return access.time <= base || other == thread ||
           (vectors.has(thread) && access.time <= vectors.get(thread)[other]);
  }

  /// What `thread` knows of other blocks: a stamp of Publications.
  uint32_t getKnown(unsigned thread) const {
    return vectors.has(thread) ? vectors.get(thread)[numThreads] : baseKnown;
  }
  void raiseKnown(unsigned thread, uint32_t stamp);

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

  /// An atomic operation on `address`: it may continue what earlier ones at the
  /// same address began.
  void orderAt(uint64_t address, unsigned thread, AtomicOrder order);

  /// A fence, which lets relaxed operations around it order.
  void fence(unsigned thread);

private:
  uint32_t *makeVector(unsigned thread) {
    hasVectors = true;
    return vectors.make(thread, base, baseKnown);
  }
  void join(uint32_t *into, const uint32_t *from) const;
  void tick(unsigned thread);

  unsigned numThreads;
  uint32_t now = 0, base = 0, start = 0;
  std::vector<uint32_t> times;
  /// What each thread knows of the others; the base, if it has none.
  VectorTable vectors;
  bool hasVectors = false;
  uint32_t baseKnown = 0;
  /// What the last fence of a thread covers, and what relaxed operations have
  /// seen since.
  VectorTable covered, seen;
  /// Per thread and lane of its warp: the time up to which reads are over.
  std::vector<uint32_t> consumed;
  llvm::DenseMap<uint64_t, std::vector<uint32_t>> meetings;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_EMULATOR_CLOCKS_H
