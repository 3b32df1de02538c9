//===- AsyncCopies.h - Copies that are under way -------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_EMULATOR_ASYNCCOPIES_H
#define WORKGROUP_EMULATOR_ASYNCCOPIES_H

#include <cstdint>
#include <deque>
#include <vector>

namespace mlir::workgroup::emulator {

/// A `cp.async`: bytes that go from global to workgroup memory by themselves.
struct AsyncCopy {
  uint64_t target = 0;
  const uint8_t *source = nullptr;
  /// Bytes to write, of which the first come from the source and the rest are
  /// zero.
  uint64_t bytes = 0, sourceBytes = 0;
  uint32_t site = 0;
  /// The bytes are there already, though nobody may rely on it.
  bool hasLanded = false;
};

/// The copies that a thread has begun and not waited for.
class AsyncQueue {
public:
  /// Copies under way, of more than which none is sensible: there is not as
  /// much workgroup memory.
  static constexpr size_t kMaxCopies = 1 << 17;

  /// False if there are too many.
  bool add(AsyncCopy copy) {
    open.push_back(copy);
    return ++numCopies <= kMaxCopies;
  }

  /// Makes a group of what was added since the last one.
  void commit() {
    ++numGroups;
    if (open.empty() && !groups.empty()) {
      ++groups.back().emptyAfter;
      return;
    }
    groups.push_back({std::move(open), 0});
    open.clear();
  }

  /// Calls `land` for the copies of all groups but the `newer` last.
  template <typename Function>
  void wait(uint64_t newer, Function land) {
    while (numGroups > newer) {
      Group &oldest = groups.front();
      for (const AsyncCopy &copy : oldest.copies)
        land(copy);
      numCopies -= oldest.copies.size();
      oldest.copies.clear();
      --numGroups;
      if (oldest.emptyAfter == 0)
        groups.pop_front();
      else
        --oldest.emptyAfter;
    }
  }

  bool empty() const { return open.empty() && numGroups == 0; }

private:
  struct Group {
    std::vector<AsyncCopy> copies;
    /// Groups without a copy that come after it.
    uint64_t emptyAfter;
  };

  std::vector<AsyncCopy> open;
  std::deque<Group> groups;
  uint64_t numGroups = 0;
  size_t numCopies = 0;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_EMULATOR_ASYNCCOPIES_H
