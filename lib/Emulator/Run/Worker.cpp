//===- Worker.cpp - Runs blocks, one after the other ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block runs in rounds. In each, all threads run that can, until all wait;
// then whoever waits is let go on that may. If nobody may, it is a deadlock.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::workgroup::emulator {

Worker::Worker(Launch &launch)
    : block(launch, *this), findings(launch, block), order(launch, block),
      memory(launch, block, findings, order),
      async(launch, block, findings, memory),
      warpgroups(launch, block, findings, memory),
      waits(launch.tables, block, async.getMBarriers(),
            warpgroups.getRegisters()),
      barriers(launch, block, findings, waits, counters),
      clusters(launch.tables, block, findings),
      warps(launch, block, findings, memory, warpgroups, counters),
      scheduler(launch, block, findings), launch(launch) {
  for (ThreadState &thread : block.threads)
    thread.cells = memory.getCells();
}

void Worker::run() {
  for (;;) {
    uint64_t next = launch.nextBlock++;
    if (next >= launch.numBlocks || launch.isOver ||
        launch.progress.stop.load(std::memory_order_relaxed))
      return;
    beginBlock(launch.getBlock(next));
    bool isComplete = runBlock();
    endBlock(isComplete);
    if (!isComplete)
      return;
    blocksRun += launch.blocksTogether;
    launch.progress.blocksDone.fetch_add(launch.blocksTogether,
                                         std::memory_order_relaxed);
  }
}

void Worker::beginBlock(uint64_t id) {
  if (block.begin(id))
    memory.clear();
  order.beginBlock();
  async.beginBlock();
  warpgroups.beginBlock();
  clusters.beginBlock();
  scheduler.beginBlock();
}

void Worker::endBlock(bool isComplete) {
  findings.settle();
  for (const ThreadState &thread : block.threads) {
    counters.instructions += thread.instructions;
    mostIterations = std::max(mostIterations, thread.iterations);
  }
  memory.flushLog();
  warpgroups.endBlock(isComplete);
  memory.endBlock(isComplete);
  async.endBlock(isComplete);
  barriers.endBlock();
}

/// Runs each thread that can until it waits for more than its warp, or the
/// launch is over. True if any has run.
bool Worker::runRound() {
  bool hasRun = false;
  scheduler.shuffle();
  for (unsigned warp : scheduler.getWarps()) {
    do {
      hasRun |= scheduler.runLanes(warp);
      if (launch.isOver)
        return hasRun;
    } while (warps.meet(warp));
  }
  return hasRun;
}

/// Runs threads until all are done. False if they cannot get there.
bool Worker::runBlock() {
  for (;;) {
    bool isMoving = runRound();
    if (launch.isOver)
      return false;
    findings.settle();
    if (scheduler.isDone())
      return true;
    memory.flushLog();
    isMoving |= barriers.open();
    isMoving |= warpgroups.getRegisters().grant();
    isMoving |= clusters.open();
    if (!launch.isOver)
      isMoving = async.advance(isMoving);
    if (!isMoving) {
      reportDeadlock();
      return false;
    }
    if (launch.isOver || launch.progress.stop.load(std::memory_order_relaxed))
      return false;
  }
}

void Worker::reportDeadlock() {
  const ThreadState *waiting =
      llvm::find_if(block.threads, [](const ThreadState &thread) {
        return thread.wait != Wait::Done;
      }).base();
  uint32_t site = launch.tables.operations[waiting->operation].site;
  findings.giveUp(*waiting, FindingKind::Deadlock, site, waits.describeAll());
}

} // namespace mlir::workgroup::emulator
