//===- SharedShadow.cpp - Who touched which bytes of workgroup memory -----===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

SharedShadow::SharedShadow(const KernelTables &tables, Clocks &clocks)
    : tables(tables), clocks(clocks), grain(tables.sharedGrain),
      cells(kSharedWindow >> grain) {}

template <typename Function>
void SharedShadow::forEachCell(uint64_t offset, uint64_t bytes, Function run) {
  for (uint64_t i = offset >> grain, e = (offset + bytes - 1) >> grain; i <= e;
       ++i)
    run(cells[i], std::max(offset, i << grain));
}

/// Adds the conflict of an access with the last write, if there is one.
void SharedShadow::checkWrite(unsigned thread, SharedCell &cell, bool isAtomic,
                              uint64_t offset, Conflicts &conflicts,
                              bool isPlainWrite) {
  if (cell.pending) {
    conflicts.push_back({offset, {FindingKind::NotWaited, cell.write, {}}});
    return;
  }
  if (cell.write.time < clocks.getStart() || (cell.isAtomic && isAtomic) ||
      clocks.isOrdered(cell.write, thread))
    return;
  FindingKind kind = cell.write.isAsync() ? FindingKind::NotPublished
                                          : FindingKind::SharedRace;
  conflicts.push_back(
      {offset,
       {kind,
        cell.write,
        {},
        isPlainWrite && !cell.isAtomic && !cell.write.isAsync()}});
}

/// Adds the conflicts of an access with reads, among which are atomic updates.
void SharedShadow::checkReads(unsigned thread, SharedCell &cell,
                              bool onlyAtomic, bool onlyPlain, uint32_t own,
                              uint64_t offset, Conflicts &conflicts) {
  bool follows = tables.sites[own].followsExchange;
  auto check = [&](Access access) {
    const Site &site = tables.sites[access.getSite()];
    bool isUpdate = site.kind == AccessKind::Update;
    if (access.time < clocks.getStart() || (onlyAtomic && !isUpdate) ||
        (onlyPlain && isUpdate) || clocks.isOrdered(access, thread) ||
        (site.feedsExchange && follows && clocks.isConsumed(access, thread)))
      return;
    conflicts.push_back({offset, {FindingKind::SharedRace, access, {}}});
  };
  check(cell.reads[0]);
  check(cell.reads[1]);
  if (cell.hasMoreReads)
    for (Access access : moreReads[&cell])
      check(access);
}

/// True if nothing that `cell` holds can concern anyone any more: all of it
/// came before the last barrier of the block.
bool SharedShadow::isQuiet(const SharedCell &cell) const {
  uint32_t base = clocks.getBase();
  return cell.write.time <= base && !cell.pending && !cell.isAtomic;
}

void SharedShadow::recordRead(unsigned thread, SharedCell &cell,
                              Access access) {
  if (cell.reads[0].time <= clocks.getBase()) {
    cell.reads[0] = access; // the common case: the first since a barrier
    return;
  }
  for (Access &read : cell.reads)
    if (read.getThread() == thread || clocks.isOrdered(read, thread)) {
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
  llvm::SmallVector<Access, 4> &more = moreReads[&cell];
  if (!cell.hasMoreReads)
    more.clear();
  cell.hasMoreReads = 1;
  llvm::erase_if(more, [&](Access read) {
    return read.getThread() == thread || clocks.isOrdered(read, thread);
  });
  more.push_back(access);
}

void SharedShadow::recordWrite(SharedCell &cell, Access access) {
  cell.write = access;
  cell.reads[0] = cell.reads[1] = Access();
  cell.saturated = 0;
  cell.isAtomic = 0;
  cell.hasMoreReads = 0;
}

void SharedShadow::read(unsigned thread, uint64_t offset, uint32_t site,
                        uint64_t bytes, Conflicts &conflicts) {
  Access access = Access::make(clocks.getTime(thread), thread, site);
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    if (isQuiet(cell) && cell.write.time >= clocks.getStart()) {
      recordRead(thread, cell, access);
      return;
    }
    size_t before = conflicts.size();
    if (cell.write.time < clocks.getStart() && !cell.pending)
      conflicts.push_back({at, {FindingKind::Uninitialized, {}, {}}});
    checkWrite(thread, cell, /*isAtomic=*/false, at, conflicts,
               /*isPlainWrite=*/false);
    if (cell.isAtomic)
      checkReads(thread, cell, /*onlyAtomic=*/true, /*onlyPlain=*/false, site,
                 at, conflicts);
    recordRead(thread, cell, access);
    // Every reader is to be checked while the last write may concern it.
    if (conflicts.size() != before || cell.isAtomic ||
        cell.write.time > clocks.getBase())
      cell.saturated = 0;
  });
}

void SharedShadow::write(unsigned thread, uint64_t offset, uint32_t site,
                         uint64_t bytes, Conflicts &conflicts) {
  Access access = Access::make(clocks.getTime(thread), thread, site);
  uint32_t base = clocks.getBase();
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    if (isQuiet(cell) && cell.reads[0].time <= base &&
        cell.reads[1].time <= base && !cell.hasMoreReads) {
      cell.write = access;
      cell.saturated = 0;
      return;
    }
    checkWrite(thread, cell, /*isAtomic=*/false, at, conflicts,
               /*isPlainWrite=*/true);
    checkReads(thread, cell, /*onlyAtomic=*/false, /*onlyPlain=*/false, site,
               at, conflicts);
    if (!cell.pending)
      recordWrite(cell, access);
  });
}

void SharedShadow::update(unsigned thread, uint64_t offset, uint32_t site,
                          uint64_t bytes, Conflicts &conflicts) {
  Access access = Access::make(clocks.getTime(thread), thread, site);
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    if (cell.write.time < clocks.getStart() && !cell.pending)
      conflicts.push_back({at, {FindingKind::Uninitialized, {}, {}}});
    checkWrite(thread, cell, /*isAtomic=*/true, at, conflicts,
               /*isPlainWrite=*/false);
    checkReads(thread, cell, /*onlyAtomic=*/false, /*onlyPlain=*/true, site, at,
               conflicts);
    if (cell.pending)
      return;
    // Other updates stay in force: a plain access has to be ordered after all.
    recordRead(thread, cell, access);
    cell.write = access;
    cell.saturated = 0;
    cell.isAtomic = 1;
  });
}

void SharedShadow::beginCopy(unsigned thread, uint64_t offset, uint32_t site,
                             uint64_t bytes, Conflicts &conflicts) {
  Access access =
      Access::make(clocks.getTime(thread), thread, site, /*isAsync=*/true);
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t at) {
    checkWrite(thread, cell, /*isAtomic=*/false, at, conflicts,
               /*isPlainWrite=*/false);
    checkReads(thread, cell, /*onlyAtomic=*/false, /*onlyPlain=*/false, site,
               at, conflicts);
    uint16_t pending = cell.pending;
    recordWrite(cell, access);
    cell.pending = pending + 1;
  });
}

void SharedShadow::endCopy(unsigned thread, uint64_t offset, uint32_t site,
                           uint64_t bytes) {
  Access access =
      Access::make(clocks.getTime(thread), thread, site, /*isAsync=*/true);
  forEachCell(offset, bytes, [&](SharedCell &cell, uint64_t) {
    if (cell.pending && --cell.pending == 0)
      cell.write = access;
  });
}

} // namespace mlir::workgroup::emulator
