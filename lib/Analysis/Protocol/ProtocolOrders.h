//===- ProtocolOrders.h - What mbarriers order ------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of warps that have each a part of the work, and hand slots of a ring to each
// other by mbarriers, it is shown which accesses are always in order, or found
// that two are not, that somebody waits for ever, or that a phase may end
// early.
//
// The k-th wait for the mbarrier "full" of a slot comes behind the k-th time
// that it was filled, the wait for "empty" behind the reads of the time before:
// both follow from what each thread knows (`ProtocolRun`), for as many
// iterations as it takes to see that it goes on like that (`ProtocolPeriods`).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLORDERS_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLORDERS_H

#include "Analysis/Program/KernelLoops.h"
#include "ProtocolFaults.h"
#include "ProtocolTargets.h"
#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

class ProtocolOrders {
public:
  ProtocolOrders(Operation *scope, const ThreadAccesses &accesses,
                 const KernelLoops &loops,
                 const UniformityAnalysis &uniformity);

  /// True if the two accesses, by number, are in order whenever threads touch
  /// the same bytes by them.
  bool isOrdered(unsigned first, unsigned second) const {
    return isProven && targets.isTracked(first) && targets.isTracked(second) &&
           !behind.contains(first) && !behind.contains(second) &&
           !open.contains(std::minmax(first, second));
  }

  /// Two accesses that nothing orders, in these iterations of the loops around
  /// them; certain if threads touch the same bytes by them then.
  struct Race {
    unsigned first = 0, second = 0;
    SmallVector<ProtocolIteration, 2> ofFirst, ofSecond;
    /// The last waits before them, if they get on without waiting.
    Operation *passedFirst = nullptr, *passedSecond = nullptr;
    /// Two threads that do, by linear ids, and a byte that both touch.
    int64_t threads[2] = {0, 0}, byte = 0;
  };
  ArrayRef<Race> getRaces() const { return races; }

  /// What is wrong with phases.
  ArrayRef<ProtocolFinding> getFaults() const { return faults; }

private:
  using Pair = std::pair<unsigned, unsigned>;
  /// Which threads are not in order: those that are the same, lanes of one
  /// warp, others.
  struct Unordered {
    bool isOfThread = false, isOfWarp = false, isOfWarps = false;

    bool contains(int64_t thread, int64_t other) const;
  };
  /// Accesses of a stream between two events that order anything.
  struct Touch {
    unsigned stream = 0;
    ProtocolPlace hull;
    SmallVector<size_t, 1> events;
    bool isWrite = false, isOfProxy = false;
  };

  void examine(Operation *scope, const KernelLoops &loops,
               const UniformityAnalysis &uniformity, bool goesOn);
  bool isClean() const { return isProven && open.empty() && faults.empty(); }
  bool makeStreams(Operation *scope, const KernelLoops &loops, int64_t elected,
                   bool goesOn);
  void examine(Operation *scope, const UniformityAnalysis &uniformity);
  void makeTouches();
  void addTouches(unsigned stream);
  void compare(const ProtocolRun &run, bool isReal);
  void compare(const ProtocolRun &run, const Touch &lhs, const Touch &rhs,
               bool isReal);
  bool areOrdered(const ProtocolRun &run, const Touch &lhs, const Touch &rhs,
                  unsigned first, unsigned second, bool *isUnsure) const;
  bool mayMeet(const Touch &lhs, size_t first, const Touch &rhs,
               size_t second) const;
  bool findMeeting(const Touch &lhs, size_t first, const Touch &rhs,
                   size_t second, const Unordered &unordered, Race &race) const;
  void addOpen(const ProtocolRun &run, const Touch &lhs, const Touch &rhs,
               const Unordered &unordered);
  Operation *findPassed(const ProtocolRun &run, unsigned stream,
                        size_t event) const;

  const ThreadAccesses &accesses;
  ProtocolTargets targets;
  std::vector<ProtocolStream> streams;
  std::vector<Touch> touches;
  std::vector<SmallVector<unsigned>> agentsOf;
  bool isProven = false;
  DenseSet<Pair> open, raced;
  /// Accesses behind what is followed.
  DenseSet<unsigned> behind;
  std::vector<Race> races;
  std::vector<ProtocolFinding> faults;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLORDERS_H
