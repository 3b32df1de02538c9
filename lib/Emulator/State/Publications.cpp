//===- Publications.cpp - What blocks know of each other ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Publications.h"

namespace mlir::workgroup::emulator {

/// Very many addresses share their stamps, which makes no race up.
static uint64_t getSlot(uint64_t address) {
  constexpr uint64_t kMaxSlots = 1 << 16;
  return address / 4 % kMaxSlots;
}

uint32_t Publications::release(uint64_t block, unsigned thread, uint32_t time,
                               const Clocks &clocks) {
  std::lock_guard<std::mutex> guard(mutex);
  std::vector<Event> &released = events[{block, thread}];
  latest += latest != ~0u;
  Event event{time, clocks.getBase(), latest, clocks.copyVector(thread),
              clocks.getIndex(kFirstAgent)};
  // What a thread makes known only grows. Of very many times, the last stands
  // for those after it: known earlier than it was, which makes no race up.
  if (released.size() < kMaxEvents) {
    released.push_back(std::move(event));
  } else {
    event.stamp = released.back().stamp;
    released.back() = std::move(event);
  }
  return latest;
}

void Publications::publish(uint64_t address, uint32_t stamp) {
  if (stamp == 0)
    return;
  std::lock_guard<std::mutex> guard(mutex);
  uint32_t &published = stamps[getSlot(address)];
  published = std::max(published, stamp);
}

uint32_t Publications::see(uint64_t address) {
  std::lock_guard<std::mutex> guard(mutex);
  return stamps.lookup(getSlot(address));
}

/// The place of an actor among what a thread knows.
static unsigned getIndex(unsigned actor, unsigned firstAgent) {
  return actor < kFirstAgent ? actor : firstAgent + (actor - kFirstAgent);
}

bool Publications::isKnown(uint64_t block, Access access, uint32_t known) {
  if (known == 0)
    return false;
  std::lock_guard<std::mutex> guard(mutex);
  unsigned actor = access.getActor();
  for (auto it = events.lower_bound({block, 0});
       it != events.end() && it->first.first == block; ++it)
    for (const Event &event : it->second) {
      bool covers =
          event.base >= access.time ||
          (it->first.second == actor && event.time >= access.time) ||
          (!event.others.empty() &&
           event.others[getIndex(actor, event.firstAgent)] >= access.time);
      if (covers && event.stamp <= known)
        return true;
    }
  return false;
}

} // namespace mlir::workgroup::emulator
