//===- ThreadState.h - What generated code knows of its thread  -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated code reads the fields by their offsets: the structures here have
// standard layout, and nothing of C++ in them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_STATE_THREADSTATE_H
#define WORKGROUP_LIB_EMULATOR_STATE_THREADSTATE_H

#include "Emulator/Isa/Warp.h"
#include <cstdint>

namespace mlir::workgroup::emulator {

class Worker;

/// Actors are the threads of a block, by their linear ids, and behind them the
/// agents: copies and products that go on by themselves once they are issued.
constexpr unsigned kActorBits = 12, kMaxAgents = 256;
constexpr unsigned kFirstAgent = (1u << kActorBits) - kMaxAgents;
/// Times of agents, which no barrier reaches, are later than those of threads.
constexpr uint32_t kFirstAgentTime = 1u << 31;

/// The thread that touched memory last, and the time on the clock of its block.
struct Access {
  uint32_t time = 0;
  /// The site, whether it was an asynchronous copy, and the actor.
  uint32_t who = 0;

  static Access make(uint32_t time, unsigned actor, uint32_t site,
                     bool isAsync = false) {
    return {time,
            site << (kActorBits + 1) | uint32_t(isAsync) << kActorBits | actor};
  }
  unsigned getActor() const { return who & ((1u << kActorBits) - 1); }
  uint32_t getSite() const { return who >> (kActorBits + 1); }
  bool isAsync() const { return who >> kActorBits & 1; }
  bool isByAgent() const { return getActor() >= kFirstAgent; }
};

/// Sites that fit beside an actor in an Access.
constexpr uint32_t kMaxSites = 1u << (31 - kActorBits);

/// The shadow of some bytes of workgroup memory. A write that is ordered before
/// all that follows can be forgotten, and so can all but two reads since: a
/// writer conflicts with some reader only if it conflicts with one of two
/// different ones.
struct SharedCell {
  Access write;
  Access reads[2];
  /// The time at which every further read is known to be harmless.
  uint32_t saturated = 0;
  /// Asynchronous copies into these bytes that are not waited for.
  uint16_t pending = 0;
  /// Writes that do not come after each other are in a side table: atomic
  /// updates, and plain ones that may have stored the same.
  uint8_t hasCoWriters = 0;
  /// More readers than two, none ordered before another, are in a side table.
  uint8_t hasMoreReads = 0;
};
static_assert(sizeof(SharedCell) == 32);

/// Bytes that a pointer argument points to.
struct Bounds {
  uint8_t *base;
  uint64_t bytes;
  /// As many, or none if it must not be written.
  uint64_t writableBytes;
};

/// Ids and sizes that all threads of a block share.
struct BlockIds {
  uint32_t block[3];
  uint32_t grid[3];
  uint32_t size[3];
  /// The cluster, how many there are, the block in it, and blocks per cluster.
  uint32_t cluster[3];
  uint32_t numClusters[3];
  uint32_t blockInCluster[3];
  uint32_t clusterSize[3];
  uint32_t rankInCluster;
  uint32_t clusterBlocks;
  /// The launch asks for clusters.
  uint32_t hasClusters;
  uint32_t dynamicBytes;
  uint32_t numWarps;
};

/// Why a thread does not run.
enum class Wait : uint32_t {
  None,
  Barrier,
  Warp,
  Phase,
  Registers,
  Cluster,
  Done
};

struct alignas(64) ThreadState {
  uint8_t *shared;
  SharedCell *cells;
  const Bounds *arguments;
  const uint8_t *parameters;
  const BlockIds *ids;
  void *frame;
  Worker *worker;
  /// Bytes of the shared window in use.
  uint64_t sharedEnd;
  uint64_t instructions;
  /// The time of the thread's accesses; 0 in generated code's eyes if reads
  /// cannot be saturated.
  uint32_t epoch;
  uint32_t thread[3];
  /// Linear id among the threads that run together: those of the block or, if
  /// its blocks work together, of the cluster.
  uint32_t linear;
  uint32_t lane, warp;
  Wait wait;
  uint32_t hasBegun;
  /// Turns that the thread is still to let pass.
  uint32_t delay;
  /// The operation that the thread waits at.
  uint32_t operation;
  /// Iterations of loops that it has made before it may make some more.
  uint64_t iterations;
  uint32_t iterationsAllowed;
  /// The rank of the block among those that run together, and the thread's
  /// linear id in it; no thread is there where warps are filled up.
  uint32_t rank, local;
  uint32_t isAbsent;
  /// Operands and results of operations.
  uint32_t registers[kRegisters];
};

/// The 64-bit operand in the registers from `index` on.
inline uint64_t getWide(const ThreadState &thread, unsigned index) {
  return uint64_t(thread.registers[index + 1]) << 32 | thread.registers[index];
}
/// Sets the 64-bit result.
inline void setWide(ThreadState &thread, uint64_t value) {
  thread.registers[0] = value;
  thread.registers[1] = value >> 32;
}

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_STATE_THREADSTATE_H
