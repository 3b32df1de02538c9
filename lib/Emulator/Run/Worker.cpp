//===- Worker.cpp - Runs blocks, one after the other ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <sys/mman.h>

namespace mlir::workgroup::emulator {

static uint8_t *mapWindow() {
  void *memory = mmap(nullptr, kSharedWindow, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t *>(memory);
}

Worker::Worker(Launch &launch)
    : accessLog(launch.tables, launch.threadsPerBlock),
      reached(launch.tables.sites.size()), launch(launch),
      tables(launch.tables), threads(launch.threadsPerBlock),
      numWarps(llvm::divideCeil(launch.threadsPerBlock, kWarpSize)),
      clocks(launch.threadsPerBlock, launch.tables.hasAgents),
      shadow(launch.tables, clocks), window(mapWindow()),
      copies(launch.threadsPerBlock),
      stores(launch.tables.hasAgents ? launch.threadsPerBlock : 0),
      random(launch.request.seed), knowledge(launch.threadsPerBlock) {
  for (unsigned i = 0; i < 3; ++i) {
    ids.grid[i] = launch.request.grid[i];
    ids.size[i] = launch.request.block[i];
    ids.clusterSize[i] = launch.grid.cluster[i];
    ids.numClusters[i] = ids.grid[i] / ids.clusterSize[i];
  }
  ids.clusterBlocks = launch.grid.getClusterBlocks();
  ids.hasClusters = launch.request.cluster || tables.cluster;
  ids.dynamicBytes = launch.request.dynamicSharedBytes;
  ids.numWarps = numWarps;
  for (unsigned i = 0; i < threads.size(); ++i) {
    ThreadState &thread = threads[i];
    thread = {};
    thread.shared = window;
    thread.cells = shadow.getCells();
    thread.arguments = launch.arguments.data();
    thread.parameters = launch.parameters.data();
    thread.ids = &ids;
    thread.worker = this;
    thread.sharedEnd = launch.sharedEnd;
    thread.thread[0] = i % ids.size[0];
    thread.thread[1] = i / ids.size[0] % ids.size[1];
    thread.thread[2] = i / ids.size[0] / ids.size[1];
    thread.linear = i;
    thread.lane = i % kWarpSize;
    thread.warp = i / kWarpSize;
  }
  warpOrder.resize(numWarps);
  laneOrder.resize(kWarpSize);
  std::iota(warpOrder.begin(), warpOrder.end(), 0);
  std::iota(laneOrder.begin(), laneOrder.end(), 0);
  if (launch.request.order == Order::Reverse) {
    std::reverse(warpOrder.begin(), warpOrder.end());
    std::reverse(laneOrder.begin(), laneOrder.end());
  }
}

Worker::~Worker() {
  if (window)
    munmap(window, kSharedWindow);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Worker::run() {
  for (;;) {
    uint64_t next = launch.nextBlock++;
    if (next >= launch.numBlocks || launch.isOver ||
        launch.progress.stop.load(std::memory_order_relaxed))
      return;
    uint64_t id = launch.getBlock(next);
    beginBlock(id);
    bool isComplete = runBlock();
    endBlock(isComplete);
    if (!isComplete)
      return;
    ++blocksRun;
    launch.progress.blocksDone.fetch_add(1, std::memory_order_relaxed);
  }
}

uint32_t Worker::getIterations(const ThreadState &thread) const {
  uint64_t iterations = tables.getIterationsPerPoll();
  uint64_t limit = launch.request.stepLimit;
  return limit ? std::min(iterations, limit - thread.iterations) : iterations;
}

/// Sets the ids of the block in the grid and in its cluster.
void Worker::placeBlock() {
  std::array<uint32_t, 3> at = launch.grid.locate(block);
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

void Worker::beginBlock(uint64_t id) {
  block = id;
  placeBlock();
  if (launch.request.order == Order::Seeded ||
      launch.request.asyncMode == AsyncMode::Seeded)
    random.seed(launch.request.seed * 0x9e3779b97f4a7c15 + id);
  if (clocks.beginBlock())
    shadow.clear();
  // Workgroup memory holds anything when a block begins: no zeros, no numbers.
  std::fill(window, window + launch.sharedEnd, 0xff);
  std::fill(knowledge.begin(), knowledge.end(), Knowledge());
  lastBarrier = 0;
  idleRounds = busyRounds = 0;
  for (ThreadState &thread : threads) {
    thread.wait = Wait::None;
    thread.hasBegun = false;
    thread.iterations = 0;
    thread.iterationsAllowed = getIterations(thread);
    thread.instructions = 0;
  }
  setTimes();
}

void Worker::endBlock(bool isComplete) {
  settle();
  for (ThreadState &thread : threads) {
    counters.instructions += thread.instructions;
    mostIterations = std::max(mostIterations, thread.iterations);
  }
  if (launch.withStatistics)
    accessLog.flush();
  if (tables.hasAgents)
    endCopies(isComplete);
  mbarriers.clear();
  unfenced.clear();
  for (unsigned i = 0; i < copies.size(); ++i)
    if (!copies[i].empty()) {
      commitCopies(threads[i]); // they arrive, too late for anyone
      waitForCopies(threads[i], 0);
    }
  for (Arrivals &arrival : arrivals)
    arrival = {};
}

/// The times that generated code compares with; none if it must not.
void Worker::setTimes() {
  uint32_t epoch = tables.hasPartialOrder ? 0 : clocks.getTime(0);
  for (ThreadState &thread : threads)
    thread.epoch = epoch;
}

void Worker::shuffle() {
  if (launch.request.order != Order::Seeded)
    return;
  std::shuffle(warpOrder.begin(), warpOrder.end(), random);
  std::shuffle(laneOrder.begin(), laneOrder.end(), random);
}

/// Runs threads until all are done. False if they cannot get there.
bool Worker::runBlock() {
  for (;;) {
    shuffle();
    bool hasRun = false;
    for (unsigned warp : warpOrder) {
      do {
        hasRun |= runLanes(warp);
        if (launch.isOver)
          return false;
      } while (meetLanes(warp));
    }
    settle();
    if (llvm::all_of(threads, [](const ThreadState &thread) {
          return thread.wait == Wait::Done;
        }))
      return !launch.isOver;
    if (launch.withStatistics)
      accessLog.flush();
    bool isMoving = openBarriers() || hasRun;
    if (tables.hasMBarriers && !launch.isOver)
      isMoving = advancePhases(isMoving);
    if (!isMoving) {
      reportDeadlock();
      return false;
    }
    if (launch.isOver || launch.progress.stop.load(std::memory_order_relaxed))
      return false;
  }
}

/// Runs the lanes of a warp that can run, each until it waits. True if any did.
bool Worker::runLanes(unsigned warp) {
  bool hasRun = false;
  for (unsigned lane : laneOrder) {
    unsigned index = warp * kWarpSize + lane;
    if (index >= threads.size() || threads[index].wait != Wait::None)
      continue;
    resume(threads[index]);
    hasRun = true;
    if (launch.isOver)
      break;
  }
  return hasRun;
}

void Worker::resume(ThreadState &thread) {
  if (!thread.hasBegun) {
    thread.hasBegun = true;
    launch.entry(&thread);
    return;
  }
  // The first word of a coroutine's frame is the function that goes on.
  (*static_cast<void (**)(void *)>(thread.frame))(thread.frame);
}

void *Worker::getFrame(ThreadState &thread, uint64_t bytes) {
  if (!frames) {
    frameBytes = llvm::alignTo(bytes, 64);
    frames.emplace(frameBytes * threads.size());
  }
  thread.frame = frames->data() + frameBytes * thread.linear;
  return thread.frame;
}

uint32_t Worker::poll(ThreadState &thread, uint32_t site) {
  thread.iterations += thread.iterationsAllowed;
  uint64_t limit = launch.request.stepLimit;
  if (limit && thread.iterations >= limit)
    giveUp(thread, FindingKind::StepLimit, site);
  if (launch.isOver || launch.progress.stop.load(std::memory_order_relaxed))
    return 0;
  thread.iterationsAllowed = getIterations(thread);
  return thread.iterationsAllowed;
}

} // namespace mlir::workgroup::emulator
