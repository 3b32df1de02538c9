//===- RegisterPool.cpp - The registers of a block ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A multiprocessor has 65,536 registers; ptxas gives a thread as many as the
// blocks that the kernel is compiled for leave, in pieces of eight.
//
//===----------------------------------------------------------------------===//

#include "RegisterPool.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup::emulator {

static constexpr uint32_t kPiece = 8, kLeast = 24, kMost = 256;

static uint32_t getInitial(const Launch &launch) {
  constexpr uint64_t kRegistersOfMultiprocessor = 65536;
  if (launch.tables.maxRegisters)
    return *launch.tables.maxRegisters;
  uint64_t threads = llvm::alignTo(launch.threadsPerBlock, kWarpSize) *
                     launch.tables.minBlocks.value_or(1);
  return std::min<uint64_t>(kMost, kRegistersOfMultiprocessor / threads /
                                       kPiece * kPiece);
}

RegisterPool::RegisterPool(const Launch &launch, BlockState &block,
                           FindingCollector &findings)
    : block(block), findings(findings), initial(getInitial(launch)),
      held(llvm::divideCeil(block.threads.size(), kWarpSize)),
      wanted(held.size()), numFree(block.getNumBlocks()) {}

void RegisterPool::beginBlock() {
  std::fill(held.begin(), held.end(), initial);
  std::fill(numFree.begin(), numFree.end(), 0);
}

bool RegisterPool::checkCount(unsigned warp, const Operation &operation,
                              uint32_t count, bool isMore) {
  bool isKnown = count >= kLeast && count <= kMost && count % kPiece == 0;
  bool isPossible = isMore ? count >= held[warp] : count <= held[warp];
  if (isKnown && isPossible)
    return true;
  std::string why =
      isKnown ? "the threads have " + std::to_string(held[warp]) +
                    " registers and ask for " + (isMore ? "more" : "fewer") +
                    ", " + std::to_string(count)
              : std::to_string(count) + " is no multiple of 8 from 24 to 256";
  findings.giveUp(block.threads[warp * kWarpSize], FindingKind::RegisterCount,
                  operation.site, {makeNote(std::move(why))});
  return false;
}

void RegisterPool::release(unsigned warp, const Operation &operation,
                           uint32_t count) {
  if (!checkCount(warp, operation, count, /*isMore=*/false))
    return;
  getFree(warp) += uint64_t(held[warp] - count) * kWarpSize;
  held[warp] = count;
}

bool RegisterPool::take(unsigned warp) {
  uint64_t more = uint64_t(wanted[warp] - held[warp]) * kWarpSize;
  if (more > getFree(warp))
    return false;
  getFree(warp) -= more;
  held[warp] = wanted[warp];
  return true;
}

void RegisterPool::request(unsigned warp, const Operation &operation,
                           uint32_t count) {
  if (!checkCount(warp, operation, count, /*isMore=*/true))
    return;
  wanted[warp] = count;
  if (take(warp))
    return;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    block.threads[warp * kWarpSize + lane].wait = Wait::Registers;
}

bool RegisterPool::grant() {
  bool hasGranted = false;
  for (unsigned warp = 0; warp < held.size(); ++warp) {
    ThreadState *threads = &block.threads[warp * kWarpSize];
    if (threads->wait != Wait::Registers || !take(warp))
      continue;
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      threads[lane].wait = Wait::None;
    hasGranted = true;
  }
  return hasGranted;
}

std::string RegisterPool::describe(unsigned warp) const {
  return "for " + std::to_string(wanted[warp]) +
         " registers a thread, of which they have " +
         std::to_string(held[warp]) + "; the block, whose threads began with " +
         std::to_string(initial) + " each, has " +
         std::to_string(numFree[getBlock(warp)]) + " left, and a warp lacks " +
         std::to_string(uint64_t(wanted[warp] - held[warp]) * kWarpSize);
}

} // namespace mlir::workgroup::emulator
