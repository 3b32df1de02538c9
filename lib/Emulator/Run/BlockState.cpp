//===- BlockState.cpp - The block that a worker runs ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the state of a block is made, once for each worker, and begun again for
// each block.
//
//===----------------------------------------------------------------------===//

#include "BlockState.h"
#include "llvm/Support/MathExtras.h"
#include <sys/mman.h>

namespace mlir::workgroup::emulator {

static uint8_t *mapWindow(unsigned numBlocks) {
  void *memory =
      mmap(nullptr, numBlocks * kSharedWindow, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t *>(memory);
}

BlockState::BlockState(const Launch &launch, Worker &worker)
    : threads(launch.getThreadsTogether()),
      clocks(threads.size(), launch.tables.hasAgents, launch.blocksTogether),
      window(mapWindow(launch.blocksTogether)), random(launch.request.seed),
      launch(launch), tables(launch.tables), ids(launch.blocksTogether) {
  for (BlockIds &own : ids)
    setSizes(own);
  unsigned perBlock = getThreadsPerBlock();
  for (unsigned i = 0; i < threads.size(); ++i) {
    ThreadState &thread = threads[i];
    thread = {};
    thread.rank = i / perBlock;
    thread.local = i % perBlock;
    thread.isAbsent = thread.local >= launch.threadsPerBlock;
    const BlockIds &own = ids[thread.rank];
    thread.shared = window + thread.rank * kSharedWindow;
    thread.arguments = launch.arguments.data();
    thread.parameters = launch.parameters.data();
    thread.ids = &own;
    thread.worker = &worker;
    thread.sharedEnd = launch.sharedEnd;
    thread.thread[0] = thread.local % own.size[0];
    thread.thread[1] = thread.local / own.size[0] % own.size[1];
    thread.thread[2] = thread.local / own.size[0] / own.size[1];
    thread.linear = i;
    thread.lane = thread.local % kWarpSize;
    thread.warp = thread.local / kWarpSize;
  }
}

BlockState::~BlockState() {
  if (window)
    munmap(window, ids.size() * kSharedWindow);
}

/// Sets what is the same for all blocks.
void BlockState::setSizes(BlockIds &own) const {
  for (unsigned i = 0; i < 3; ++i) {
    own.grid[i] = launch.request.grid[i];
    own.size[i] = launch.request.block[i];
    own.clusterSize[i] = launch.grid.cluster[i];
    own.numClusters[i] = own.grid[i] / own.clusterSize[i];
  }
  own.clusterBlocks = launch.grid.getClusterBlocks();
  own.hasClusters = launch.request.cluster || tables.cluster;
  own.dynamicBytes = launch.request.dynamicSharedBytes;
  own.numWarps = llvm::divideCeil(launch.threadsPerBlock, kWarpSize);
}

/// Sets the ids of a block in the grid and in its cluster.
void BlockState::place(unsigned rank) {
  BlockIds &own = ids[rank];
  std::array<uint32_t, 3> at =
      launch.grid.locate(launch.getBlockOf(number, rank));
  for (unsigned i = 0; i < 3; ++i) {
    own.block[i] = at[i];
    own.cluster[i] = at[i] / own.clusterSize[i];
    own.blockInCluster[i] = at[i] % own.clusterSize[i];
  }
  own.rankInCluster =
      (own.blockInCluster[2] * own.clusterSize[1] + own.blockInCluster[1]) *
          own.clusterSize[0] +
      own.blockInCluster[0];
}

bool BlockState::begin(uint64_t id) {
  number = id;
  for (unsigned rank = 0; rank < ids.size(); ++rank)
    place(rank);
  if (launch.request.order == Order::Seeded ||
      launch.request.asyncMode == AsyncMode::Seeded || launch.withDelays)
    random.seed(launch.request.seed * 0x9e3779b97f4a7c15 + id);
  bool beginsTimes = clocks.beginBlock();
  // Workgroup memory holds anything when a block begins: no zeros, no numbers.
  for (unsigned rank = 0; rank < ids.size(); ++rank)
    std::fill_n(window + rank * kSharedWindow, launch.sharedEnd, 0xff);
  lastBarrier = 0;
  setTimes();
  return beginsTimes;
}

void BlockState::setTimes() {
  uint32_t epoch = tables.hasPartialOrder ? 0 : clocks.getTime(0);
  for (ThreadState &thread : threads)
    thread.epoch = epoch;
}

uint32_t BlockState::findObject(uint64_t place) const {
  uint64_t offset = getOffset(place);
  for (uint32_t i = 1; i < tables.objects.size(); ++i) {
    const Object &object = tables.objects[i];
    bool isShared = object.kind == Object::Kind::Shared ||
                    object.kind == Object::Kind::Dynamic;
    uint64_t bytes = i == tables.dynamicObject
                         ? launch.request.dynamicSharedBytes
                         : object.bytes;
    if (isShared && offset - object.offset < bytes)
      return i;
  }
  return 0;
}

std::string BlockState::describeAddress(uint64_t place) const {
  uint64_t offset = getOffset(place);
  std::string where = ids.size() == 1 ? ""
                                      : " of the block of rank " +
                                            std::to_string(getRank(place));
  uint32_t found = findObject(place);
  if (found == 0)
    return "address " + std::to_string(offset) + where;
  const Object &object = tables.objects[found];
  std::string name = object.kind == Object::Kind::Dynamic
                         ? "dynamic workgroup memory"
                         : "@" + object.name;
  uint64_t distance = offset - object.offset;
  return (distance ? name + " + " + std::to_string(distance) : name) + where;
}

} // namespace mlir::workgroup::emulator
