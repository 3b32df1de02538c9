//===- Scheduler.cpp - Which thread of a block runs -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frames of coroutines are made when the first thread asks for its own, and
// kept for all blocks.
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup::emulator {

Scheduler::Scheduler(Launch &launch, BlockState &block,
                     FindingCollector &findings)
    : launch(launch), block(block), findings(findings),
      warpOrder(llvm::divideCeil(block.threads.size(), kWarpSize)),
      laneOrder(kWarpSize) {
  std::iota(warpOrder.begin(), warpOrder.end(), 0);
  std::iota(laneOrder.begin(), laneOrder.end(), 0);
  if (launch.request.order == Order::Reverse) {
    std::reverse(warpOrder.begin(), warpOrder.end());
    std::reverse(laneOrder.begin(), laneOrder.end());
  }
}

void Scheduler::beginBlock() {
  for (ThreadState &thread : block.threads) {
    thread.wait = thread.isAbsent ? Wait::Done : Wait::None;
    thread.hasBegun = false;
    thread.delay = 0;
    thread.iterations = 0;
    thread.iterationsAllowed = getIterations(thread);
    thread.instructions = 0;
  }
}

void Scheduler::shuffle() {
  if (launch.request.order != Order::Seeded)
    return;
  std::shuffle(warpOrder.begin(), warpOrder.end(), block.random);
  std::shuffle(laneOrder.begin(), laneOrder.end(), block.random);
}

bool Scheduler::runLanes(unsigned warp) {
  std::vector<ThreadState> &threads = block.threads;
  bool hasRun = false;
  for (unsigned lane : laneOrder) {
    unsigned index = warp * kWarpSize + lane;
    if (index >= threads.size() || threads[index].wait != Wait::None)
      continue;
    hasRun = true;
    if (threads[index].delay != 0) {
      --threads[index].delay;
      continue;
    }
    resume(threads[index]);
    if (launch.isOver)
      break;
  }
  return hasRun;
}

bool Scheduler::isDone() const {
  return llvm::all_of(block.threads, [](const ThreadState &thread) {
    return thread.wait == Wait::Done;
  });
}

void Scheduler::resume(ThreadState &thread) {
  if (!thread.hasBegun) {
    thread.hasBegun = true;
    launch.entry(&thread);
    return;
  }
  // The first word of a coroutine's frame is the function that goes on.
  (*static_cast<void (**)(void *)>(thread.frame))(thread.frame);
}

void *Scheduler::getFrame(ThreadState &thread, uint64_t bytes) {
  if (!frames) {
    frameBytes = llvm::alignTo(bytes, 64);
    frames.emplace(frameBytes * block.threads.size());
  }
  thread.frame = frames->data() + frameBytes * thread.linear;
  return thread.frame;
}

uint32_t Scheduler::getIterations(const ThreadState &thread) const {
  uint64_t iterations = launch.tables.getIterationsPerPoll();
  uint64_t limit = launch.request.stepLimit;
  return limit ? std::min(iterations, limit - thread.iterations) : iterations;
}

uint32_t Scheduler::poll(ThreadState &thread, uint32_t site) {
  thread.iterations += thread.iterationsAllowed;
  uint64_t limit = launch.request.stepLimit;
  if (limit && thread.iterations >= limit)
    findings.giveUp(thread, FindingKind::StepLimit, site);
  if (launch.isOver || launch.progress.stop.load(std::memory_order_relaxed))
    return 0;
  thread.iterationsAllowed = getIterations(thread);
  return thread.iterationsAllowed;
}

/// One of four threads stops; half of these for a turn or two, some for as long
/// as others take to do all that they do.
void Scheduler::delay(ThreadState &thread) {
  constexpr unsigned kMostDoublings = 7;
  std::mt19937_64 &random = block.random;
  if (random() % 4 == 0)
    thread.delay = 1 + random() % (uint64_t(2) << random() % kMostDoublings);
}

} // namespace mlir::workgroup::emulator
