//===- ProtocolFindings.cpp - What is wrong with waits for mbarriers ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two accesses that no mbarrier orders are told with both threads and the
// iterations that they are in; so is a wait that nobody ends.
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"

namespace mlir::workgroup {

/// In which iterations an access is, in words.
static std::string printIterations(ArrayRef<ProtocolIteration> iterations) {
  std::string text;
  for (const ProtocolIteration &own : iterations)
    text +=
        (text.empty() ? " in iteration " : " of ") + std::to_string(own.number);
  return text.empty() ? text : text + " of its loops, counted from 0";
}

/// A note at a wait that gets on at once; nothing if there is none.
static void notePassed(Operation *wait, SyncFinding &finding) {
  if (wait)
    finding.notes.push_back(
        {wait->getLoc(), "this does not wait there: the parity is that of a "
                         "phase that is over"});
}

/// The race the other way round, if its first access is to come in a later
/// iteration.
static ProtocolOrders::Race putInOrder(ProtocolOrders::Race race) {
  auto isLater = [&] {
    for (const ProtocolIteration &own : race.ofFirst)
      for (const ProtocolIteration &other : race.ofSecond)
        if (own.loop == other.loop && own.number != other.number)
          return own.number > other.number;
    return race.ofSecond.empty() && !race.ofFirst.empty();
  };
  if (isLater()) {
    std::swap(race.first, race.second);
    std::swap(race.ofFirst, race.ofSecond);
    std::swap(race.passedFirst, race.passedSecond);
    std::swap(race.threads[0], race.threads[1]);
  }
  return race;
}

void SyncFindings::addRace(const ProtocolOrders::Race &found) {
  ProtocolOrders::Race race = putInOrder(found);
  Conflict conflict = kernel.findConflict(race);
  if (conflict.kind != Conflict::Certain || !conflict.witness)
    return;
  const ThreadAccess &first = kernel.getAccess(race.first);
  const ThreadAccess &second = kernel.getAccess(race.second);
  Report &report = getReport(first.op, second.op);
  if (report.isCertain)
    return;
  report.isCertain = true;
  SyncFinding finding;
  finding.verdict = SyncVerdict::Race;
  finding.at = getSite(second.op);
  finding.other = getSite(first.op);
  finding.threads.assign(conflict.witness->threads,
                         conflict.witness->threads + 2);
  finding.coordinates = conflict.witness->coordinates;
  finding.message = "data race on " + describeMemory(race.first, race.second) +
                    ": " + describeWho(race.first, race.second, finding) +
                    printIterations(race.ofSecond) +
                    ", and no wait for an mbarrier orders them";
  finding.notes.push_back(
      {first.op->getLoc(), "the other access: '" +
                               first.op->getName().getStringRef().str() + "'" +
                               printIterations(race.ofFirst)});
  notePassed(race.passedFirst, finding);
  notePassed(race.passedSecond, finding);
  // It takes the place of what was only possible.
  if (report.finding) {
    findings[*report.finding] = std::move(finding);
    report.finding = std::nullopt;
  } else if (countRace(conflict.kind)) {
    findings.push_back(std::move(finding));
    noteMore(conflict.kind);
  }
}

void SyncFindings::addProtocol() {
  const ProtocolOrders *protocol = kernel.getProtocol();
  if (!protocol)
    return;
  if (!kernel.hasUnfollowedOrders())
    for (const ProtocolOrders::Race &race : protocol->getRaces())
      addRace(race);
  for (const ProtocolFinding &fault : protocol->getFaults()) {
    SyncFinding &finding = findings.emplace_back();
    finding.verdict = !fault.isCertain || kernel.hasUnfollowedOrders()
                          ? SyncVerdict::Maybe
                          : SyncVerdict::Deadlock;
    finding.at = getSite(fault.op);
    finding.message = fault.message;
  }
}

} // namespace mlir::workgroup
