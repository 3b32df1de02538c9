//===- MBarriers.h - Barriers that are objects in memory ------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of one mbarrier: what it expects in this phase, what has come, and
// what arrivals make known. Which mbarriers a block has is in MBarrierTable.h.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_MBARRIERS_H
#define WORKGROUP_LIB_EMULATOR_RUN_MBARRIERS_H

#include "Emulator/Isa/AsyncOps.h"
#include "Emulator/State/Clocks.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::workgroup::emulator {

/// An mbarrier (PTX ISA, "Parallel Synchronization and Communication
/// Instructions: mbarrier"). A phase is over when as many have arrived as were
/// expected, and all bytes.
///
/// What arrivals make known goes to those that wait for the phase or a later
/// one.
class MBarrier {
public:
  static constexpr uint32_t kMaxCount = (1u << 20) - 1;
  static constexpr uint64_t kBytes = 8;

  /// `init` is the access that makes it.
  MBarrier(uint32_t count, Access init)
      : expected(count), pending(count), init(init) {}

  Access getInit() const { return init; }

  /// The first fence of the thread that made it, from which on the asynchronous
  /// proxy knows of it; nothing if there was none.
  std::optional<Access> getFence() const { return fence; }
  void setFence(Access first) { fence = first; }

  /// These return what is wrong with it, if anything is.
  llvm::StringRef arrive(uint32_t count, const AsyncOp &op);
  llvm::StringRef expectBytes(int64_t bytes);
  llvm::StringRef completeBytes(int64_t bytes) { return expectBytes(-bytes); }
  /// One more arrival is to come in this phase.
  llvm::StringRef expectArrival();

  /// What is known to who arrives in this phase, to be added to.
  Clocks::Meeting &getArriving() { return arriving; }
  /// What is known of the phases that are over.
  const Clocks::Meeting &getPassed() const { return passed; }

  /// What an arrival returns now.
  uint64_t getState() const { return phase << 20 | pending; }
  /// True if the phase that a wait names is over. That of a parity is the
  /// current one or the one before it.
  bool isOver(uint64_t stateOrParity, bool isParity) const {
    return isParity ? (phase & 1) != (stateOrParity & 1)
                    : phase != stateOrParity >> 20;
  }

  /// What it looks like in memory.
  uint64_t getWord() const {
    return phase << 42 ^ uint64_t(bytes) << 21 ^ uint64_t(expected) << 20 ^
           pending;
  }
  /// As `phase 3 lacks 1 of 128 arrivals and 4096 bytes`.
  std::string describe() const;

private:
  void completePhase();

  uint32_t expected, pending;
  int64_t bytes = 0;
  uint64_t phase = 0;
  Access init;
  std::optional<Access> fence;
  Clocks::Meeting arriving, passed;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_MBARRIERS_H
