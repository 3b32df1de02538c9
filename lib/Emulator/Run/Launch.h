//===- Launch.h - What all workers of a launch share ---------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch as it runs: its request, its buffers and parameters, and which
// blocks are still to run. Workers read it; what they write is atomic or has a
// lock.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_LAUNCH_H
#define WORKGROUP_LIB_EMULATOR_RUN_LAUNCH_H

#include "Emulator/Isa/TensorMaps.h"
#include "Emulator/Shadow/ShadowMemory.h"
#include "Emulator/State/Publications.h"
#include "Emulator/State/Tables.h"
#include "Emulator/State/ThreadState.h"
#include "llvm/Support/MathExtras.h"
#include <deque>

namespace mlir::workgroup::emulator {

/// A buffer in global memory. Buffers that overlap share a shadow.
struct Buffer {
  uint8_t *base = nullptr;
  uint64_t bytes = 0;
  bool isWritable = true;
  std::shared_ptr<GlobalShadow> shadow;
  /// Where it begins in the shadow.
  uint64_t shadowOffset = 0;

  bool contains(const uint8_t *address) const {
    return address >= base && address < base + bytes;
  }
};

/// Where the accesses of a site have to be.
struct SiteBounds {
  /// In workgroup memory.
  uint64_t begin = kSharedBase, end = 0;
  /// Bits of an address that have to be zero.
  uint32_t misaligned = 0;
  /// In global memory, the number of the buffer plus one; 0 if any may be
  /// meant.
  uint32_t buffer = 0;

  bool contains(uint64_t offset, uint64_t bytes) const {
    return offset >= begin && offset <= end && bytes <= end - offset;
  }
};

/// The grid of a launch; without clusters, each block is one.
inline BlockGrid getGrid(const KernelTables &tables,
                         const LaunchRequest &request) {
  constexpr std::array<uint32_t, 3> kOne = {1, 1, 1};
  return {request.grid,
          request.cluster.value_or(tables.cluster.value_or(kOne))};
}

/// What all workers of a launch share.
struct Launch {
  Launch(const KernelTables &tables, const LaunchRequest &request,
         LaunchProgress &progress)
      : tables(tables), request(request), progress(progress),
        grid(getGrid(tables, request)) {}

  const KernelTables &tables;
  const LaunchRequest &request;
  LaunchProgress &progress;
  BlockGrid grid;
  Check check = Check::None;
  bool withStatistics = false;
  bool withDelays = false;
  /// Memory holds zeros in place of what kernels compute.
  bool withoutValues = false;
  /// Starts a thread: returns when the thread waits or is done.
  void *(*entry)(ThreadState *) = nullptr;
  std::vector<uint8_t> parameters;
  /// What each argument that is a pointer points to.
  std::vector<Bounds> arguments;
  /// The buffer of each of them.
  std::vector<uint32_t> argumentBuffers;
  std::vector<Buffer> buffers;
  /// Those that parameters are, which point to them.
  std::deque<TensorMap> tensorMaps;
  Publications publications;
  uint64_t sharedEnd = 0;
  std::vector<SiteBounds> siteBounds;
  unsigned threadsPerBlock = 0;
  /// Blocks that run together: those of a cluster, if they work together.
  unsigned blocksTogether = 1;
  uint64_t numBlocks = 0;
  /// The blocks, or clusters, to run; empty means those that the two numbers
  /// below tell.
  std::vector<uint64_t> blocks;
  /// The i-th block is (first + i * step) modulo their number: any order in
  /// which the step has no divisor in common with it.
  uint64_t firstBlock = 0, blockStep = 1, allBlocks = 1;
  std::atomic<uint64_t> nextBlock{0};
  /// A finding after which nothing sensible can follow.
  std::atomic<bool> isOver{false};

  bool checksRaces() const { return check != Check::None; }

  /// The threads that run together. Of several blocks, each begins with a warp.
  unsigned getThreadsTogether() const {
    return blocksTogether == 1
               ? threadsPerBlock
               : blocksTogether * llvm::alignTo(threadsPerBlock, kWarpSize);
  }
  /// The linear id of a block that runs with others, by their number and its
  /// rank among them.
  uint64_t getBlockOf(uint64_t number, unsigned rank) const {
    return blocksTogether == 1 ? number : grid.getBlock(number, rank);
  }

  uint64_t getBlock(uint64_t number) const {
    if (!blocks.empty())
      return blocks[number];
    using Wide = unsigned __int128;
    return uint64_t((Wide(number) * blockStep + firstBlock) % allBlocks);
  }
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_LAUNCH_H
