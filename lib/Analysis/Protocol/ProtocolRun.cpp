//===- ProtocolRun.cpp - Who knows of what --------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProtocolRun.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <map>

namespace mlir::workgroup {

static constexpr int64_t kWarpsOfGroup = 4;
static constexpr int32_t kNever = std::numeric_limits<int32_t>::max();

ProtocolRun::ProtocolRun(llvm::ArrayRef<ProtocolStream> streams,
                         unsigned numBarriers, int64_t numThreads, Order order)
    : streams(streams), order(order), barriers(numBarriers) {
  makeAgents(numThreads);
  ProtocolClock empty(agents.size(), numBarriers);
  cursors.assign(agents.size(), 0);
  clocks.assign(agents.size(), empty);
  copies.resize(agents.size());
  for (unsigned agent = 0; agent < agents.size(); ++agent)
    history.push_back({{0, empty}});
  for (Barrier &barrier : barriers)
    barrier.arrived = empty;
}

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

/// Adds agents for `warps`, all of which have lanes of the same streams: for
/// two of them, two for the lanes of each stream.
void ProtocolRun::addWarps(llvm::ArrayRef<int64_t> warps,
                           llvm::ArrayRef<std::optional<unsigned>> streamOf) {
  int64_t numWarps = std::min<int64_t>(2, warps.size());
  for (int64_t warp = 0; warp < numWarps; ++warp) {
    std::map<unsigned, llvm::SmallVector<int64_t>> lanes;
    for (auto [lane, stream] : llvm::enumerate(streamOf))
      if (stream)
        lanes[*stream].push_back(lane);
    int64_t warpWeight = warp ? 1 : warps.size() - (numWarps - 1);
    for (auto &[stream, own] : lanes) {
      int64_t numLanes = std::min<int64_t>(2, own.size());
      for (int64_t lane = 0; lane < numLanes; ++lane) {
        int64_t laneWeight = lane ? 1 : own.size() - (numLanes - 1);
        agents.push_back(
            {stream, warps[warp], own[lane], warpWeight * laneWeight});
      }
    }
  }
}

void ProtocolRun::makeAgents(int64_t numThreads) {
  using Lanes = std::vector<std::optional<unsigned>>;
  std::map<int64_t, Lanes> lanesOf;
  for (auto [number, stream] : llvm::enumerate(streams))
    for (int64_t thread : stream.threads) {
      Lanes &lanes = lanesOf[thread / kWarpSize];
      lanes.resize(kWarpSize);
      lanes[thread % kWarpSize] = number;
    }
  std::map<Lanes, llvm::SmallVector<int64_t>> warpsOf;
  for (auto &[warp, lanes] : lanesOf)
    warpsOf[lanes].push_back(warp);
  for (auto &[lanes, warps] : warpsOf)
    addWarps(warps, lanes);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void ProtocolRun::run() {
  bool hasGoneOn = true;
  while (hasGoneOn) {
    hasGoneOn = false;
    for (unsigned number = 0; number < agents.size(); ++number) {
      unsigned agent = order == LastFirst ? agents.size() - 1 - number : number;
      for (bool goesOn = true; goesOn && !isAtEnd(agent) && step(agent);) {
        hasGoneOn = true;
        goesOn = order != InTurns;
      }
    }
  }
  findStuck();
}

bool ProtocolRun::isDone() const {
  for (unsigned agent = 0; agent < agents.size(); ++agent)
    if (!isAtEnd(agent))
      return false;
  return true;
}

/// Notes what is wrong; only the first ones of a kind would be read.
ProtocolFault &ProtocolRun::add(ProtocolFault::Kind kind, unsigned agent,
                                size_t event) {
  constexpr int kMaxOfKind = 16;
  bool isTold = llvm::count_if(faults, [&](const ProtocolFault &fault) {
                  return fault.kind == kind;
                }) < kMaxOfKind;
  ProtocolFault &fault = isTold ? faults.emplace_back() : untold;
  fault.kind = kind;
  fault.agent = agent;
  fault.event = event;
  return fault;
}

void ProtocolRun::go(unsigned agent) {
  clocks[agent].setDone(agent, ++cursors[agent]);
}

/// Keeps what `agent` knows from its next event on, if any of it is new.
void ProtocolRun::note(unsigned agent, bool isNew) {
  if (isNew)
    history[agent].push_back({cursors[agent], clocks[agent]});
}

/// Does the next event of an agent; false if it has to wait.
bool ProtocolRun::step(unsigned agent) {
  const ProtocolEvent &event = getEvent(agent);
  switch (event.kind) {
  case ProtocolEvent::Access:
  case ProtocolEvent::Fence:
  case ProtocolEvent::Settle:
    go(agent);
    return true;
  case ProtocolEvent::Copy:
    copy(agent);
    return true;
  case ProtocolEvent::Arrive:
    arrive(agent);
    return true;
  case ProtocolEvent::Init: {
    Barrier &barrier = barriers[event.barrier];
    if (barrier.init || agents[agent].weight != 1)
      add(ProtocolFault::Unready, agent, cursors[agent]);
    barrier.count = barrier.pending = event.count;
    barrier.init = {agent, cursors[agent]};
    go(agent);
    return true;
  }
  case ProtocolEvent::Wait:
    return wait(agent);
  case ProtocolEvent::WarpMeeting:
  case ProtocolEvent::Meeting:
    return meet(agent);
  }
  return false;
}

/// Notes if the mbarrier of the next event of `agent` may not be ready for it.
bool ProtocolRun::isReady(unsigned agent) {
  const ProtocolEvent &event = getEvent(agent);
  const Barrier &barrier = barriers[event.barrier];
  bool isKnown = barrier.init && barrier.count > 0 &&
                 clocks[agent].getDone(barrier.init->first) >
                     int32_t(barrier.init->second);
  bool isFenced = event.kind != ProtocolEvent::Copy;
  if (isKnown && !isFenced) {
    auto [maker, made] = *barrier.init;
    const auto &events = streams[agents[maker].stream].events;
    for (size_t at = made; at < size_t(clocks[agent].getDone(maker)); ++at)
      isFenced |= events[at].kind == ProtocolEvent::Fence;
  }
  if (isKnown && isFenced)
    return true;
  add(ProtocolFault::Unready, agent, cursors[agent]).isOfFence = isKnown;
  return isKnown;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

void ProtocolRun::endPhase(unsigned number) {
  Barrier &barrier = barriers[number];
  if (barrier.brought > barrier.announced) {
    // What is too much comes when the phase is over.
    int32_t phase = barrier.ended.size();
    for (unsigned agent = 0; agent < agents.size(); ++agent)
      for (auto &[event, of] : copies[agent])
        if (of == phase &&
            streams[agents[agent].stream].events[event].barrier == number)
          of = kNever - 1;
  }
  size_t phase = barrier.ended.size();
  ProtocolClock &clock = barrier.ended.emplace_back(barrier.arrived);
  clock.setEnded(number, phase + 1);
  // Whoever waited for the phase before has to know before this one ends.
  if (phase < barrier.waits.size())
    for (auto [agent, event] : barrier.waits[phase])
      if (clock.getPassed(agent) <= int32_t(event))
        add(ProtocolFault::Overrun, agent, event);
  barrier.pending = barrier.count;
  barrier.announced = barrier.brought = 0;
  barrier.arrived.clear();
}

void ProtocolRun::endIfOver(unsigned number) {
  Barrier &barrier = barriers[number];
  if (barrier.pending == 0 && barrier.count > 0 &&
      barrier.brought >= barrier.announced)
    endPhase(number);
}

bool ProtocolRun::wait(unsigned agent) {
  const ProtocolEvent &event = getEvent(agent);
  if (!isReady(agent)) {
    go(agent);
    return true;
  }
  Barrier &barrier = barriers[event.barrier];
  int32_t known = clocks[agent].getEnded(event.barrier);
  int32_t ended = barrier.ended.size();
  // It gets on where it is if the phase that it knows to be over is the one.
  bool isOver = (known & 1) != int32_t(event.parity);
  int32_t phase = isOver ? known - 1 : known;
  if (phase >= ended)
    return false;
  if (ended > phase + 1) {
    if (eagerEnds.empty())
      eagerEnds = cursors;
    add(ProtocolFault::Overrun, agent, cursors[agent]);
  }
  if (barrier.waits.size() <= size_t(phase) + 1)
    barrier.waits.resize(phase + 2);
  barrier.waits[phase + 1].push_back({agent, cursors[agent]});
  go(agent);
  if (!isOver)
    note(agent, clocks[agent].join(barrier.ended[phase]));
  return true;
}

void ProtocolRun::arrive(unsigned agent) {
  size_t at = cursors[agent];
  const ProtocolEvent &event = getEvent(agent);
  Barrier &barrier = barriers[event.barrier];
  isReady(agent);
  int32_t known = clocks[agent].getEnded(event.barrier);
  if (known != int32_t(barrier.ended.size()))
    add(ProtocolFault::Surplus, agent, at);
  int64_t left = event.count * agents[agent].weight;
  barrier.announced += event.bytes * agents[agent].weight;
  go(agent);
  for (bool isFirst = true; left > 0 && barrier.count > 0; isFirst = false) {
    if (!isFirst || barrier.pending == 0)
      add(ProtocolFault::Surplus, agent, at);
    if (barrier.pending == 0)
      return; // it waits for bytes, and counts no more
    int64_t taken = std::min(left, barrier.pending);
    barrier.pending -= taken;
    left -= taken;
    barrier.arrived.join(clocks[agent]);
    endIfOver(event.barrier);
  }
}

void ProtocolRun::copy(unsigned agent) {
  size_t at = cursors[agent];
  const ProtocolEvent &event = getEvent(agent);
  Barrier &barrier = barriers[event.barrier];
  isReady(agent);
  int32_t known = clocks[agent].getEnded(event.barrier);
  barrier.brought += event.bytes * agents[agent].weight;
  copies[agent].push_back({at, int32_t(barrier.ended.size())});
  bool isTooMuch = barrier.brought > barrier.announced && barrier.pending == 0;
  if (isTooMuch || known != int32_t(barrier.ended.size()))
    add(ProtocolFault::Unannounced, agent, at).bytes =
        barrier.brought - barrier.announced;
  go(agent);
  endIfOver(event.barrier);
}

/// True if `agent` does not go on from `event` without `other`.
bool ProtocolRun::isToMeet(unsigned agent, const ProtocolEvent &event,
                           unsigned other) const {
  int64_t lhs = agents[agent].warp, rhs = agents[other].warp;
  if (event.kind == ProtocolEvent::WarpMeeting)
    return event.product ? lhs / kWarpsOfGroup == rhs / kWarpsOfGroup
                         : lhs == rhs;
  return event.count == 0;
}

/// Meets others at a barrier: the last one to come lets all go on.
bool ProtocolRun::meet(unsigned agent) {
  const ProtocolEvent &event = getEvent(agent);
  llvm::SmallVector<unsigned> met;
  int64_t weight = 0;
  bool isOfWarp = event.kind == ProtocolEvent::WarpMeeting;
  bool isOfAll = !isOfWarp && event.count == 0;
  for (unsigned other = 0; other < agents.size(); ++other) {
    bool isMissed = isToMeet(agent, event, other);
    if (isOfWarp && !isMissed)
      continue;
    const ProtocolEvent *at = isAtEnd(other) ? nullptr : &getEvent(other);
    bool isHere =
        at && at->kind == event.kind && at->barrier == event.barrier &&
        at->product == event.product && (!event.product || at->op == event.op);
    if (!isHere && isMissed)
      return false;
    if (isHere) {
      met.push_back(other);
      weight += agents[other].weight;
    }
  }
  if (!isOfWarp && !isOfAll && weight != event.count)
    return false;
  bool isOfProduct = event.product.has_value();
  for (unsigned other : met)
    go(other);
  if (!isOfProduct)
    tell(met, /*isOfPassed=*/false);
  // Only lanes of a warp wait for each other for certain.
  for (unsigned other : met) {
    llvm::SmallVector<unsigned> lanes;
    llvm::copy_if(met, std::back_inserter(lanes), [&](unsigned lane) {
      return agents[lane].warp == agents[other].warp;
    });
    if (isOfProduct)
      tell(lanes, /*isOfPassed=*/true);
  }
  return true;
}

/// Lets all of those who have `met` know what one of them does; or only where
/// they have gone on from (`isOfPassed`).
void ProtocolRun::tell(llvm::ArrayRef<unsigned> met, bool isOfPassed) {
  ProtocolClock all(agents.size(), barriers.size());
  for (unsigned agent : met)
    all.join(clocks[agent]);
  for (unsigned agent : met)
    note(agent,
         isOfPassed ? clocks[agent].joinPassed(all) : clocks[agent].join(all));
}

/// Says what those wait for who do not get on.
void ProtocolRun::findStuck() {
  for (unsigned agent = 0; agent < agents.size(); ++agent) {
    if (isAtEnd(agent) || getEvent(agent).kind != ProtocolEvent::Wait)
      continue;
    const Barrier &barrier = barriers[getEvent(agent).barrier];
    ProtocolFault &fault = add(ProtocolFault::Stuck, agent, cursors[agent]);
    fault.arrivals = barrier.pending;
    fault.bytes = barrier.announced - barrier.brought;
    fault.phase = barrier.ended.size();
  }
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

const ProtocolClock &ProtocolRun::getClock(unsigned agent, size_t event) const {
  const auto &known = history[agent];
  auto behind = llvm::upper_bound(
      known, event, [](size_t at, auto &entry) { return at < entry.first; });
  return std::prev(behind)->second;
}

bool ProtocolRun::isBefore(unsigned first, size_t event, unsigned second,
                           size_t other) const {
  const ProtocolEvent &done = streams[agents[first].stream].events[event];
  const ProtocolClock &clock = getClock(second, other);
  if (done.kind == ProtocolEvent::Copy) {
    auto copy = llvm::lower_bound(
        copies[first], event,
        [](const auto &entry, size_t at) { return entry.first < at; });
    return copy != copies[first].end() && copy->first == event &&
           clock.getEnded(done.barrier) > copy->second;
  }
  if (done.product)
    return isProductBefore(first, *done.product, second, other, kWarpSize);
  if (done.isAsync && !done.done)
    return false;
  size_t end = done.done.value_or(event) + 1;
  if (first == second)
    return other >= end;
  return clock.getDone(first) >= int32_t(end);
}

bool ProtocolRun::isBeforeForGroup(unsigned first, size_t event,
                                   unsigned second, size_t other) const {
  const ProtocolEvent &done = streams[agents[first].stream].events[event];
  return done.product ? isProductBefore(first, *done.product, second, other,
                                        kWarpsOfGroup * kWarpSize)
                      : isBefore(first, event, second, other);
}

/// True if both do the same products up to `number`.
static bool haveSameProducts(const ProtocolStream &lhs,
                             const ProtocolStream &rhs, size_t number) {
  if (&lhs == &rhs)
    return true;
  if (std::min(lhs.products.size(), rhs.products.size()) <= number)
    return false;
  return llvm::equal(
      llvm::ArrayRef(lhs.products).take_front(number + 1),
      llvm::ArrayRef(rhs.products).take_front(number + 1),
      [](auto &one, auto &another) { return one.op == another.op; });
}

/// True if a product of `first` is done as far as `second` knows: a thread that
/// waits for it waits for what those read that are aligned with it, of as many
/// threads.
bool ProtocolRun::isProductBefore(unsigned first, size_t number,
                                  unsigned second, size_t other,
                                  int64_t numThreads) const {
  const ProtocolStream &own = streams[agents[first].stream];
  const ProtocolClock &clock = getClock(second, other);
  int64_t numWarps = numThreads / kWarpSize;
  for (unsigned agent = 0; agent < agents.size(); ++agent) {
    const ProtocolStream &stream = streams[agents[agent].stream];
    if (agents[agent].warp / numWarps != agents[first].warp / numWarps ||
        !haveSameProducts(own, stream, number) || !stream.products[number].done)
      continue;
    size_t end = *stream.products[number].done + 1;
    if (agent == second ? other >= end : clock.getDone(agent) >= int32_t(end))
      return true;
  }
  return false;
}

bool ProtocolRun::isFencedBefore(unsigned first, size_t event, unsigned second,
                                 size_t other) const {
  const auto &events = streams[agents[first].stream].events;
  size_t end = first == second ? other : getClock(second, other).getDone(first);
  for (size_t at = event + 1; at < std::min(end, events.size()); ++at)
    if (events[at].kind == ProtocolEvent::Fence && !events[at].isOfInits)
      return true;
  return false;
}

} // namespace mlir::workgroup
