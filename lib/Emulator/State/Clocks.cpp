//===- Clocks.cpp - Which accesses of a block are ordered -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clocks.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::workgroup::emulator {

Clocks::Clocks(unsigned numThreads, bool hasAgents, unsigned numBlocks)
    : numThreads(numThreads), numBlocks(numBlocks),
      threadsPerBlock(numThreads / numBlocks), hasAgents(hasAgents),
      numFixed(hasAgents ? 3 * numThreads + 1 : numThreads + 1),
      times(numThreads), bases(numFixed + (hasAgents ? kMaxAgents : 0)),
      vectors(numThreads + 1, bases.size()), covered(numThreads, bases.size()),
      seen(numThreads, bases.size()), fenced(hasAgents ? 2 * numThreads : 0) {}

bool Clocks::beginBlock() {
  constexpr uint32_t kLatest = 1u << 30;
  bool restarts = now > kLatest || agentNow - kFirstAgentTime > kLatest;
  if (restarts) {
    now = 0;
    agentNow = kFirstAgentTime;
    consumed.clear();
  }
  synchronizeAll();
  start = now;
  agentStart = agentNow;
  std::fill(bases.begin(), bases.end(), 0);
  std::fill(fenced.begin(), fenced.end(), 0);
  issuers.clear();
  lastTimes.clear();
  meetings.clear();
  covered.clear();
  seen.clear();
  return restarts;
}

void Clocks::synchronizeAll() {
  base = now++;
  std::fill(times.begin(), times.end(), now);
  for (auto [fence, time] : llvm::enumerate(fenced))
    bases[getProxyIndex(fence)] = time;
  if (!hasVectors)
    return;
  for (unsigned thread = 0; thread < numThreads; ++thread)
    if (vectors.has(thread)) {
      const uint32_t *vector = vectors.get(thread);
      bases[numThreads] = std::max(bases[numThreads], vector[numThreads]);
      for (unsigned i = numFixed, e = numFixed + issuers.size(); i < e; ++i)
        bases[i] = std::max(bases[i], vector[i]);
    }
  vectors.clear();
  hasVectors = false;
}

Clocks::Meeting Clocks::copyVector(unsigned thread) const {
  if (!vectors.has(thread) && !hasAgents)
    return {};
  const uint32_t *vector =
      vectors.has(thread) ? vectors.get(thread) : bases.data();
  return {vector, vector + bases.size()};
}

void Clocks::raiseKnown(unsigned thread, uint32_t stamp) {
  if (stamp > getKnown(thread))
    makeVector(thread)[numThreads] = stamp;
}

void Clocks::tick(unsigned thread) { times[thread] = ++now; }

void Clocks::join(uint32_t *into, const uint32_t *from) const {
  for (unsigned i = 0, e = numFixed + issuers.size(); i < e; ++i)
    into[i] = std::max(into[i], from[i]);
}

void Clocks::release(unsigned thread, Meeting &meeting) {
  meeting.resize(bases.size());
  if (vectors.has(thread))
    join(meeting.data(), vectors.get(thread));
  meeting[numThreads] = std::max(meeting[numThreads], getKnown(thread));
  meeting[thread] = std::max(meeting[thread], times[thread]);
  if (hasAgents)
    for (ProxyMemory memory : {ProxyMemory::Shared, ProxyMemory::Global}) {
      unsigned fence = getFence(thread, memory);
      uint32_t &known = meeting[getProxyIndex(fence)];
      known = std::max(known, fenced[fence]);
    }
  tick(thread);
}

void Clocks::acquire(unsigned thread, const Meeting &meeting) {
  if (!meeting.empty())
    join(makeVector(thread), meeting.data());
}

void Clocks::synchronize(llvm::ArrayRef<unsigned> threads) {
  if (threads.size() == numThreads)
    return synchronizeAll();
  Meeting meeting;
  for (unsigned thread : threads)
    release(thread, meeting);
  for (unsigned thread : threads)
    acquire(thread, meeting);
}

Clocks::Meeting Clocks::getKnowledge(unsigned thread) const {
  Meeting known(bases.begin(), bases.end());
  std::fill_n(known.begin(), numThreads, base);
  if (vectors.has(thread))
    std::copy_n(vectors.get(thread), known.size(), known.begin());
  known[thread] = times[thread];
  if (hasAgents)
    for (ProxyMemory memory : {ProxyMemory::Shared, ProxyMemory::Global}) {
      unsigned fence = getFence(thread, memory);
      uint32_t &covered = known[getProxyIndex(fence)];
      covered = std::max(covered, fenced[fence]);
    }
  return known;
}

unsigned Clocks::meet(llvm::ArrayRef<unsigned> threads) {
  unsigned all = numThreads;
  vectors.erase(all);
  uint32_t *vector = vectors.make(all, [&](uint32_t *) {});
  bool isFirst = true;
  for (unsigned thread : threads) {
    Meeting known = getKnowledge(thread);
    for (size_t i = 0; i < known.size(); ++i)
      vector[i] = isFirst ? known[i] : std::min(vector[i], known[i]);
    isFirst = false;
  }
  return all;
}

void Clocks::exchangeValues(llvm::ArrayRef<unsigned> threads,
                            llvm::ArrayRef<uint32_t> exchanges) {
  for (auto [thread, exchange] : llvm::zip(threads, exchanges)) {
    if (exchange == 0)
      continue;
    if (consumed.size() < exchange)
      consumed.resize(exchange);
    std::vector<uint32_t> &over = consumed[exchange - 1];
    over.resize(size_t(numThreads) * kWarpSize);
    // Lanes may meet from different exchanges.
    for (auto [other, theirs] : llvm::zip(threads, exchanges))
      if (theirs == exchange)
        over[thread * kWarpSize + other % kWarpSize] = times[other];
  }
  for (auto [thread, exchange] : llvm::zip(threads, exchanges))
    if (exchange != 0)
      tick(thread);
}

bool Clocks::isConsumed(Access read, unsigned thread,
                        const llvm::BitVector &feeds,
                        const llvm::BitVector &follows) const {
  unsigned other = read.getActor();
  if (other / kWarpSize != thread / kWarpSize || !feeds.anyCommon(follows))
    return false;
  unsigned place = thread * kWarpSize + other % kWarpSize;
  return llvm::any_of(feeds.set_bits(), [&](unsigned exchange) {
    return follows.size() > exchange && follows.test(exchange) &&
           consumed.size() > exchange && !consumed[exchange].empty() &&
           read.time <= consumed[exchange][place];
  });
}

void Clocks::orderAt(uint64_t address, unsigned thread, AtomicOrder order) {
  // Very many addresses share what they carry, which makes no race up.
  constexpr uint64_t kMaxMeetings = 4096;
  Meeting &meeting = meetings[address / 4 % kMaxMeetings];
  if (order.reads && !meeting.empty()) {
    auto clear = [&](uint32_t *vector) {
      std::fill_n(vector, bases.size(), 0);
    };
    join(order.acquires ? makeVector(thread) : seen.make(thread, clear),
         meeting.data());
  }
  if (!order.writes)
    return;
  if (order.releases) {
    release(thread, meeting);
  } else if (covered.has(thread)) {
    meeting.resize(bases.size());
    join(meeting.data(), covered.get(thread));
  }
}

void Clocks::fence(unsigned thread) {
  if (seen.has(thread))
    join(makeVector(thread), seen.get(thread));
  seen.erase(thread);
  Meeting now;
  release(thread, now);
  covered.erase(thread);
  covered.make(thread, [&](uint32_t *vector) {
    std::copy(now.begin(), now.end(), vector);
  });
}

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

/// A thread has one agent for copies of which it knows each before it issues
/// the next, and further agents while some are under way. If there are very
/// many, the last one is shared, which can hide that a copy was not waited for.
Access Clocks::beginAgent(unsigned thread, uint32_t site) {
  unsigned agent = 0;
  auto isFree = [&] {
    Access last = Access::make(lastTimes[agent], kFirstAgent + agent, 0);
    return issuers[agent] == thread && isOrdered(last, thread);
  };
  while (agent < issuers.size() && !isFree())
    ++agent;
  agent = std::min(agent, kMaxAgents - 1);
  if (agent == issuers.size()) {
    issuers.push_back(thread);
    lastTimes.push_back(0);
  }
  lastTimes[agent] = ++agentNow;
  return Access::make(agentNow, kFirstAgent + agent, site, /*isAsync=*/true);
}

void Clocks::finishAgent(Access agent, Meeting &meeting) {
  meeting.resize(bases.size());
  uint32_t &known = meeting[getIndex(agent.getActor())];
  known = std::max(known, agent.time);
}

void Clocks::learn(unsigned thread, Access agent) {
  if (isOrdered(agent, thread))
    return;
  makeVector(thread)[getIndex(agent.getActor())] = agent.time;
}

bool Clocks::isKnownToAny(Access access, unsigned first, unsigned count) const {
  for (unsigned thread = first; thread < first + count; ++thread)
    if (isOrdered(access, thread))
      return true;
  return false;
}

void Clocks::fenceProxy(unsigned thread, ProxyMemory memory) {
  fenced[getFence(thread, memory)] = times[thread];
  tick(thread);
}

bool Clocks::isCovered(Access access, unsigned thread,
                       ProxyMemory memory) const {
  unsigned other = access.getActor();
  unsigned fence = getFence(other, memory);
  uint32_t known = other == thread ? fenced[fence]
                   : vectors.has(thread)
                       ? vectors.get(thread)[getProxyIndex(fence)]
                       : bases[getProxyIndex(fence)];
  return access.time <= known;
}

} // namespace mlir::workgroup::emulator
