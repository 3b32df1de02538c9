//===- ProtocolFaults.cpp - What is wrong with phases, in words -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProtocolFaults.h"
#include "ProtocolPeriods.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

static std::string printNumber(int64_t number, StringRef of) {
  return std::to_string(number) + " " + of.str() + (number == 1 ? "" : "s");
}

/// What is missing for the end of the phase that is waited for.
static std::string describeMissing(const ProtocolFault &fault) {
  std::string missing;
  if (fault.arrivals > 0)
    missing = printNumber(fault.arrivals, "arrival");
  if (fault.bytes > 0)
    missing +=
        (missing.empty() ? "" : " and ") + printNumber(fault.bytes, "byte");
  std::string of = "phase " + std::to_string(fault.phase) +
                   " of the mbarrier, counted from 0";
  return missing.empty() ? "it is for another phase than " + of
                         : of + ", misses " + missing;
}

static std::string describeFault(const ProtocolFault &fault, StringRef name) {
  std::string op = "'" + name.str() + "'";
  switch (fault.kind) {
  case ProtocolFault::Stuck:
    return "deadlock: " + op + " waits for ever: " + describeMissing(fault);
  case ProtocolFault::Surplus:
    return "possible data race on workgroup memory: more threads may arrive "
           "by " +
           op +
           " than a phase of the mbarrier counts, which ends before others "
           "have arrived";
  case ProtocolFault::Unannounced:
    return "possible data race on workgroup memory: " + op +
           " brings bytes that are not announced for a phase of its mbarrier, "
           "which may end before they are there";
  case ProtocolFault::Overrun:
    return "possible data race on workgroup memory: " + op +
           " may miss the phase that it waits for, as the next one may end "
           "before";
  case ProtocolFault::Unready:
    if (fault.isOfFence)
      return "possible data race on workgroup memory: the mbarrier of " + op +
             " is made ready, and no fence (nvvm.fence.mbarrier.init) tells "
             "TMA of it";
    return "possible data race on workgroup memory: the mbarrier of " + op +
           " is not known to be made ready before, once, by one thread";
  }
  llvm_unreachable("all kinds are told");
}

/// True if somebody has done all that is followed of a loop that goes on: what
/// he would do next others may be waiting for.
static bool isCutOff(ArrayRef<ProtocolStream> streams, const ProtocolRun &run) {
  for (auto [number, agent] : llvm::enumerate(run.getAgents())) {
    const ProtocolStream &stream = streams[agent.stream];
    if (stream.endless && run.getEnd(number) == stream.events.size())
      return true;
  }
  return false;
}

void addProtocolFaults(ArrayRef<ProtocolStream> streams, const ProtocolRun &run,
                       bool isExact, std::vector<ProtocolFinding> &faults) {
  bool isStuck = isExact && run.isEager() && !isCutOff(streams, run);
  for (const ProtocolFault &found : run.getFaults()) {
    const ProtocolAgent &agent = run.getAgents()[found.agent];
    Operation *op = streams[agent.stream].events[found.event].op;
    ProtocolFinding fault;
    fault.op = op;
    fault.isStuck = found.kind == ProtocolFault::Stuck;
    fault.isCertain = fault.isStuck && isStuck;
    fault.message = describeFault(found, op->getName().getStringRef());
    if (fault.isStuck && !fault.isCertain)
      fault.message = "possible " + fault.message;
    bool isKnown = llvm::any_of(faults, [&](const ProtocolFinding &other) {
      return other.op == op && other.isStuck == fault.isStuck &&
             (other.isCertain || !fault.isCertain);
    });
    if (!isKnown)
      faults.push_back(std::move(fault));
  }
}

} // namespace mlir::workgroup
