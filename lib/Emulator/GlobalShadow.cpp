//===- GlobalShadow.cpp - Who touched which bytes of global memory --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShadowMemory.h"

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Publications
//===----------------------------------------------------------------------===//

void Publications::release(uint64_t block, unsigned thread,
                           const Clocks &clocks) {
  std::lock_guard<std::mutex> guard(mutex);
  uint64_t now = stamp.load() + 1;
  std::vector<Event> &released = events[{block, thread}];
  Event event{clocks.getTime(thread), clocks.getBase(), now,
              clocks.copyVector(thread)};
  // What a thread makes known only grows. Of very many times, the last stands
  // for those after it: known earlier than it was, which makes no race up.
  if (released.size() < kMaxEvents) {
    released.push_back(std::move(event));
  } else {
    event.stamp = released.back().stamp;
    released.back() = std::move(event);
  }
  stamp.store(now);
}

bool Publications::isKnown(uint64_t block, Access access, uint64_t known) {
  std::lock_guard<std::mutex> guard(mutex);
  unsigned thread = access.getThread();
  for (const auto &[key, released] : events) {
    if (key.first != block)
      continue;
    for (const Event &event : released) {
      bool covers =
          event.base >= access.time ||
          (key.second == thread && event.time >= access.time) ||
          (!event.others.empty() && event.others[thread] >= access.time);
      if (covers && event.stamp <= known)
        return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// A few stripes for many cells: workers seldom meet. What only some cells have
/// is kept by the stripe.
struct GlobalShadow::Locks {
  static constexpr unsigned kCount = 1024, kCellsPerLock = 16;
  struct alignas(64) Stripe {
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    llvm::DenseMap<uint64_t, AccessSet> coWriters;
  };
  std::array<Stripe, kCount> stripes;

  Stripe &of(uint64_t cell) { return stripes[cell / kCellsPerLock % kCount]; }
};

namespace {
/// Holds a spin lock, if there is one.
class SpinGuard {
public:
  explicit SpinGuard(std::atomic_flag *flag) : flag(flag) {
    while (flag && flag->test_and_set(std::memory_order_acquire))
      ;
  }
  ~SpinGuard() {
    if (flag)
      flag->clear(std::memory_order_release);
  }

private:
  std::atomic_flag *flag;
};
} // namespace

GlobalShadow::GlobalShadow(const KernelTables &tables, uint64_t bytes,
                           unsigned grain, bool isShared)
    : tables(tables), grain(grain), cells((bytes >> grain) + 1),
      isShared(isShared), locks(std::make_shared<Locks>()) {}

/// Adds the conflict with an access of `block`, unless something orders them.
/// Atomic operations are not at odds with each other, nor are reads.
void GlobalShadow::check(const Actor &actor, AccessKind kind, uint32_t block,
                         Access access, uint64_t offset, Conflicts &conflicts) {
  if (block == 0 || access.time == 0)
    return;
  AccessKind theirs = tables.sites[access.getSite()].kind;
  bool isAtomic = kind == AccessKind::Update || kind == AccessKind::AtomicRead;
  if (isAtomic &&
      (theirs == AccessKind::Update || theirs == AccessKind::AtomicRead))
    return;
  bool mayBeSameValue =
      kind == AccessKind::Write && theirs == AccessKind::Write;
  uint64_t other = block - 1;
  if (other == actor.block) {
    if (!actor.clocks.isOrdered(access, actor.thread))
      conflicts.push_back(
          {offset, {FindingKind::GlobalRace, access, {}, mayBeSameValue}});
    return;
  }
  if (!actor.publications.isKnown(other, access, actor.known))
    conflicts.push_back(
        {offset, {FindingKind::BlockRace, access, other, mayBeSameValue}});
}

void GlobalShadow::check(const Actor &actor, AccessKind kind,
                         const AccessSet &set, uint64_t offset,
                         Conflicts &conflicts) {
  check(actor, kind, set.block, set.accesses[0], offset, conflicts);
  check(actor, kind, set.block, set.accesses[1], offset, conflicts);
  check(actor, kind, set.otherBlock, set.other, offset, conflicts);
}

void GlobalShadow::record(const Actor &actor, AccessSet &set, Access access) {
  uint32_t block = actor.block + 1;
  if (set.block != block) {
    if (set.block) {
      set.otherBlock = set.block;
      set.other = set.accesses[0];
    }
    set.block = block;
    set.accesses[0] = access;
    set.accesses[1] = Access();
    return;
  }
  for (Access &other : set.accesses)
    if (other.getThread() == actor.thread ||
        actor.clocks.isOrdered(other, actor.thread)) {
      other = access;
      return;
    }
}

void GlobalShadow::accessCell(const Actor &actor, AccessKind kind,
                              uint64_t index, uint64_t at, Access access,
                              Conflicts &conflicts) {
  Locks::Stripe &stripe = locks->of(index);
  SpinGuard guard(isShared ? &stripe.flag : nullptr);
  GlobalCell &cell = cells[index];
  bool writes = kind == AccessKind::Write || kind == AccessKind::Update;
  size_t before = conflicts.size();
  check(actor, kind, cell.writeBlock, cell.write, at, conflicts);
  if (cell.hasCoWriters)
    check(actor, kind, stripe.coWriters[index], at, conflicts);
  bool hasOthers = conflicts.size() != before;
  if (!writes) {
    record(actor, cell.reads, access);
    return;
  }
  check(actor, kind, cell.reads, at, conflicts);
  if (cell.pending)
    conflicts.push_back(
        {at, {FindingKind::NotWaited, cell.reads.accesses[0], {}}});
  if (kind == AccessKind::Update || hasOthers) {
    AccessSet &set = stripe.coWriters[index];
    if (!cell.hasCoWriters)
      set = AccessSet();
    cell.hasCoWriters = 1;
    record(actor, set, access);
    return;
  }
  cell.write = access;
  cell.writeBlock = actor.block + 1;
  cell.hasCoWriters = 0;
  cell.reads = AccessSet();
}

void GlobalShadow::access(const Actor &actor, AccessKind kind, uint64_t offset,
                          uint32_t site, uint64_t bytes, Conflicts &conflicts) {
  Access access = Access::make(actor.clocks.getTime(actor.thread), actor.thread,
                               site, tables.sites[site].isAsync);
  for (uint64_t i = offset >> grain, e = (offset + bytes - 1) >> grain; i <= e;
       ++i)
    accessCell(actor, kind, i, std::max(offset, i << grain), access, conflicts);
}

void GlobalShadow::hold(uint64_t offset, uint64_t bytes, bool begins) {
  for (uint64_t i = offset >> grain, e = (offset + bytes - 1) >> grain; i <= e;
       ++i) {
    SpinGuard guard(isShared ? &locks->of(i).flag : nullptr);
    cells[i].pending = cells[i].pending + (begins ? 1 : -1);
  }
}

} // namespace mlir::workgroup::emulator
