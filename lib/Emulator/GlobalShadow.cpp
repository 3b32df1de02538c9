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

void Publications::release(uint64_t block, unsigned thread, uint32_t time,
                           uint32_t base) {
  std::lock_guard<std::mutex> guard(mutex);
  llvm::SmallVector<Event, 2> &released = events[block];
  bool isKnown = llvm::any_of(released, [&](const Event &event) {
    return event.thread == thread && event.time == time && event.base == base;
  });
  uint64_t now = stamp.load() + 1;
  if (!isKnown)
    released.push_back({thread, time, base, now});
  stamp.store(now);
}

bool Publications::isKnown(uint64_t block, Access access, uint64_t known) {
  std::lock_guard<std::mutex> guard(mutex);
  auto it = events.find(block);
  return it != events.end() &&
         llvm::any_of(it->second, [&](const Event &event) {
           bool covers = event.base >= access.time ||
                         (event.thread == access.getThread() &&
                          event.time >= access.time);
           return covers && event.stamp <= known;
         });
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// A few locks for many cells: workers seldom meet.
struct GlobalShadow::Locks {
  static constexpr unsigned kCount = 1024, kCellsPerLock = 16;
  struct alignas(64) Lock {
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
  };
  std::array<Lock, kCount> locks;

  Lock &of(uint64_t cell) { return locks[cell / kCellsPerLock % kCount]; }
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
      locks(isShared ? std::make_shared<Locks>() : nullptr) {}

/// Adds the conflict with an access of `block`, unless something orders them.
void GlobalShadow::check(const Actor &actor, uint32_t block, Access access,
                         uint64_t offset, bool mayBeSameValue,
                         Conflicts &conflicts) {
  if (block == 0)
    return;
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

void GlobalShadow::checkWrite(const Actor &actor, const GlobalCell &cell,
                              AccessKind kind, uint64_t offset,
                              Conflicts &conflicts) {
  if (cell.isAtomic && kind == AccessKind::Update)
    return;
  bool mayBeSameValue = kind == AccessKind::Write && !cell.isAtomic;
  check(actor, cell.writeBlock, cell.write, offset, mayBeSameValue, conflicts);
}

/// Reads, among which are atomic updates, conflict with writes; of updates,
/// plain reads and writes.
void GlobalShadow::checkReads(const Actor &actor, const GlobalCell &cell,
                              AccessKind kind, uint64_t offset,
                              Conflicts &conflicts) {
  auto checkRead = [&](uint32_t block, Access access) {
    bool conflictsIfUnordered = kind == AccessKind::Write ||
                                (isUpdate(access) ? kind == AccessKind::Read
                                                  : kind == AccessKind::Update);
    if (access.time && conflictsIfUnordered)
      check(actor, block, access, offset, false, conflicts);
  };
  checkRead(cell.readBlock, cell.reads[0]);
  checkRead(cell.readBlock, cell.reads[1]);
  checkRead(cell.otherBlock, cell.other);
}

void GlobalShadow::recordRead(const Actor &actor, GlobalCell &cell,
                              Access access) {
  uint32_t block = actor.block + 1;
  if (cell.readBlock != block) {
    if (cell.readBlock) {
      cell.otherBlock = cell.readBlock;
      cell.other = cell.reads[0];
    }
    cell.readBlock = block;
    cell.reads[0] = access;
    cell.reads[1] = Access();
    return;
  }
  for (Access &read : cell.reads)
    if (read.getThread() == actor.thread ||
        actor.clocks.isOrdered(read, actor.thread)) {
      read = access;
      return;
    }
}

void GlobalShadow::access(const Actor &actor, AccessKind kind, uint64_t offset,
                          uint32_t site, uint64_t bytes, Conflicts &conflicts) {
  Access access = Access::make(actor.clocks.getTime(actor.thread), actor.thread,
                               site, tables.sites[site].isAsync);
  for (uint64_t i = offset >> grain, e = (offset + bytes - 1) >> grain; i <= e;
       ++i) {
    SpinGuard guard(locks ? &locks->of(i).flag : nullptr);
    GlobalCell &cell = cells[i];
    uint64_t at = std::max(offset, i << grain);
    checkWrite(actor, cell, kind, at, conflicts);
    if (kind != AccessKind::Read || cell.isAtomic)
      checkReads(actor, cell, kind, at, conflicts);
    if (kind != AccessKind::Write)
      recordRead(actor, cell, access);
    if (kind == AccessKind::Read)
      continue;
    cell.write = access;
    cell.writeBlock = actor.block + 1;
    cell.isAtomic = kind == AccessKind::Update;
    if (kind == AccessKind::Write) {
      cell.reads[0] = cell.reads[1] = cell.other = Access();
      cell.readBlock = cell.otherBlock = 0;
    }
  }
}

} // namespace mlir::workgroup::emulator
