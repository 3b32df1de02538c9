//===- ProtocolRun.h - Who knows of what ------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs what threads do, and keeps for each of them how much of what others have
// done comes before where it is. Of threads that do the same, two lanes of two
// warps stand for all.
//
// One run tells of all, if each arrival is for a phase that its thread knows to
// be the next one, and each wait ends before the phase behind the one that it
// is for does: then no other order lets anybody wait for another phase
// (`isFixed`).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLRUN_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLRUN_H

#include "ProtocolClock.h"
#include "ProtocolEvents.h"

namespace mlir::workgroup {

/// A thread that stands for `weight` threads which do as it does.
struct ProtocolAgent {
  unsigned stream = 0;
  int64_t warp = 0, lane = 0, weight = 1;
};

/// What is wrong with the phases of a kernel.
struct ProtocolFault {
  enum Kind {
    /// An arrival is one more than a phase counts, or may be for another phase.
    Surplus,
    /// A copy brings bytes for a phase that did not announce them.
    Unannounced,
    /// A wait may be for another phase than the next one.
    Overrun,
    /// An mbarrier is used that may not be ready, or unknown to TMA.
    Unready,
    /// Nobody gets on.
    Stuck
  } kind = Stuck;
  unsigned agent = 0;
  size_t event = 0;
  /// Of what is waited for: arrivals and bytes that are missing; negative for
  /// bytes that nobody announced.
  int64_t arrivals = 0, bytes = 0, phase = 0;
  bool isOfFence = false;
};

class ProtocolRun {
public:
  /// Who goes first, as far as he gets; or all in turns.
  enum Order { FirstFirst, LastFirst, InTurns };

  ProtocolRun(llvm::ArrayRef<ProtocolStream> streams, unsigned numBarriers,
              int64_t numThreads, Order order);

  void run();

  /// True if what event number `event` of agent `first` does is done before
  /// `other` of agent `second` begins.
  bool isBefore(unsigned first, size_t event, unsigned second,
                size_t other) const;
  /// The same if the threads of a warp group waited for what any of them waits
  /// for: true for more, of products of tiles.
  bool isBeforeForGroup(unsigned first, size_t event, unsigned second,
                        size_t other) const;
  /// The same of what the thread has told the asynchronous proxy of.
  bool isFencedBefore(unsigned first, size_t event, unsigned second,
                      size_t other) const;

  llvm::ArrayRef<ProtocolAgent> getAgents() const { return agents; }
  llvm::ArrayRef<ProtocolFault> getFaults() const { return faults; }
  /// The number of events that the agent has done.
  size_t getEnd(unsigned agent) const { return cursors[agent]; }
  /// True if all agents have done all that is known of them.
  bool isDone() const;
  /// What the agent knew when it was about to do `event`.
  const ProtocolClock &getClock(unsigned agent, size_t event) const;
  /// False if somebody went on later than he might have: then what comes behind
  /// need not be so in any run.
  bool isEager() const { return eagerEnds.empty(); }
  /// True if an event is before that.
  bool isEager(unsigned agent, size_t event) const {
    return eagerEnds.empty() || event < eagerEnds[agent];
  }

private:
  struct Barrier {
    int64_t count = 0, pending = 0, announced = 0, brought = 0;
    /// Who made it ready, where.
    std::optional<std::pair<unsigned, size_t>> init;
    /// What is known to those who have arrived for the phase.
    ProtocolClock arrived;
    /// What is known of each phase that has ended to whoever waits for it.
    std::vector<ProtocolClock> ended;
    /// Who waited for the phase before each phase, and where.
    std::vector<llvm::SmallVector<std::pair<unsigned, size_t>>> waits;
  };

  void makeAgents(int64_t numThreads);
  void addWarps(llvm::ArrayRef<int64_t> warps,
                llvm::ArrayRef<std::optional<unsigned>> streamOf);
  const ProtocolEvent &getEvent(unsigned agent) const {
    return streams[agents[agent].stream].events[cursors[agent]];
  }
  bool isAtEnd(unsigned agent) const {
    return cursors[agent] == streams[agents[agent].stream].events.size();
  }
  bool step(unsigned agent);
  void go(unsigned agent);
  void note(unsigned agent, bool isNew);
  void tell(llvm::ArrayRef<unsigned> met, bool isOfPassed);
  bool wait(unsigned agent);
  void arrive(unsigned agent);
  void copy(unsigned agent);
  bool meet(unsigned agent);
  bool isToMeet(unsigned agent, const ProtocolEvent &event,
                unsigned other) const;
  bool isProductBefore(unsigned first, size_t number, unsigned second,
                       size_t other, int64_t numThreads) const;
  bool isReady(unsigned agent);
  void endPhase(unsigned number);
  void endIfOver(unsigned number);
  ProtocolFault &add(ProtocolFault::Kind kind, unsigned agent, size_t event);
  void findStuck();

  llvm::ArrayRef<ProtocolStream> streams;
  Order order;
  /// How far each agent had got when somebody went on later than he might have.
  std::vector<size_t> eagerEnds;
  std::vector<ProtocolAgent> agents;
  std::vector<size_t> cursors;
  std::vector<ProtocolClock> clocks;
  /// Of each agent, what it knew from which event on.
  std::vector<std::vector<std::pair<size_t, ProtocolClock>>> history;
  std::vector<Barrier> barriers;
  /// The phase that a copy is of, by agent and event; of one that is spoilt, a
  /// phase that never ends.
  std::vector<std::vector<std::pair<size_t, int32_t>>> copies;
  std::vector<ProtocolFault> faults;
  ProtocolFault untold;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLRUN_H
