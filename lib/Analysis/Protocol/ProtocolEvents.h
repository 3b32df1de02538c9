//===- ProtocolEvents.h - What threads do about mbarriers -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads that take the same path do the same things, one after the other: what
// they wait for, where they arrive, and what they access in between. Each of
// these is an event.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLEVENTS_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLEVENTS_H

#include "mlir/IR/Operation.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::workgroup {

/// The bytes of workgroup memory that threads touch by an access: each of them
/// `width`, from where `starts` tells.
struct ProtocolPlace {
  unsigned root = 0;
  /// For each thread of the stream; empty if it may be anywhere.
  SmallVector<int64_t, 0> starts;
  int64_t width = 0;
  /// False if they may touch only some of it.
  bool isWhole = true;
  /// Of all threads: the first byte, and that behind the last one.
  int64_t first = 0, end = 0;

  bool isAnywhere() const { return starts.empty(); }
  bool mayOverlap(const ProtocolPlace &other) const {
    return root == other.root && (isAnywhere() || other.isAnywhere() ||
                                  (first < other.end && other.first < end));
  }
};

/// An iteration of a loop.
struct ProtocolIteration {
  Operation *loop = nullptr;
  int64_t number = 0;
};

struct ProtocolEvent {
  enum Kind {
    /// Reads or writes `place`.
    Access,
    /// Has TMA bring `bytes`, and tell the mbarrier; writes `place`.
    Copy,
    /// Makes the mbarrier ready, for phases of `count` arrivals.
    Init,
    /// Waits for a phase of the mbarrier, of that `parity`.
    Wait,
    /// Arrives at the mbarrier `count` times, and announces `bytes`.
    Arrive,
    /// Tells the asynchronous proxy of what the thread has done before; or of
    /// the mbarriers that it has made ready only (`isOfInits`).
    Fence,
    /// Waits for what the thread has started itself.
    Settle,
    /// Waits for all of the warp; of the warp group, whose product of tiles it
    /// begins, without being told of what they have done, with a `product`.
    WarpMeeting,
    /// Waits for `count` threads at barrier `barrier`; for the block if 0.
    Meeting
  } kind = Access;
  Operation *op = nullptr;
  unsigned barrier = 0;
  bool parity = false, isOfInits = false;
  int64_t count = 0, bytes = 0;
  /// The number of the access, and of what it touches; none for a copy of which
  /// it is not followed what it writes.
  std::optional<unsigned> access;
  unsigned place = 0;
  /// Of an access that goes on by itself, the event of the same threads that
  /// waits for it; none if none is known.
  bool isAsync = false;
  std::optional<size_t> done;
  /// The number of the product of tiles by the warp group, of all that the
  /// threads execute, counted from 0.
  std::optional<size_t> product;
  /// The loops around that are followed, outermost first, in which iteration.
  unsigned iterations = 0;
};

/// A product of tiles by a warp group.
struct ProtocolProduct {
  Operation *op = nullptr;
  /// The event that waits for it; none if none is known.
  std::optional<size_t> done;
};

/// What some threads do, all of them the same.
struct ProtocolStream {
  /// By linear ids.
  SmallVector<int64_t, 0> threads;
  std::vector<ProtocolEvent> events;
  std::vector<ProtocolPlace> places;
  std::vector<ProtocolProduct> products;
  /// What events have for their `iterations`.
  std::vector<SmallVector<ProtocolIteration, 2>> iterations;
  /// For a loop that goes on for an unknown or large number of iterations, from
  /// which nothing behind is followed: the loop, the events that each iteration
  /// starts with, the first of iterations that repeat, and after how many.
  Operation *endless = nullptr;
  /// What comes behind it: accesses, and what is done about mbarriers.
  SmallVector<Operation *, 0> behind;
  std::vector<size_t> turns;
  int64_t firstRepeated = 0, period = 1;
  /// False if some barriers were left out, or paths were taken that threads may
  /// not take.
  bool isExact = true;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLEVENTS_H
