//===- ProtocolClock.h - What a thread knows of others ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vector clock (Fidge; Mattern) counts what of others comes before where a
// thread is. Here are three of them, in one piece of memory: what agents have
// done, so that it can be seen; which phases of mbarriers have ended; and what
// agents have gone on from, which says nothing of what others see of them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLCLOCK_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLCLOCK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::workgroup {

class ProtocolClock {
public:
  ProtocolClock() = default;
  ProtocolClock(size_t numAgents, size_t numBarriers)
      : numAgents(numAgents), counts(2 * numAgents + numBarriers, 0) {}

  /// Of the events of `agent`, how many are done.
  int32_t getDone(unsigned agent) const { return counts[agent]; }
  /// Of the phases of mbarrier number `barrier`, how many have ended.
  int32_t getEnded(unsigned barrier) const {
    return counts[numAgents + barrier];
  }
  /// Of the events of `agent`, how many it has gone on from.
  int32_t getPassed(unsigned agent) const {
    return counts[getFirstPassed() + agent];
  }
  unsigned getNumBarriers() const { return counts.size() - 2 * numAgents; }

  /// Lets `agent` have done, and gone on from, its first `count` events.
  void setDone(unsigned agent, int32_t count) {
    counts[agent] = counts[getFirstPassed() + agent] = count;
  }
  void setEnded(unsigned barrier, int32_t count) {
    counts[numAgents + barrier] = count;
  }

  /// Adds what `other` knows. True if any of it is new.
  bool join(const ProtocolClock &other) { return join(other, 0); }
  /// Adds what `other` knows of where agents have gone on from.
  bool joinPassed(const ProtocolClock &other) {
    return join(other, getFirstPassed());
  }
  /// Knows nothing any more.
  void clear() { counts.assign(counts.size(), 0); }

private:
  size_t getFirstPassed() const { return counts.size() - numAgents; }
  bool join(const ProtocolClock &other, size_t first) {
    bool isNew = false;
    for (size_t part = first; part < counts.size(); ++part) {
      isNew |= counts[part] < other.counts[part];
      counts[part] = std::max(counts[part], other.counts[part]);
    }
    return isNew;
  }

  size_t numAgents = 0;
  llvm::SmallVector<int32_t, 0> counts;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLCLOCK_H
