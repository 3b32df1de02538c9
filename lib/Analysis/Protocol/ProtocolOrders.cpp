//===- ProtocolOrders.cpp - What mbarriers order --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProtocolOrders.h"
#include "ProtocolPeriods.h"
#include "ProtocolStreams.h"
#include "ProtocolTrips.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "workgroup/Support/Kernel.h"
#include <map>

namespace mlir::workgroup {

/// More accesses between events are not compared.
static constexpr size_t kMaxTouches = 2048;

ProtocolOrders::ProtocolOrders(Operation *scope, const ThreadAccesses &accesses,
                               const KernelLoops &loops,
                               const UniformityAnalysis &uniformity)
    : accesses(accesses), targets(scope, accesses) {
  if (!targets.areFollowed())
    return;
  // What holds of a loop that goes on holds whenever loops around begin anew;
  // what does not hold of it may.
  bool mayGoOn = targets.hasInnerSync(scope);
  examine(scope, loops, uniformity, mayGoOn);
  if (!mayGoOn || isClean())
    return;
  open.clear();
  raced.clear();
  behind.clear();
  races.clear();
  faults.clear();
  examine(scope, loops, uniformity, /*goesOn=*/false);
}

/// Compares all that threads do, whichever lane is elected; that it is the
/// first one, as others may be, too, or one that does nothing else.
void ProtocolOrders::examine(Operation *scope, const KernelLoops &loops,
                             const UniformityAnalysis &uniformity,
                             bool goesOn) {
  bool hasElection =
      scope->walk([](NVVM::ElectSyncOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  bool areProven = true;
  SmallVector<int64_t, 2> lanes{0};
  if (hasElection)
    lanes.push_back(kWarpSize - 1);
  for (int64_t lane : lanes) {
    isProven = false;
    if (makeStreams(scope, loops, lane, goesOn))
      examine(scope, uniformity);
    areProven &= isProven;
  }
  isProven = areProven;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// Finds what threads do; false if that is not known of all of them.
bool ProtocolOrders::makeStreams(Operation *scope, const KernelLoops &loops,
                                 int64_t elected, bool goesOn) {
  streams.clear();
  auto made = makeProtocolStreams(scope, targets, loops, elected,
                                  /*areRepeated=*/true, goesOn);
  if (!made)
    return false;
  streams = std::move(*made);
  for (const ProtocolStream &stream : streams)
    for (Operation *op : stream.behind)
      behind.insert_range(targets.getAccesses(op));
  return true;
}

void ProtocolOrders::addTouches(unsigned number) {
  const ProtocolStream &stream = streams[number];
  size_t begin = touches.size();
  for (auto [at, event] : llvm::enumerate(stream.events)) {
    if (!event.access) {
      begin = touches.size(); // something is ordered
      continue;
    }
    const ThreadAccess &access = accesses.getAccesses()[*event.access];
    const ProtocolPlace &place = stream.places[event.place];
    Touch made{number, place, {at}, access.isWrite(), isOfAsyncProxy(access)};
    bool isAlone = event.kind == ProtocolEvent::Copy || event.isAsync;
    auto like = llvm::find_if(
        llvm::drop_begin(touches, begin), [&](const Touch &touch) {
          return !isAlone && touch.hull.root == place.root &&
                 touch.isWrite == made.isWrite &&
                 touch.isOfProxy == made.isOfProxy &&
                 touch.hull.isAnywhere() == place.isAnywhere();
        });
    if (isAlone || like == touches.end()) {
      touches.push_back(std::move(made));
      begin = isAlone ? touches.size() : begin;
      continue;
    }
    like->events.push_back(at);
    like->hull.first = std::min(like->hull.first, place.first);
    like->hull.end = std::max(like->hull.end, place.end);
  }
}

void ProtocolOrders::makeTouches() {
  touches.clear();
  for (unsigned number = 0; number < streams.size(); ++number)
    addTouches(number);
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

static bool isAsyncEvent(const ProtocolEvent &event) {
  return event.isAsync || event.kind == ProtocolEvent::Copy;
}

/// True if threads may touch the same bytes by two events: different ones, or
/// one by what goes on behind its event.
bool ProtocolOrders::mayMeet(const Touch &lhs, size_t first, const Touch &rhs,
                             size_t second) const {
  constexpr size_t kMaxCompared = 1 << 14;
  const ProtocolStream &left = streams[lhs.stream],
                       &right = streams[rhs.stream];
  const ProtocolEvent &one = left.events[first], &other = right.events[second];
  const ProtocolPlace &a = left.places[one.place];
  const ProtocolPlace &b = right.places[other.place];
  if (!a.mayOverlap(b))
    return false;
  if (a.isAnywhere() || b.isAnywhere() ||
      a.starts.size() * b.starts.size() > kMaxCompared)
    return true;
  bool mayBeSame = &one != &other && (isAsyncEvent(one) || isAsyncEvent(other));
  for (auto [thread, start] : llvm::zip_equal(left.threads, a.starts))
    for (auto [meeting, at] : llvm::zip_equal(right.threads, b.starts))
      if ((mayBeSame || thread != meeting) && start < at + b.width &&
          at < start + a.width)
        return true;
  return false;
}

bool ProtocolOrders::Unordered::contains(int64_t thread, int64_t other) const {
  if (thread == other)
    return isOfThread;
  return thread / kWarpSize == other / kWarpSize ? isOfWarp : isOfWarps;
}

/// Finds two of the threads that are `unordered` which touch the same byte by
/// two events for certain.
bool ProtocolOrders::findMeeting(const Touch &lhs, size_t first,
                                 const Touch &rhs, size_t second,
                                 const Unordered &unordered, Race &race) const {
  const ProtocolStream &left = streams[lhs.stream],
                       &right = streams[rhs.stream];
  const ProtocolPlace &a = left.places[left.events[first].place];
  const ProtocolPlace &b = right.places[right.events[second].place];
  if (a.root != b.root || a.isAnywhere() || b.isAnywhere())
    return false;
  for (auto [thread, start] : llvm::zip_equal(left.threads, a.starts))
    for (auto [other, at] : llvm::zip_equal(right.threads, b.starts)) {
      int64_t begin = std::max(start, at);
      int64_t end = std::min(start + a.width, at + b.width);
      bool isSure = (a.isWhole && b.isWhole) ||
                    (a.isWhole && end - begin == b.width) ||
                    (b.isWhole && end - begin == a.width);
      if (begin >= end || !isSure || !unordered.contains(thread, other))
        continue;
      race.threads[0] = thread;
      race.threads[1] = other;
      race.byte = begin;
      return true;
    }
  return false;
}

/// True if what two agents do is in order, one way or the other; `isUnsure`
/// if they are not, but for a fence, or might be by the waits of others.
bool ProtocolOrders::areOrdered(const ProtocolRun &run, const Touch &lhs,
                                const Touch &rhs, unsigned first,
                                unsigned second, bool *isUnsure) const {
  auto isBefore = [&](const Touch &before, unsigned agent, const Touch &behind,
                      unsigned other) {
    size_t at = before.events.back(), next = behind.events.front();
    if (!run.isBefore(agent, at, other, next)) {
      *isUnsure |= run.isBeforeForGroup(agent, at, other, next);
      return false;
    }
    bool isFenced = before.isOfProxy || !behind.isOfProxy ||
                    run.isFencedBefore(agent, at, other, next);
    *isUnsure |= !isFenced;
    return isFenced;
  };
  return isBefore(lhs, first, rhs, second) || isBefore(rhs, second, lhs, first);
}

/// Keeps those of two touches that may meet, as no order of them is known; that
/// there is none is known of those that are `unordered`.
void ProtocolOrders::addOpen(const ProtocolRun &run, const Touch &lhs,
                             const Touch &rhs, const Unordered &unordered) {
  const ProtocolStream &left = streams[lhs.stream],
                       &right = streams[rhs.stream];
  for (size_t first : lhs.events)
    for (size_t second : rhs.events) {
      if (!mayMeet(lhs, first, rhs, second))
        continue;
      const ProtocolEvent &one = left.events[first];
      const ProtocolEvent &other = right.events[second];
      std::pair<unsigned, unsigned> pair =
          std::minmax(*one.access, *other.access);
      open.insert(pair);
      Race race{*one.access,
                *other.access,
                left.iterations[one.iterations],
                right.iterations[other.iterations],
                findPassed(run, lhs.stream, first),
                findPassed(run, rhs.stream, second)};
      if (!raced.contains(pair) &&
          findMeeting(lhs, first, rhs, second, unordered, race)) {
        raced.insert(pair);
        races.push_back(std::move(race));
      }
    }
}

/// The last wait before an event, if it gets on without waiting; null
/// otherwise.
Operation *ProtocolOrders::findPassed(const ProtocolRun &run, unsigned stream,
                                      size_t event) const {
  ArrayRef<ProtocolAgent> agents = run.getAgents();
  const auto *agent = llvm::find_if(agents, [&](const ProtocolAgent &agent) {
    return agent.stream == stream;
  });
  const std::vector<ProtocolEvent> &events = streams[stream].events;
  while (event-- > 0) {
    if (events[event].kind != ProtocolEvent::Wait)
      continue;
    int32_t known = run.getClock(agent - agents.begin(), event)
                        .getEnded(events[event].barrier);
    return (known & 1) != int32_t(events[event].parity) ? events[event].op
                                                        : nullptr;
  }
  return nullptr;
}

void ProtocolOrders::compare(const ProtocolRun &run, const Touch &lhs,
                             const Touch &rhs, bool isReal) {
  if (!(lhs.isWrite || rhs.isWrite) || !lhs.hull.mayOverlap(rhs.hull))
    return;
  bool isSame = &lhs == &rhs, isOpen = false;
  bool goesOn = isAsyncEvent(streams[lhs.stream].events[lhs.events[0]]) ||
                isAsyncEvent(streams[rhs.stream].events[rhs.events[0]]);
  Unordered unordered;
  for (unsigned first : agentsOf[lhs.stream])
    for (unsigned second : agentsOf[rhs.stream]) {
      if (first == second && (isSame || !goesOn))
        continue; // one after the other
      bool isDone = lhs.events.back() < run.getEnd(first) &&
                    rhs.events.back() < run.getEnd(second);
      bool isUnsure = false;
      if (isDone && areOrdered(run, lhs, rhs, first, second, &isUnsure))
        continue;
      isOpen = true;
      if (!isDone || isUnsure || !isReal ||
          !run.isEager(first, lhs.events.back()) ||
          !run.isEager(second, rhs.events.back()))
        continue;
      bool isOfWarp =
          run.getAgents()[first].warp == run.getAgents()[second].warp;
      unordered.isOfThread |= first == second;
      unordered.isOfWarp |= first != second && isOfWarp;
      unordered.isOfWarps |= !isOfWarp;
    }
  if (isOpen)
    addOpen(run, lhs, rhs, unordered);
}

void ProtocolOrders::compare(const ProtocolRun &run, bool isReal) {
  agentsOf.assign(streams.size(), {});
  for (auto [number, agent] : llvm::enumerate(run.getAgents()))
    agentsOf[agent.stream].push_back(number);
  std::map<unsigned, std::vector<const Touch *>> ofRoots;
  for (const Touch &touch : touches)
    ofRoots[touch.hull.root].push_back(&touch);
  for (auto &[root, own] : ofRoots)
    for (size_t second = 0; second < own.size(); ++second)
      for (size_t first = 0; first <= second; ++first)
        compare(run, *own[first], *own[second], isReal);
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

void ProtocolOrders::examine(Operation *scope,
                             const UniformityAnalysis &uniformity) {
  makeTouches();
  if (touches.size() > kMaxTouches)
    return;
  bool isExact = llvm::all_of(
      streams, [](const ProtocolStream &stream) { return stream.isExact; });
  int64_t numThreads = *getBlockShape(scope).getNumThreads();
  isProven = true;
  for (auto order : {ProtocolRun::FirstFirst, ProtocolRun::LastFirst,
                     ProtocolRun::InTurns}) {
    ProtocolRun run(streams, targets.getNumBarriers(), numThreads, order);
    run.run();
    isProven &= run.isDone() && run.getFaults().empty() &&
                isSettled(streams, run) && areBehindHarmless(streams, run);
    compare(run, isExact);
    addProtocolFaults(streams, run, isExact, faults);
    if (isProven) {
      addProtocolTrips(streams, run, uniformity, faults);
      return; // one run tells of all
    }
  }
}

} // namespace mlir::workgroup
