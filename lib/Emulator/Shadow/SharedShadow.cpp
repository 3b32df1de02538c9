//===- SharedShadow.cpp - Who touched which bytes of workgroup memory -----===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cell of workgroup memory holds the last write and two readers, as access
// and time. An access conflicts with those that the clock of its thread does
// not order before it; a read with writes, a write with both. A barrier of all
// threads makes older entries irrelevant without a visit to any cell. Where
// only some threads are ordered, further accesses are kept beside.
//
//===----------------------------------------------------------------------===//

#include "ShadowMemory.h"
#include <sys/mman.h>

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

template <typename Cell>
CellArray<Cell>::CellArray(uint64_t size) : size(size + 1) {
  void *memory =
      mmap(nullptr, this->size * sizeof(Cell), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  cells = memory == MAP_FAILED ? nullptr : static_cast<Cell *>(memory);
}

template <typename Cell>
CellArray<Cell>::~CellArray() {
  if (cells)
    munmap(cells, size * sizeof(Cell));
}

template <typename Cell>
void CellArray<Cell>::clear() {
  madvise(cells, size * sizeof(Cell), MADV_DONTNEED);
}

template class CellArray<SharedCell>;
template class CellArray<GlobalCell>;
template class CellArray<uint8_t>;

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

SharedShadow::SharedShadow(const KernelTables &tables, Clocks &clocks,
                           unsigned numBlocks)
    : tables(tables), clocks(clocks), grain(tables.sharedGrain),
      cells(numBlocks * kSharedWindow >> grain) {}

template <typename Function>
void SharedShadow::forEachCell(uint64_t offset, uint64_t bytes, Function run) {
  for (uint64_t i = offset >> grain, e = (offset + bytes - 1) >> grain; i <= e;
       ++i)
    run(cells[i], std::max(offset, i << grain));
}

/// The kind of a conflict with `other`. A copy that its thread has waited for
/// may still be unknown to others.
FindingKind SharedShadow::getKind(Access other) const {
  if (!other.isAsync())
    return FindingKind::SharedRace;
  bool isWaitedFor =
      !other.isByAgent() || clocks.isOrdered(other, clocks.getThread(other));
  return isWaitedFor ? FindingKind::NotPublished : FindingKind::NotWaited;
}

/// Adds the conflicts of an access with the writes that are in force.
void SharedShadow::checkWrites(AccessKind kind, unsigned thread,
                               SharedCell &cell, uint32_t own, uint64_t offset,
                               Conflicts &conflicts) {
  if (cell.pending) {
    conflicts.push_back({offset, {FindingKind::NotWaited, cell.write, {}}});
    return;
  }
  auto check = [&](Access write) {
    const Site &site = tables.sites[write.getSite()];
    if (clocks.isStale(write) ||
        areAtomicToEachOther(tables.sites[own], site,
                             clocks.getDistance(thread, write)) ||
        clocks.isOrdered(write, thread))
      return;
    FindingKind found = getKind(write);
    bool mayBeSameValue =
        kind == AccessKind::Write && !isAtomic(site.kind) && !write.isAsync();
    conflicts.push_back({offset, {found, write, {}, mayBeSameValue}});
  };
  check(cell.write);
  if (cell.hasCoWriters)
    for (Access write : coWriters[&cell])
      check(write);
}

/// Adds the conflicts of a write with reads.
void SharedShadow::checkReads(unsigned thread, SharedCell &cell, uint32_t own,
                              uint64_t offset, Conflicts &conflicts) {
  const llvm::BitVector &follows = tables.sites[own].follows;
  auto check = [&](Access read) {
    const Site &site = tables.sites[read.getSite()];
    if (clocks.isStale(read) ||
        areAtomicToEachOther(tables.sites[own], site,
                             clocks.getDistance(thread, read)) ||
        clocks.isOrdered(read, thread) ||
        clocks.isConsumed(read, thread, site.feeds, follows))
      return;
    conflicts.push_back({offset, {getKind(read), read, {}}});
  };
  check(cell.reads[0]);
  check(cell.reads[1]);
  if (cell.hasMoreReads)
    for (Access read : moreReads[&cell])
      check(read);
}

/// True if any thread of the block has written.
bool SharedShadow::isWritten(const SharedCell &cell) const {
  if (cell.pending || !clocks.isStale(cell.write))
    return true;
  auto it = cell.hasCoWriters ? coWriters.find(&cell) : coWriters.end();
  return it != coWriters.end() && llvm::any_of(it->second, [&](Access write) {
           return !clocks.isStale(write);
         });
}

/// True if nothing that `cell` holds can concern anyone any more: all of it
/// came before the last barrier of the block.
bool SharedShadow::isQuiet(const SharedCell &cell) const {
  return cell.write.time <= clocks.getBase() && !cell.pending &&
         !cell.hasCoWriters;
}

/// True if that goes for what a write can concern, too.
bool SharedShadow::isIdle(const SharedCell &cell) const {
  return isQuiet(cell) && cell.reads[0].time <= clocks.getBase() &&
         cell.reads[1].time <= clocks.getBase() && !cell.hasMoreReads;
}

/// True if `earlier` need not be known beside `later`, of `thread`: it comes
/// before it, and what is at odds with it is with `later`, too.
bool SharedShadow::mayForget(Access earlier, unsigned thread,
                             Access later) const {
  if (earlier.time <= clocks.getBase())
    return true; // all that follows comes after it
  bool isBefore = earlier.getActor() == later.getActor() ||
                  clocks.isOrdered(earlier, thread);
  return isBefore && (!tables.hasNarrowAtomics ||
                      standsFor(tables.sites[later.getSite()],
                                tables.sites[earlier.getSite()]));
}

/// Adds an access to others, of which those go that come before it: those that
/// are ordered before what `thread` does, who makes or issues it.
void SharedShadow::addTo(llvm::SmallVectorImpl<Access> &accesses,
                         unsigned thread, Access access) {
  llvm::erase_if(
      accesses, [&](Access other) { return mayForget(other, thread, access); });
  accesses.push_back(access);
}

void SharedShadow::addCoWriter(unsigned thread, SharedCell &cell,
                               Access access) {
  llvm::SmallVector<Access, 4> &writers = coWriters[&cell];
  if (!cell.hasCoWriters)
    writers.clear();
  cell.hasCoWriters = 1;
  cell.saturated = 0;
  addTo(writers, thread, access);
}

/// Adds a read to those that have no place in `cell`.
void SharedShadow::addReader(unsigned thread, SharedCell &cell, Access access) {
  llvm::SmallVector<Access, 4> &readers = moreReads[&cell];
  if (!cell.hasMoreReads)
    readers.clear();
  cell.hasMoreReads = 1;
  addTo(readers, thread, access);
}

void SharedShadow::recordRead(unsigned thread, SharedCell &cell,
                              Access access) {
  if (cell.reads[0].time <= clocks.getBase()) {
    cell.reads[0] = access; // the common case: the first since a barrier
    return;
  }
  for (Access &read : cell.reads)
    if (mayForget(read, thread, access)) {
      read = access;
      bool isOnlyReader = clocks.isOrdered(cell.reads[0], thread) &&
                          clocks.isOrdered(cell.reads[1], thread);
      if (!isOnlyReader && !tables.hasPartialOrder)
        cell.saturated = access.time;
      return;
    }
  if (!tables.hasPartialOrder) {
    cell.saturated = access.time;
    return;
  }
  addReader(thread, cell, access);
}

void SharedShadow::recordWrite(SharedCell &cell, Access access) {
  cell.write = access;
  cell.reads[0] = cell.reads[1] = Access();
  cell.saturated = 0;
  cell.hasCoWriters = 0;
  cell.hasMoreReads = 0;
}

void SharedShadow::read(AccessKind kind, unsigned thread, uint64_t offset,
                        uint32_t site, uint64_t bytes, Conflicts &conflicts) {
  Access access = Access::make(clocks.getTime(thread), thread, site);
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    if (isQuiet(cell) && !clocks.isStale(cell.write)) {
      recordRead(thread, cell, access);
      return;
    }
    size_t before = conflicts.size();
    if (!isWritten(cell))
      conflicts.push_back({at, {FindingKind::Uninitialized, {}, {}}});
    checkWrites(kind, thread, cell, site, at, conflicts);
    recordRead(thread, cell, access);
    // Every reader is to be checked while the last write may concern it.
    if (conflicts.size() != before || cell.hasCoWriters ||
        cell.write.time > clocks.getBase())
      cell.saturated = 0;
  });
}

void SharedShadow::write(unsigned thread, uint64_t offset, uint32_t site,
                         uint64_t bytes, Conflicts &conflicts) {
  Access access = Access::make(clocks.getTime(thread), thread, site);
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    if (isIdle(cell)) {
      cell.write = access;
      cell.saturated = 0;
      return;
    }
    size_t before = conflicts.size();
    checkWrites(AccessKind::Write, thread, cell, site, at, conflicts);
    bool hasOthers = conflicts.size() != before;
    checkReads(thread, cell, site, at, conflicts);
    if (cell.pending)
      return;
    // If both stored the same, what comes later is at odds with either.
    if (hasOthers)
      addCoWriter(thread, cell, access);
    else
      recordWrite(cell, access);
  });
}

void SharedShadow::update(AccessKind kind, unsigned thread, uint64_t offset,
                          uint32_t site, uint64_t bytes, Conflicts &conflicts) {
  Access access = Access::make(clocks.getTime(thread), thread, site);
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    if (kind == AccessKind::Update && !isWritten(cell))
      conflicts.push_back({at, {FindingKind::Uninitialized, {}, {}}});
    checkWrites(kind, thread, cell, site, at, conflicts);
    checkReads(thread, cell, site, at, conflicts);
    if (!cell.pending)
      addCoWriter(thread, cell, access);
  });
}

void SharedShadow::beginCopy(unsigned thread, uint64_t offset, uint32_t site,
                             uint64_t bytes, Conflicts &conflicts) {
  Access access =
      Access::make(clocks.getTime(thread), thread, site, /*isAsync=*/true);
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    if (!isIdle(cell)) {
      checkWrites(AccessKind::Read, thread, cell, site, at, conflicts);
      checkReads(thread, cell, site, at, conflicts);
    }
    uint16_t pending = cell.pending;
    recordWrite(cell, access);
    cell.pending = pending + 1;
  });
}

void SharedShadow::endCopy(uint64_t offset, uint64_t bytes, Access access) {
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t) {
    if (cell.pending && --cell.pending == 0)
      cell.write = access;
  });
}

//===----------------------------------------------------------------------===//
// The asynchronous proxy
//===----------------------------------------------------------------------===//

/// Adds the access of a thread that comes before what `thread` issues, but
/// through another proxy, with no fence between the two.
void SharedShadow::checkProxy(unsigned thread, Access access, uint64_t offset,
                              Conflicts &conflicts) {
  bool isCovered = access.time == 0 || access.isByAgent() ||
                   clocks.isStale(access) ||
                   !clocks.isOrdered(access, thread) ||
                   clocks.isCovered(access, thread, ProxyMemory::Shared);
  if (!isCovered)
    conflicts.push_back({offset, {FindingKind::ProxyFence, access, {}}});
}

void SharedShadow::writeByAgent(unsigned thread, Access agent, uint64_t offset,
                                uint64_t bytes, Conflicts &conflicts) {
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    checkWrites(AccessKind::Read, thread, cell, agent.getSite(), at, conflicts);
    checkReads(thread, cell, agent.getSite(), at, conflicts);
    checkProxy(thread, cell.write, at, conflicts);
    checkProxy(thread, cell.reads[0], at, conflicts);
    checkProxy(thread, cell.reads[1], at, conflicts);
    if (!cell.pending)
      recordWrite(cell, agent);
  });
}

void SharedShadow::readByAgent(unsigned thread, Access agent, uint64_t offset,
                               uint64_t bytes, Conflicts &conflicts) {
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    if (!isWritten(cell))
      conflicts.push_back({at, {FindingKind::Uninitialized, {}, {}}});
    checkWrites(AccessKind::Read, thread, cell, agent.getSite(), at, conflicts);
    checkProxy(thread, cell.write, at, conflicts);
    cell.saturated = 0;
    addReader(thread, cell, agent);
  });
}

} // namespace mlir::workgroup::emulator
