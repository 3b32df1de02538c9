//===- AsyncCopies.h - Copies that are under way -------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy by `cp.async` or in bulk as a record, and the queues of those that a
// thread has begun and not waited for. Who begins and ends them is in
// ThreadCopies.h, BulkCopies.h and CopyFlights.h.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_ASYNCCOPIES_H
#define WORKGROUP_LIB_EMULATOR_RUN_ASYNCCOPIES_H

#include "Emulator/Isa/AsyncOps.h"
#include "Emulator/Isa/BulkReductions.h"
#include "Emulator/Isa/TensorMaps.h"
#include "Emulator/State/ThreadState.h"
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
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
  /// Who completes the copy, if an mbarrier tracks it.
  std::optional<Access> agent;

  void write(uint8_t *window) const;
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

  /// Calls `run` for every copy.
  template <typename Function>
  void forEach(Function run) {
    for (Group &group : groups)
      for (AsyncCopy &copy : group.copies)
        run(copy);
    for (AsyncCopy &copy : open)
      run(copy);
  }

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

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

/// A copy between global and workgroup memory that the asynchronous proxy
/// makes: of a box of a tensor, or of bytes.
struct BulkCopy {
  /// The place in workgroup memory.
  uint64_t shared = 0;
  /// The tensor and where the box begins, or an address and a number of bytes.
  const TensorMap *map = nullptr;
  std::array<int32_t, TensorMap::kMaxRank> coordinates = {};
  uint8_t *global = nullptr;
  uint64_t bytes = 0;
  uint32_t site = 0;
  /// A store that is no plain one.
  std::optional<BulkReduction> reduction;
  /// Who writes the target and who reads the source: different ones where these
  /// are waited for by themselves.
  Access writer, reader;

  llvm::ArrayRef<int32_t> getCoordinates() const {
    return llvm::ArrayRef(coordinates).take_front(map->getRank());
  }
  /// Bytes in workgroup memory.
  uint64_t getBytes() const { return map ? map->getBoxBytes() : bytes; }

  void load(uint8_t *window) const;
  /// Stores, or reduces elements of a type.
  void store(const uint8_t *bytes, std::optional<BulkElement> element) const;
  /// What a store reads, as `store` takes it.
  std::vector<uint8_t> gather(const uint8_t *window) const;
};

/// What an mbarrier is told of when it is complete: a load, or the copies that
/// a thread had begun by `cp.async`.
struct Flight {
  unsigned thread = 0;
  /// The mbarrier.
  uint64_t barrier = 0;
  /// The operation that began it.
  uint32_t operation = 0;
  Access agent;
  std::optional<BulkCopy> load;
  std::vector<AsyncCopy> copies = {};
};

/// The bulk stores that a thread has begun and not waited for.
struct StoreQueue {
  struct Store {
    BulkCopy copy;
    std::vector<uint8_t> bytes = {};
    bool hasRead = false, isDone = false, isReadWaitedFor = false;
  };
  std::vector<Store> open;
  std::deque<std::vector<Store>> groups;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_ASYNCCOPIES_H
