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
// write, that are not atomic to each other, and that nothing orders.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_SHADOW_SHADOWMEMORY_H
#define WORKGROUP_LIB_EMULATOR_SHADOW_SHADOWMEMORY_H

#include "Emulator/State/Clocks.h"
#include "Emulator/State/Findings.h"
#include "Emulator/State/Publications.h"
#include "Emulator/State/Tables.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <string>

namespace mlir::workgroup::emulator {

/// A conflict that an access has with earlier ones.
struct Conflict {
  FindingKind kind;
  /// The earlier access, and its block if it is another.
  Access other;
  std::optional<uint64_t> otherBlock;
  /// Both are plain writes, which may have written the same value.
  bool mayBeSameValue = false;
  /// What there is to say of it besides.
  std::string note = "";
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

/// The shadow of the workgroup memory of the blocks that run together, one as a
/// rule.
class SharedShadow {
public:
  SharedShadow(const KernelTables &tables, Clocks &clocks, unsigned numBlocks);

  SharedCell *getCells() { return cells.data(); }
  /// Forgets all records; the clock has started again.
  void clear() { cells.clear(); }

  using Conflicts = llvm::SmallVectorImpl<std::pair<uint64_t, Conflict>>;
  /// Records an access of `bytes` bytes at `offset`, and adds what it conflicts
  /// with, with the offset of each.
  void access(AccessKind kind, unsigned thread, uint64_t offset, uint32_t site,
              uint64_t bytes, Conflicts &conflicts) {
    if (kind == AccessKind::Write)
      write(thread, offset, site, bytes, conflicts);
    else if (writes(kind))
      update(kind, thread, offset, site, bytes, conflicts);
    else
      read(kind, thread, offset, site, bytes, conflicts);
  }

  /// The start and the end of an asynchronous copy into workgroup memory.
  void beginCopy(unsigned thread, uint64_t offset, uint32_t site,
                 uint64_t bytes, Conflicts &conflicts);
  /// `access` is what the bytes were written by from now on.
  void endCopy(uint64_t offset, uint64_t bytes, Access access);

  /// Accesses by the asynchronous proxy that `thread` issues and `agent` makes.
  void writeByAgent(unsigned thread, Access agent, uint64_t offset,
                    uint64_t bytes, Conflicts &conflicts);
  void readByAgent(unsigned thread, Access agent, uint64_t offset,
                   uint64_t bytes, Conflicts &conflicts);

  /// The last plain write of the byte at `offset`, whoever made it.
  Access getLastWrite(uint64_t offset) { return cells[offset >> grain].write; }

private:
  template <typename Function>
  void forEachCell(uint64_t offset, uint64_t bytes, Function run);
  void read(AccessKind kind, unsigned thread, uint64_t offset, uint32_t site,
            uint64_t bytes, Conflicts &conflicts);
  void write(unsigned thread, uint64_t offset, uint32_t site, uint64_t bytes,
             Conflicts &conflicts);
  void update(AccessKind kind, unsigned thread, uint64_t offset, uint32_t site,
              uint64_t bytes, Conflicts &conflicts);
  void checkWrites(AccessKind kind, unsigned thread, SharedCell &cell,
                   uint32_t own, uint64_t offset, Conflicts &conflicts);
  void checkReads(unsigned thread, SharedCell &cell, uint32_t own,
                  uint64_t offset, Conflicts &conflicts);
  void checkProxy(unsigned thread, Access access, uint64_t offset,
                  Conflicts &conflicts);
  FindingKind getKind(Access other) const;
  bool isWritten(const SharedCell &cell) const;
  bool isQuiet(const SharedCell &cell) const;
  bool isIdle(const SharedCell &cell) const;
  void recordRead(unsigned thread, SharedCell &cell, Access access);
  void recordWrite(SharedCell &cell, Access access);
  void addCoWriter(unsigned thread, SharedCell &cell, Access access);
  void addReader(unsigned thread, SharedCell &cell, Access access);
  void addTo(llvm::SmallVectorImpl<Access> &accesses, unsigned thread,
             Access access);
  bool mayForget(Access earlier, unsigned thread, Access later) const;

  const KernelTables &tables;
  Clocks &clocks;
  unsigned grain;
  CellArray<SharedCell> cells;
  /// Readers of a cell beyond the two in it, if there is a partial order.
  llvm::DenseMap<const SharedCell *, llvm::SmallVector<Access, 4>> moreReads;
  /// Writes of a cell besides the last plain one.
  llvm::DenseMap<const SharedCell *, llvm::SmallVector<Access, 4>> coWriters;
};

/// Accesses that stay in force: two by different threads of a block and, as
/// blocks are not ordered, one of another.
struct AccessSet {
  /// Linear ids of blocks plus one; zero means none.
  uint32_t block, otherBlock;
  Access accesses[2], other;
};

struct BlockAccess {
  uint64_t block;
  Access access;
};
using BlockAccesses = llvm::SmallVector<BlockAccess, 0>;

/// The shadow of some bytes of global memory.
struct GlobalCell {
  uint32_t writeBlock;
  /// Asynchronous copies that still read these bytes.
  uint32_t pending : 30;
  /// Updates, and writes that may have stored the same, are in a side table.
  uint32_t hasCoWriters : 1;
  /// More readers, if there is a partial order, are in a side table.
  uint32_t hasMoreReads : 1;
  Access write;
  AccessSet reads;
};

/// The shadow of one buffer in global memory.
class GlobalShadow {
public:
  GlobalShadow(const KernelTables &tables, uint64_t bytes, unsigned grain,
               bool isShared);

  /// False if there is no memory for it.
  bool isReady() { return cells.data() != nullptr; }
  unsigned getGrain() const { return grain; }

  /// The thread, or copy of a thread, that makes an access. Blocks that run
  /// together are one here.
  struct Actor {
    const Clocks &clocks;
    uint64_t block;
    unsigned thread;
    Publications &publications;
    const BlockGrid &grid;
    /// Clusters are what runs together.
    bool isOfCluster = false;
    /// It issues a copy in bulk, which makes the access.
    bool isByProxy = false;
  };
  using Conflicts = SharedShadow::Conflicts;
  /// `agent` is given if it is not the thread itself that makes the access.
  void access(const Actor &actor, AccessKind kind, uint64_t offset,
              uint32_t site, uint64_t bytes, Conflicts &conflicts,
              const Access *agent = nullptr);

  /// Bytes that an asynchronous copy reads until it has landed.
  void hold(uint64_t offset, uint64_t bytes, bool begins);

private:
  struct Locks;
  /// An access that is being made, and where it is in the buffer.
  struct Accessing {
    AccessKind kind;
    Access access;
    uint64_t offset;
  };
  bool hasPartialOrder() const {
    return tables.hasPartialOrder || tables.hasGlobalValueOrder;
  }
  bool isConsumed(const Actor &actor, const Accessing &own,
                  Access access) const;
  static Scope getDistance(const Actor &actor, uint64_t block, Access access);
  void accessCell(const Actor &actor, const Accessing &own, uint64_t index,
                  Conflicts &conflicts);
  void check(const Actor &actor, const Accessing &own, uint32_t block,
             Access access, Conflicts &conflicts);
  void check(const Actor &actor, const Accessing &own, const AccessSet &set,
             Conflicts &conflicts);
  void check(const Actor &actor, const Accessing &own,
             const BlockAccesses &accesses, Conflicts &conflicts);
  bool mayForget(const Actor &actor, Access earlier, Access later) const;
  bool record(const Actor &actor, AccessSet &set, Access access);
  void record(const Actor &actor, AccessSet &set, BlockAccesses &more,
              Access access);
  void recordRead(const Actor &actor, GlobalCell &cell, uint64_t index,
                  Access access);

  const KernelTables &tables;
  unsigned grain;
  CellArray<GlobalCell> cells;
  bool isShared;
  std::shared_ptr<Locks> locks;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_SHADOW_SHADOWMEMORY_H
