//===- Publications.h - What blocks know of each other --------- -*- C++
//-*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Order between blocks (memory consistency model, release and acquire
// patterns): a fence or releasing atomic operation keeps what its thread knows
// under a stamp, the store that follows gives the stamp to an address, and a
// thread that sees the store knows of it. Stamps are moments of one total
// order.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_STATE_PUBLICATIONS_H
#define WORKGROUP_LIB_EMULATOR_STATE_PUBLICATIONS_H

#include "Clocks.h"
#include <map>
#include <mutex>

namespace mlir::workgroup::emulator {

/// What blocks make known to others, by fences and atomic operations that reach
/// beyond a block.
///
/// A stamp is a moment of the launch: who knows of one knows of all before it.
/// That can hide a race between blocks that order themselves by several
/// addresses, and makes none up.
class Publications {
public:
  /// Keeps what `thread` knows, and what it did up to `time`, under a stamp.
  uint32_t release(uint64_t block, unsigned thread, uint32_t time,
                   const Clocks &clocks);
  /// Whoever sees what is now stored at `address` knows of `stamp`.
  void publish(uint64_t address, uint32_t stamp);
  uint32_t see(uint64_t address);
  /// True if `access` of `block` was released by what `known` stands for.
  bool isKnown(uint64_t block, Access access, uint32_t known);

private:
  struct Event {
    uint32_t time, base, stamp;
    /// The times that the thread knows of others of its block, if they are not
    /// all alike.
    std::vector<uint32_t> others;
    /// The index at which the agents among them begin.
    unsigned firstAgent;
  };
  /// Times that are kept of a thread.
  static constexpr size_t kMaxEvents = 64;

  std::mutex mutex;
  uint32_t latest = 0;
  std::map<std::pair<uint64_t, unsigned>, std::vector<Event>> events;
  llvm::DenseMap<uint64_t, uint32_t> stamps;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_STATE_PUBLICATIONS_H
