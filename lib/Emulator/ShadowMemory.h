//===- ShadowMemory.h - Who touched which bytes --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One shadow for the workgroup memory of the block that a worker runs, and one
// for each buffer in global memory, which all workers share. A conflict is two
// accesses of the same bytes by different threads, at least one of which is a
// write and at least one of which is not atomic, that nothing orders.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_EMULATOR_SHADOWMEMORY_H
#define WORKGROUP_EMULATOR_SHADOWMEMORY_H

#include "Clocks.h"
#include "Findings.h"
#include "Tables.h"
#include "llvm/ADT/SmallVector.h"
#include <atomic>
#include <memory>
#include <mutex>

namespace mlir::workgroup::emulator {

/// A conflict that an access has with earlier ones.
struct Conflict {
  FindingKind kind;
  /// The earlier access, and its block if it is another.
  Access other;
  std::optional<uint64_t> otherBlock;
  /// Both are plain writes, which may have written the same value.
  bool mayBeSameValue = false;
};

/// Memory that is zero and costs nothing until it is used.
template <typename Cell>
class CellArray {
public:
  explicit CellArray(uint64_t size);
  ~CellArray();
  CellArray(CellArray &&other) : cells(other.cells), size(other.size) {
    other.cells = nullptr;
  }

  Cell &operator[](uint64_t index) { return cells[index]; }
  Cell *data() { return cells; }
  void clear();

private:
  Cell *cells;
  uint64_t size;
};

/// The shadow of the workgroup memory of one block at a time.
class SharedShadow {
public:
  SharedShadow(const KernelTables &tables, Clocks &clocks);

  SharedCell *getCells() { return cells.data(); }
  /// Forgets all records; the clock has started again.
  void clear() { cells.clear(); }

  using Conflicts = llvm::SmallVectorImpl<std::pair<uint64_t, Conflict>>;
  /// Records an access of `bytes` bytes at `offset`, and adds what it conflicts
  /// with, with the offset of each.
  void read(unsigned thread, uint64_t offset, uint32_t site, uint64_t bytes,
            Conflicts &conflicts);
  void write(unsigned thread, uint64_t offset, uint32_t site, uint64_t bytes,
             Conflicts &conflicts);
  void update(unsigned thread, uint64_t offset, uint32_t site, uint64_t bytes,
              Conflicts &conflicts);

  /// The start and the end of an asynchronous copy into workgroup memory.
  void beginCopy(unsigned thread, uint64_t offset, uint32_t site,
                 uint64_t bytes, Conflicts &conflicts);
  void endCopy(unsigned thread, uint64_t offset, uint32_t site, uint64_t bytes);

private:
  template <typename Function>
  void forEachCell(uint64_t offset, uint64_t bytes, Function run);
  void checkWrite(unsigned thread, SharedCell &cell, bool isAtomic,
                  uint64_t offset, Conflicts &conflicts, bool isPlainWrite);
  void checkReads(unsigned thread, SharedCell &cell, bool onlyAtomic,
                  bool onlyPlain, uint32_t own, uint64_t offset,
                  Conflicts &conflicts);
  bool isQuiet(const SharedCell &cell) const;
  void recordRead(unsigned thread, SharedCell &cell, Access access);
  void recordWrite(SharedCell &cell, Access access);

  const KernelTables &tables;
  Clocks &clocks;
  unsigned grain;
  CellArray<SharedCell> cells;
  /// Readers of a cell beyond the two in it, if there is a partial order.
  llvm::DenseMap<const SharedCell *, llvm::SmallVector<Access, 4>> moreReads;
};

/// The shadow of some bytes of global memory. Blocks are not ordered, so that
/// a read by any of them stays; one of another block than the last suffices.
struct GlobalCell {
  /// Linear ids of blocks plus one; zero means none.
  uint32_t writeBlock, readBlock, otherBlock;
  uint32_t isAtomic;
  Access write, reads[2], other;
};

/// What blocks make known to others by atomic operations that order.
///
/// Across blocks, addresses are not told apart: whoever orders by any atomic
/// operation is after all who did before. That can hide a race, and makes none
/// up.
class Publications {
public:
  void release(uint64_t block, unsigned thread, uint32_t time, uint32_t base);
  /// What is released up to now, to be known from now on.
  uint64_t acquire() const { return stamp.load(); }
  /// True if `access` of `block` was released by what `known` stands for.
  bool isKnown(uint64_t block, Access access, uint64_t known);

private:
  struct Event {
    unsigned thread;
    uint32_t time, base;
    uint64_t stamp;
  };
  std::atomic<uint64_t> stamp{0};
  std::mutex mutex;
  llvm::DenseMap<uint64_t, llvm::SmallVector<Event, 2>> events;
};

/// The shadow of one buffer in global memory.
class GlobalShadow {
public:
  GlobalShadow(const KernelTables &tables, uint64_t bytes, unsigned grain,
               bool isShared);

  /// False if there is no memory for it.
  bool isReady() { return cells.data() != nullptr; }

  /// Who makes an access.
  struct Actor {
    const Clocks &clocks;
    uint64_t block;
    unsigned thread;
    uint64_t known;
    Publications &publications;
  };
  using Conflicts = SharedShadow::Conflicts;
  void access(const Actor &actor, AccessKind kind, uint64_t offset,
              uint32_t site, uint64_t bytes, Conflicts &conflicts);

private:
  void checkWrite(const Actor &actor, const GlobalCell &cell, AccessKind kind,
                  uint64_t offset, Conflicts &conflicts);
  void checkReads(const Actor &actor, const GlobalCell &cell, AccessKind kind,
                  uint64_t offset, Conflicts &conflicts);
  void check(const Actor &actor, uint32_t block, Access access, uint64_t offset,
             bool mayBeSameValue, Conflicts &conflicts);
  void recordRead(const Actor &actor, GlobalCell &cell, Access access);
  bool isUpdate(Access access) const {
    return tables.sites[access.getSite()].kind == AccessKind::Update;
  }

  const KernelTables &tables;
  unsigned grain;
  CellArray<GlobalCell> cells;
  /// Guards cells against other workers; null if there is one.
  struct Locks;
  std::shared_ptr<Locks> locks;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_EMULATOR_SHADOWMEMORY_H
