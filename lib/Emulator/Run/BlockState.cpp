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

static uint8_t *mapWindow() {
  void *memory = mmap(nullptr, kSharedWindow, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t *>(memory);
}

BlockState::BlockState(const Launch &launch, Worker &worker)
    : threads(launch.threadsPerBlock),
      clocks(launch.threadsPerBlock, launch.tables.hasAgents),
      window(mapWindow()), random(launch.request.seed), launch(launch),
      tables(launch.tables) {
  setSizes();
  for (unsigned i = 0; i < threads.size(); ++i) {
    ThreadState &thread = threads[i];
    thread = {};
    thread.shared = window;
    thread.arguments = launch.arguments.data();
    thread.parameters = launch.parameters.data();
    thread.ids = &ids;
    thread.worker = &worker;
    thread.sharedEnd = launch.sharedEnd;
    thread.thread[0] = i % ids.size[0];
    thread.thread[1] = i / ids.size[0] % ids.size[1];
    thread.thread[2] = i / ids.size[0] / ids.size[1];
    thread.linear = i;
    thread.lane = i % kWarpSize;
    thread.warp = i / kWarpSize;
  }
}

BlockState::~BlockState() {
  if (window)
    munmap(window, kSharedWindow);
}

/// Sets what is the same for all blocks.
void BlockState::setSizes() {
  for (unsigned i = 0; i < 3; ++i) {
    ids.grid[i] = launch.request.grid[i];
    ids.size[i] = launch.request.block[i];
    ids.clusterSize[i] = launch.grid.cluster[i];
    ids.numClusters[i] = ids.grid[i] / ids.clusterSize[i];
  }
  ids.clusterBlocks = launch.grid.getClusterBlocks();
  ids.hasClusters = launch.request.cluster || tables.cluster;
  ids.dynamicBytes = launch.request.dynamicSharedBytes;
  ids.numWarps = llvm::divideCeil(launch.threadsPerBlock, kWarpSize);
}

/// Sets the ids of the block in the grid and in its cluster.
void BlockState::place() {
  std::array<uint32_t, 3> at = launch.grid.locate(number);
  for (unsigned i = 0; i < 3; ++i) {
    ids.block[i] = at[i];
    ids.cluster[i] = at[i] / ids.clusterSize[i];
    ids.blockInCluster[i] = at[i] % ids.clusterSize[i];
  }
  ids.rankInCluster =
      (ids.blockInCluster[2] * ids.clusterSize[1] + ids.blockInCluster[1]) *
          ids.clusterSize[0] +
      ids.blockInCluster[0];
}

bool BlockState::begin(uint64_t id) {
  number = id;
  place();
  if (launch.request.order == Order::Seeded ||
      launch.request.asyncMode == AsyncMode::Seeded)
    random.seed(launch.request.seed * 0x9e3779b97f4a7c15 + id);
  bool beginsTimes = clocks.beginBlock();
  // Workgroup memory holds anything when a block begins: no zeros, no numbers.
  std::fill(window, window + launch.sharedEnd, 0xff);
  lastBarrier = 0;
  setTimes();
  return beginsTimes;
}

void BlockState::setTimes() {
  uint32_t epoch = tables.hasPartialOrder ? 0 : clocks.getTime(0);
  for (ThreadState &thread : threads)
    thread.epoch = epoch;
}

uint32_t BlockState::findObject(uint64_t offset) const {
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

std::string BlockState::describeAddress(uint64_t offset) const {
  uint32_t found = findObject(offset);
  if (found == 0)
    return "address " + std::to_string(offset);
  const Object &object = tables.objects[found];
  std::string name = object.kind == Object::Kind::Dynamic
                         ? "dynamic workgroup memory"
                         : "@" + object.name;
  uint64_t distance = offset - object.offset;
  return distance ? name + " + " + std::to_string(distance) : name;
}

} // namespace mlir::workgroup::emulator
