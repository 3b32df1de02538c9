//===- Scopes.h - Whom an atomic operation reaches ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Memory Consistency Model": two atomic operations of different
// threads are at odds unless each is of a scope that the other thread is in,
// and both are of the very same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_STATE_SCOPES_H
#define WORKGROUP_LIB_EMULATOR_STATE_SCOPES_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>

namespace mlir::workgroup::emulator {

/// The threads that an operation is atomic to, or that a fence orders for: none
/// but its own, those of its block, of its cluster, or of the launch. Each is
/// part of the next. All of a launch are on one device.
enum class Scope : uint8_t { Thread, Block, Cluster, Device };

/// The name that LLVM has for a scope.
llvm::StringRef getName(Scope scope);

/// The effect of an atomic operation on the order of other accesses. A relaxed
/// operation makes known what the last fence before it covers, and what it sees
/// is known from the next fence on.
struct AtomicOrder {
  bool reads = false, writes = false;
  bool acquires = false, releases = false;
  /// A fence comes before it.
  bool isSequential = false;
  Scope scope = Scope::Thread;
  /// Bytes that are accessed at once: those of an element of a vector.
  unsigned width = 0;

  bool isDeviceWide() const { return scope == Scope::Device; }
};

/// The grid of a launch, and how its blocks are grouped into clusters.
struct BlockGrid {
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  /// Blocks per cluster.
  std::array<uint32_t, 3> cluster = {1, 1, 1};

  /// The place of the block with a linear id.
  std::array<uint32_t, 3> locate(uint64_t block) const;
  /// The smallest scope that the threads of two blocks have in common.
  Scope getDistance(uint64_t block, uint64_t other) const;
  /// The linear ids of a cluster and of the block of a rank in it, and back.
  uint64_t getBlock(uint64_t cluster, unsigned rank) const;
  uint64_t getCluster(uint64_t block) const;
  uint32_t getClusterBlocks() const {
    return cluster[0] * cluster[1] * cluster[2];
  }
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_STATE_SCOPES_H
