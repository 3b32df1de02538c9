//===- GlobalShadow.cpp - Who touched which bytes of global memory --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All workers share the shadow of a buffer in global memory, whose cells are
// guarded by striped spin locks. Blocks run in any order, so that accesses of
// two blocks conflict unless both are atomic or a publication orders them;
// those of one block are ordered by its clocks. A cell keeps the few accesses
// that stand for all others; what has no room is in a side table.
//
//===----------------------------------------------------------------------===//

#include "ShadowMemory.h"

namespace mlir::workgroup::emulator {

/// A few stripes for many cells: workers seldom meet. A stripe also keeps the
/// accesses that only some of its cells have.
struct GlobalShadow::Locks {
  static constexpr unsigned kCount = 1024, kCellsPerLock = 16;
  struct CoWriters {
    AccessSet set = {};
    BlockAccesses more;
  };
  struct alignas(64) Stripe {
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    llvm::DenseMap<uint64_t, CoWriters> coWriters;
    llvm::DenseMap<uint64_t, BlockAccesses> moreReads;
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

/// The kind of a conflict with `other`, of the same block.
static FindingKind getKind(const GlobalShadow::Actor &actor, Access other) {
  const Clocks &clocks = actor.clocks;
  bool isUnderWay =
      other.isByAgent() && !clocks.isOrdered(other, clocks.getThread(other));
  return isUnderWay ? FindingKind::NotWaited : FindingKind::GlobalRace;
}

/// True if `access`, a read of the actor's block, is over: what was read went
/// into an exchange between lanes, and what came out of it is written.
bool GlobalShadow::isConsumed(const Actor &actor, const Accessing &own,
                              Access access) const {
  if (!tables.hasGlobalValueOrder || own.kind != AccessKind::Write)
    return false;
  const Site &theirs = tables.sites[access.getSite()];
  const Site &ours = tables.sites[own.access.getSite()];
  return theirs.kind == AccessKind::Read && !access.isAsync() &&
         !own.access.isByAgent() &&
         actor.clocks.isConsumed(access, actor.thread, theirs.feeds,
                                 ours.follows);
}

/// The smallest scope that the actor and who made an access of `block` have in
/// common.
Scope GlobalShadow::getDistance(const Actor &actor, uint64_t block,
                                Access access) {
  if (!actor.isOfCluster)
    return actor.grid.getDistance(actor.block, block);
  return block == actor.block ? actor.clocks.getDistance(actor.thread, access)
                              : Scope::Device;
}

/// Adds the conflict with an access of `block`, unless something orders them.
/// Operations that are atomic to each other are not at odds, nor are reads.
void GlobalShadow::check(const Actor &actor, const Accessing &own,
                         uint32_t block, Access access, Conflicts &conflicts) {
  if (block == 0 || access.time == 0)
    return;
  uint64_t other = block - 1;
  const Site &theirs = tables.sites[access.getSite()];
  // Few accesses are atomic, and distances take divisions.
  if (isAtomic(own.kind) && isAtomic(theirs.kind) &&
      areAtomicToEachOther(tables.sites[own.access.getSite()], theirs,
                           getDistance(actor, other, access)))
    return;
  bool mayBeSameValue = own.kind == AccessKind::Write &&
                        theirs.kind == AccessKind::Write && !access.isByAgent();
  if (other == actor.block) {
    if (!actor.clocks.isOrdered(access, actor.thread) &&
        !isConsumed(actor, own, access))
      conflicts.push_back(
          {own.offset, {getKind(actor, access), access, {}, mayBeSameValue}});
    else if (actor.isByProxy && !access.isByAgent() &&
             !actor.clocks.isCovered(access, actor.thread, ProxyMemory::Global))
      conflicts.push_back({own.offset, {FindingKind::ProxyFence, access, {}}});
    return;
  }
  if (!actor.publications.isKnown(other, access,
                                  actor.clocks.getKnown(actor.thread)))
    conflicts.push_back(
        {own.offset, {FindingKind::BlockRace, access, other, mayBeSameValue}});
}

void GlobalShadow::check(const Actor &actor, const Accessing &own,
                         const AccessSet &set, Conflicts &conflicts) {
  check(actor, own, set.block, set.accesses[0], conflicts);
  check(actor, own, set.block, set.accesses[1], conflicts);
  check(actor, own, set.otherBlock, set.other, conflicts);
}

void GlobalShadow::check(const Actor &actor, const Accessing &own,
                         const BlockAccesses &accesses, Conflicts &conflicts) {
  for (const BlockAccess &other : accesses)
    check(actor, own, other.block + 1, other.access, conflicts);
}

/// True if `earlier`, of the actor's block, need not be known beside `later`:
/// it comes before it, and what is at odds with it is with `later`, too.
bool GlobalShadow::mayForget(const Actor &actor, Access earlier,
                             Access later) const {
  bool isBefore = earlier.getActor() == later.getActor() ||
                  actor.clocks.isOrdered(earlier, actor.thread);
  return isBefore && (!tables.hasNarrowAtomics || earlier.time == 0 ||
                      standsFor(tables.sites[later.getSite()],
                                tables.sites[earlier.getSite()]));
}

/// False if there is no place for the access.
bool GlobalShadow::record(const Actor &actor, AccessSet &set, Access access) {
  uint32_t block = actor.block + 1;
  if (set.block != block) {
    if (set.block) {
      set.otherBlock = set.block;
      set.other = set.accesses[0];
    }
    set.block = block;
    set.accesses[0] = access;
    set.accesses[1] = Access();
    return true;
  }
  for (Access &other : set.accesses)
    if (mayForget(actor, other, access)) {
      other = access;
      return true;
    }
  return false;
}

/// Records an access. If all threads are ordered or none, of any others two
/// will do, and one of another block. Else, each may be the one that a later
/// access is not ordered with: `more` is what there is no place for.
void GlobalShadow::record(const Actor &actor, AccessSet &set,
                          BlockAccesses &more, Access access) {
  constexpr size_t kMaxAccesses = 1024; // as many as a block has threads
  AccessSet before = set;
  bool hasPlace = record(actor, set, access);
  bool displaces = before.block && before.block != set.block;
  bool isLost = !hasPlace || (displaces && tables.tellsBlocksApart);
  if (!hasPartialOrder() || !isLost)
    return;
  llvm::erase_if(more, [&](const BlockAccess &other) {
    if (other.block != actor.block)
      return !tables.tellsBlocksApart;
    return mayForget(actor, other.access, access);
  });
  auto add = [&](uint64_t block, Access lost) {
    if (lost.time && more.size() < kMaxAccesses)
      more.push_back({block, lost});
  };
  if (!hasPlace)
    add(actor.block, access);
  if (!displaces)
    return;
  add(before.block - 1, before.accesses[1]);
  if (before.otherBlock)
    add(before.otherBlock - 1, before.other);
}

void GlobalShadow::recordRead(const Actor &actor, GlobalCell &cell,
                              uint64_t index, Access access) {
  if (!hasPartialOrder()) {
    record(actor, cell.reads, access);
    return;
  }
  BlockAccesses &more = locks->of(index).moreReads[index];
  if (!cell.hasMoreReads)
    more.clear();
  record(actor, cell.reads, more, access);
  cell.hasMoreReads = !more.empty();
}

void GlobalShadow::accessCell(const Actor &actor, const Accessing &own,
                              uint64_t index, Conflicts &conflicts) {
  Locks::Stripe &stripe = locks->of(index);
  SpinGuard guard(isShared ? &stripe.flag : nullptr);
  GlobalCell &cell = cells[index];
  size_t before = conflicts.size();
  check(actor, own, cell.writeBlock, cell.write, conflicts);
  if (cell.hasCoWriters) {
    const Locks::CoWriters &writers = stripe.coWriters[index];
    check(actor, own, writers.set, conflicts);
    check(actor, own, writers.more, conflicts);
  }
  bool hasOthers = conflicts.size() != before;
  if (!writes(own.kind)) {
    recordRead(actor, cell, index, own.access);
    return;
  }
  check(actor, own, cell.reads, conflicts);
  if (cell.hasMoreReads)
    check(actor, own, stripe.moreReads[index], conflicts);
  if (cell.pending)
    conflicts.push_back(
        {own.offset, {FindingKind::NotWaited, cell.reads.accesses[0], {}}});
  if (isAtomic(own.kind) || hasOthers) {
    Locks::CoWriters &writers = stripe.coWriters[index];
    if (!cell.hasCoWriters)
      writers = Locks::CoWriters();
    cell.hasCoWriters = 1;
    record(actor, writers.set, writers.more, own.access);
    return;
  }
  cell.write = own.access;
  cell.writeBlock = actor.block + 1;
  cell.hasCoWriters = 0;
  cell.hasMoreReads = 0;
  cell.reads = AccessSet();
}

void GlobalShadow::access(const Actor &actor, AccessKind kind, uint64_t offset,
                          uint32_t site, uint64_t bytes, Conflicts &conflicts,
                          const Access *agent) {
  Access access =
      agent ? *agent
            : Access::make(actor.clocks.getTime(actor.thread), actor.thread,
                           site, tables.sites[site].isAsync);
  for (uint64_t i = offset >> grain, e = (offset + bytes - 1) >> grain; i <= e;
       ++i)
    accessCell(actor, {kind, access, std::max(offset, i << grain)}, i,
               conflicts);
}

void GlobalShadow::hold(uint64_t offset, uint64_t bytes, bool begins) {
  for (uint64_t i = offset >> grain, e = (offset + bytes - 1) >> grain; i <= e;
       ++i) {
    SpinGuard guard(isShared ? &locks->of(i).flag : nullptr);
    cells[i].pending = cells[i].pending + (begins ? 1 : -1);
  }
}

} // namespace mlir::workgroup::emulator
