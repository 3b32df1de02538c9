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
// A copy that goes on by itself is an agent with a time of its own, which a
// thread knows of once it, or one that it comes after, has waited for the copy;
// no barrier alone makes it known. Such copies access memory by the
// asynchronous proxy: what threads did there before has to be covered by a
// proxy fence of theirs, and what these cover goes the ways that times go.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_STATE_CLOCKS_H
#define WORKGROUP_LIB_EMULATOR_STATE_CLOCKS_H

#include "Scopes.h"
#include "ThreadState.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace mlir::workgroup::emulator {

/// A vector of times for each thread that has got one.
class VectorTable {
public:
  VectorTable(unsigned numThreads, unsigned width)
      : width(width), isSet(numThreads) {}

  bool has(unsigned thread) const { return isSet[thread]; }
  const uint32_t *get(unsigned thread) const {
    return &times[size_t(thread) * width];
  }
  /// The times of `thread`, by `initialize` if it had none.
  template <typename Function>
  uint32_t *make(unsigned thread, Function initialize) {
    if (times.empty())
      times.resize(size_t(width) * isSet.size());
    uint32_t *vector = &times[size_t(thread) * width];
    if (!isSet[thread])
      initialize(vector);
    isSet[thread] = 1;
    return vector;
  }
  void erase(unsigned thread) { isSet[thread] = 0; }
  void clear() { std::fill(isSet.begin(), isSet.end(), 0); }

private:
  unsigned width;
  std::vector<uint32_t> times;
  std::vector<uint8_t> isSet;
};

/// A memory that a proxy fence is about.
enum class ProxyMemory { Shared, Global };

class Clocks {
public:
  /// The times that threads know of one another at a point where they meet.
  using Meeting = std::vector<uint32_t>;

  /// `hasAgents` if there are any, and with them proxies. Threads are of one
  /// block, or as many each of several.
  Clocks(unsigned numThreads, bool hasAgents, unsigned numBlocks = 1);

  /// Starts a block: nothing before it matters. Returns true if the time had
  /// to start again at zero, after which records of it mean nothing.
  bool beginBlock();

  /// The time of the accesses of a thread.
  uint32_t getTime(unsigned thread) const { return times[thread]; }

  /// True for what was done before the block began.
  bool isStale(Access access) const {
    return access.time < start ||
           (access.time >= kFirstAgentTime && access.time <= agentStart);
  }

  /// The times that `thread` knows of the others; empty if it is the base for
  /// all.
  Meeting copyVector(unsigned thread) const;
  /// The place of an actor in such a vector.
  unsigned getIndex(unsigned actor) const {
    return actor < kFirstAgent ? actor : numFixed + (actor - kFirstAgent);
  }

  /// Accesses up to this time are ordered before all that follows.
  uint32_t getBase() const { return base; }

  /// True if `access` is ordered before what `thread` does now.
  bool isOrdered(Access access, unsigned thread) const {
    unsigned other = access.getActor();
    if (access.time <= base || other == thread)
      return true;
    if (vectors.has(thread))
      return access.time <= vectors.get(thread)[getIndex(other)];
    return access.isByAgent() && access.time <= bases[getIndex(other)];
  }

  /// The stamp that `thread` knows of other blocks (Publications).
  uint32_t getKnown(unsigned thread) const {
    return vectors.has(thread) ? vectors.get(thread)[numThreads]
                               : bases[numThreads];
  }
  void raiseKnown(unsigned thread, uint32_t stamp);

  /// Orders all that was before all that follows.
  void synchronizeAll();

  /// Orders what each of `threads` knows of before what each does next.
  void synchronize(llvm::ArrayRef<unsigned> threads);

  /// Arrives somewhere: `meeting` comes to know what `thread` knows.
  void release(unsigned thread, Meeting &meeting);
  /// The counterpart of `release`.
  void acquire(unsigned thread, const Meeting &meeting);

  /// Lets a thread that is none stand for `threads`, as one that knows what all
  /// of them know. Returns its number, good until the next call.
  unsigned meet(llvm::ArrayRef<unsigned> threads);

  /// Lanes of a warp exchange values, each at the exchange of a number, or of 0
  /// where none is to be known: that takes what they were read from. No memory
  /// is ordered by it, but the reads are over.
  void exchangeValues(llvm::ArrayRef<unsigned> threads,
                      llvm::ArrayRef<uint32_t> exchanges);

  /// True if a read is over for `thread`: what it `feeds` has an exchange that
  /// the thread's write `follows`, and that both have come to since.
  bool isConsumed(Access read, unsigned thread, const llvm::BitVector &feeds,
                  const llvm::BitVector &follows) const;

  /// An atomic operation on `address`: it may continue what earlier ones at the
  /// same address began.
  void orderAt(uint64_t address, unsigned thread, AtomicOrder order);

  /// A fence, which lets relaxed operations around it order.
  void fence(unsigned thread);

  //===--------------------------------------------------------------------===//
  // Agents
  //===--------------------------------------------------------------------===//

  /// Begins a copy that `thread` issues; what it accesses is at odds with all
  /// that does not come to know of it.
  Access beginAgent(unsigned thread, uint32_t site);
  /// The copy is complete: whoever takes from `meeting` knows of it.
  void finishAgent(Access agent, Meeting &meeting);
  /// `thread` knows that the copy is complete.
  void learn(unsigned thread, Access agent);
  /// True if any of some threads knows of an access.
  bool isKnownToAny(Access access, unsigned first, unsigned count) const;
  /// The thread that did it, or issued it.
  unsigned getThread(Access access) const {
    return access.isByAgent() ? issuers[access.getActor() - kFirstAgent]
                              : access.getActor();
  }

  /// The smallest scope that two threads, by what they do, have in common.
  Scope getDistance(unsigned thread, Access other) const {
    return numBlocks == 1 || thread / threadsPerBlock ==
                                 getThread(other) / threadsPerBlock
               ? Scope::Block
               : Scope::Cluster;
  }

  /// Orders what `thread` did up to now in `memory` before what the
  /// asynchronous proxy does for threads that come after it.
  void fenceProxy(unsigned thread, ProxyMemory memory);
  /// True if such a fence lies between `access`, of a thread to `memory`, and
  /// what `thread` issues now.
  bool isCovered(Access access, unsigned thread, ProxyMemory memory) const;

private:
  uint32_t *makeVector(unsigned thread) {
    hasVectors = true;
    return vectors.make(thread, [&](uint32_t *vector) {
      std::copy(bases.begin(), bases.end(), vector);
      std::fill_n(vector, numThreads, base);
    });
  }
  void join(uint32_t *into, const uint32_t *from) const;
  void tick(unsigned thread);
  /// The place in a vector of what entry `fence` of `fenced` is.
  unsigned getProxyIndex(unsigned fence) const {
    return numThreads + 1 + fence;
  }
  unsigned getFence(unsigned thread, ProxyMemory memory) const {
    return memory == ProxyMemory::Shared ? thread : numThreads + thread;
  }

  /// What `thread` knows, itself included.
  Meeting getKnowledge(unsigned thread) const;

  unsigned numThreads;
  unsigned numBlocks, threadsPerBlock;
  bool hasAgents;
  /// Entries of a vector that are no agents: the time of each thread, a stamp
  /// of what is known of other blocks, and what proxy fences of each thread
  /// cover.
  unsigned numFixed;
  uint32_t now = 0, base = 0, start = 0;
  std::vector<uint32_t> times;
  /// The vector of a thread that has none of its own: what all threads know of
  /// agents, proxy fences and other blocks. The times of threads have `base`
  /// instead.
  Meeting bases;
  /// The times that each thread knows of the others; the bases, if it has none.
  VectorTable vectors;
  bool hasVectors = false;
  /// The times that the last fence of a thread covers, and those that relaxed
  /// operations have seen since.
  VectorTable covered, seen;
  /// Of an exchange, per thread and lane of its warp: the time up to which
  /// reads that went into it are over. Empty until lanes come to it.
  std::vector<std::vector<uint32_t>> consumed;
  llvm::DenseMap<uint64_t, Meeting> meetings;
  /// The time that the last proxy fence of each thread covers, of workgroup
  /// memory and then of global memory.
  std::vector<uint32_t> fenced;
  /// The thread that each agent belongs to, and the time of its last copy.
  std::vector<unsigned> issuers;
  std::vector<uint32_t> lastTimes;
  uint32_t agentNow = kFirstAgentTime, agentStart = kFirstAgentTime;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_STATE_CLOCKS_H
