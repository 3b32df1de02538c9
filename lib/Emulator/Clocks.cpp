//===- Clocks.cpp - Which accesses of a block are ordered -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clocks.h"

namespace mlir::workgroup::emulator {

uint32_t *VectorTable::make(unsigned thread, uint32_t initial, uint32_t known) {
  if (times.empty())
    times.resize(width * isSet.size());
  uint32_t *vector = &times[size_t(thread) * width];
  if (!isSet[thread]) {
    std::fill_n(vector, width - 1, initial);
    vector[width - 1] = known;
  }
  isSet[thread] = 1;
  return vector;
}

Clocks::Clocks(unsigned numThreads)
    : numThreads(numThreads), times(numThreads), vectors(numThreads),
      covered(numThreads), seen(numThreads), consumed(numThreads * kWarpSize) {}

bool Clocks::beginBlock() {
  constexpr uint32_t kLatest = 1u << 31;
  bool restarts = now > kLatest;
  if (restarts) {
    now = 0;
    std::fill(consumed.begin(), consumed.end(), 0);
  }
  synchronizeAll();
  start = now;
  baseKnown = 0;
  meetings.clear();
  covered.clear();
  seen.clear();
  return restarts;
}

void Clocks::synchronizeAll() {
  base = now++;
  std::fill(times.begin(), times.end(), now);
  if (!hasVectors)
    return;
  for (unsigned thread = 0; thread < numThreads; ++thread)
    baseKnown = std::max(baseKnown, getKnown(thread));
  vectors.clear();
  hasVectors = false;
}

void Clocks::raiseKnown(unsigned thread, uint32_t stamp) {
  if (stamp > getKnown(thread))
    makeVector(thread)[numThreads] = stamp;
}

void Clocks::tick(unsigned thread) { times[thread] = ++now; }

void Clocks::join(uint32_t *into, const uint32_t *from) const {
  for (unsigned i = 0; i <= numThreads; ++i)
    into[i] = std::max(into[i], from[i]);
}

void Clocks::release(unsigned thread, std::vector<uint32_t> &meeting) {
  meeting.resize(numThreads + 1);
  if (vectors.has(thread))
    join(meeting.data(), vectors.get(thread));
  meeting[numThreads] = std::max(meeting[numThreads], getKnown(thread));
  meeting[thread] = std::max(meeting[thread], times[thread]);
  tick(thread);
}

void Clocks::acquire(unsigned thread, const std::vector<uint32_t> &meeting) {
  join(makeVector(thread), meeting.data());
}

void Clocks::synchronize(llvm::ArrayRef<unsigned> threads) {
  if (threads.size() == numThreads)
    return synchronizeAll();
  std::vector<uint32_t> meeting(numThreads + 1);
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

void Clocks::orderAt(uint64_t address, unsigned thread, AtomicOrder order) {
  // Very many addresses share what they carry, which makes no race up.
  constexpr uint64_t kMaxMeetings = 4096;
  std::vector<uint32_t> &meeting = meetings[address / 4 % kMaxMeetings];
  if (order.reads && !meeting.empty())
    join(order.acquires ? makeVector(thread) : seen.make(thread, 0, 0),
         meeting.data());
  if (!order.writes)
    return;
  if (order.releases) {
    release(thread, meeting);
  } else if (covered.has(thread)) {
    meeting.resize(numThreads + 1);
    join(meeting.data(), covered.get(thread));
  }
}

void Clocks::fence(unsigned thread) {
  if (seen.has(thread))
    join(makeVector(thread), seen.get(thread));
  seen.erase(thread);
  covered.erase(thread);
  uint32_t *own = covered.make(thread, base, baseKnown);
  if (vectors.has(thread))
    std::copy_n(vectors.get(thread), numThreads + 1, own);
  own[thread] = times[thread];
  tick(thread);
}

} // namespace mlir::workgroup::emulator
