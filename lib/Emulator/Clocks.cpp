//===- Clocks.cpp - Which accesses of a block are ordered -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clocks.h"

namespace mlir::workgroup::emulator {

Clocks::Clocks(unsigned numThreads)
    : numThreads(numThreads), times(numThreads), hasVector(numThreads),
      consumed(numThreads * kWarpSize) {}

bool Clocks::beginBlock() {
  constexpr uint32_t kLatest = 1u << 31;
  bool restarts = now > kLatest;
  if (restarts) {
    now = 0;
    std::fill(consumed.begin(), consumed.end(), 0);
  }
  synchronizeAll();
  start = now;
  meetings.clear();
  return restarts;
}

void Clocks::synchronizeAll() {
  base = now++;
  std::fill(times.begin(), times.end(), now);
  std::fill(hasVector.begin(), hasVector.end(), 0);
}

uint32_t *Clocks::makeVector(unsigned thread) {
  if (vectors.empty())
    vectors.resize(size_t(numThreads) * numThreads);
  uint32_t *vector = &vectors[size_t(thread) * numThreads];
  if (!hasVector[thread]) {
    std::fill(vector, vector + numThreads, base);
    hasVector[thread] = 1;
  }
  return vector;
}

void Clocks::tick(unsigned thread) { times[thread] = ++now; }

void Clocks::release(unsigned thread, std::vector<uint32_t> &meeting) {
  meeting.resize(numThreads);
  if (hasVector[thread]) {
    const uint32_t *vector = getVector(thread);
    for (unsigned i = 0; i < numThreads; ++i)
      meeting[i] = std::max(meeting[i], vector[i]);
  }
  meeting[thread] = std::max(meeting[thread], times[thread]);
  tick(thread);
}

void Clocks::acquire(unsigned thread, const std::vector<uint32_t> &meeting) {
  uint32_t *vector = makeVector(thread);
  for (unsigned i = 0; i < numThreads; ++i)
    vector[i] = std::max(vector[i], meeting[i]);
}

void Clocks::synchronize(llvm::ArrayRef<unsigned> threads) {
  if (threads.size() == numThreads)
    return synchronizeAll();
  std::vector<uint32_t> meeting(numThreads);
  for (unsigned thread : threads)
    release(thread, meeting);
  for (unsigned thread : threads)
    acquire(thread, meeting);
}

void Clocks::exchangeValues(llvm::ArrayRef<unsigned> threads) {
  for (unsigned thread : threads)
    for (unsigned other : threads)
      consumed[thread * kWarpSize + other % kWarpSize] = times[other];
  for (unsigned thread : threads)
    tick(thread);
}

void Clocks::orderAt(uint64_t address, unsigned thread) {
  // Very many addresses share what they carry, which makes no race up.
  constexpr uint64_t kMaxMeetings = 4096;
  std::vector<uint32_t> &meeting = meetings[address / 4 % kMaxMeetings];
  meeting.resize(numThreads);
  acquire(thread, meeting);
  release(thread, meeting);
}

} // namespace mlir::workgroup::emulator
