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
  void add(AsyncCopy copy) { open.push_back(copy); }

  /// Makes a group of what was added since the last one.
  void commit() {
    groups.push_back(std::move(open));
    open.clear();
  }

  /// Calls `land` for the copies of all groups but the `newer` last.
  template <typename Function>
  void wait(uint64_t newer, Function land) {
    for (; groups.size() > newer; groups.pop_front())
      for (const AsyncCopy &copy : groups.front())
        land(copy);
  }

  bool empty() const { return open.empty() && groups.empty(); }

private:
  std::vector<AsyncCopy> open;
  std::deque<std::vector<AsyncCopy>> groups;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_EMULATOR_ASYNCCOPIES_H
