//===- Tables.h - What is known of a kernel before it runs ---- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translation fills the tables of a kernel, and generated code, runtime and
// reports refer to their entries by number: sites (instructions that access
// memory or wait), objects (memory that addresses point into), and operations
// (what threads do together). Flags say what a kernel never does, so that the
// runtime can leave out that part of its bookkeeping.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_STATE_TABLES_H
#define WORKGROUP_LIB_EMULATOR_STATE_TABLES_H

#include "Clocks.h"
#include "Emulator/Isa/AsyncOps.h"
#include "Emulator/Isa/MatrixOps.h"
#include "Emulator/Isa/WarpOps.h"
#include "Emulator/Isa/WarpgroupOps.h"
#include "workgroup/Emulator/Emulator.h"
#include "workgroup/Target/LaunchLimits.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::workgroup::emulator {

/// The start of workgroup memory in its window, as on hardware: what is below
/// belongs to the system, so that no address in use is null.
constexpr uint64_t kSharedBase = 1024;
/// Bytes of the window, more than any chip has.
constexpr uint64_t kSharedWindow = 256 << 10;
/// The windows of blocks that run together lie one behind the other. A place is
/// an offset from the first of them; an address in workgroup memory is one from
/// the window of the thread's own block, whatever block it is of.
inline uint64_t getPlace(const ThreadState &thread, uint64_t address) {
  return uint64_t(thread.rank) * kSharedWindow + int64_t(int32_t(address));
}
inline uint64_t getOffset(uint64_t place) { return place % kSharedWindow; }
inline unsigned getRank(uint64_t place) { return place / kSharedWindow; }

/// Bytes of an access, at most.
constexpr uint64_t kMaxAccessBytes = 4096;

enum class Space : uint8_t { None, Generic, Global, Shared, Private, Constant };

/// An update reads and writes at once.
enum class AccessKind : uint8_t {
  None,
  Read,
  Write,
  Update,
  AtomicRead,
  AtomicWrite
};

inline bool isAtomic(AccessKind kind) { return kind >= AccessKind::Update; }
inline bool writes(AccessKind kind) {
  return kind == AccessKind::Write || kind == AccessKind::Update ||
         kind == AccessKind::AtomicWrite;
}

/// An instruction that touches memory or waits for other threads.
struct Site {
  AccessKind kind = AccessKind::None;
  Space space = Space::None;
  /// The address is known to point into a variable of the module.
  bool isVariable = false;
  /// Part of an asynchronous copy; of one in bulk; of one to workgroup memory.
  bool isAsync = false, isBulk = false, isLoad = false;
  /// A product of a warpgroup, or its read of an operand; what touches
  /// registers of one.
  bool isProduct = false, isOfRegisters = false;
  /// The order of an atomic operation.
  AtomicOrder order;
  /// The exchanges between lanes that the value of a read goes into, and those
  /// that a write stores the outcome of: the write comes after the reads.
  llvm::BitVector feeds, follows;
  uint32_t bytes = 0;
  /// The address has to be a multiple of this.
  uint32_t alignment = 1;
  /// The object that the address is known to point into, by its index; 0 if it
  /// is not known.
  uint32_t object = 0;
  /// Number of the instruction in the prepared kernel.
  uint32_t ordinal = 0;
  SourceLocation location;
  /// The places of the other operations, if several have become one.
  std::vector<SourceLocation> otherLocations;
};

/// True if accesses at these sites, by threads which `distance` is the smallest
/// scope of, are atomic to each other: nothing need order them.
inline bool areAtomicToEachOther(const Site &site, const Site &other,
                                 Scope distance) {
  // A reduction in bulk is of the elements of its map, which the launch knows.
  bool isOfOneWidth =
      site.order.width == other.order.width || site.isBulk || other.isBulk;
  return isAtomic(site.kind) && isAtomic(other.kind) && isOfOneWidth &&
         std::min(site.order.scope, other.order.scope) >= distance;
}

/// True if all that is at odds with an access at `earlier` is with one of the
/// same bytes at `later`, too.
inline bool standsFor(const Site &later, const Site &earlier) {
  return !isAtomic(later.kind) ||
         (isAtomic(earlier.kind) && later.order.width == earlier.order.width &&
          later.order.scope <= earlier.order.scope);
}

/// Memory that addresses point into.
struct Object {
  enum class Kind { Unknown, Argument, Shared, Dynamic, Variable };
  Kind kind = Kind::Unknown;
  std::string name;
  /// Offset in the shared window; of an argument, its number.
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// Something that threads do together, and wait at for others, or that involves
/// copies that go on by themselves.
struct Operation {
  enum class Kind {
    Barrier,
    BarrierCount,
    Cluster,
    Warp,
    Matrix,
    Warpgroup,
    Async
  };
  Kind kind = Kind::Barrier;
  uint32_t site = 0;
  /// All lanes of a warp have to be at this very instruction.
  bool isAligned = true;
  /// An arrival makes nothing known.
  bool isRelaxed = false;
  /// Nobody looks at what it computes.
  bool isIdle = false;
  /// The reduction of a predicate that comes with a barrier.
  std::optional<BarrierReduction> reduction;
  std::optional<WarpOp> warp;
  std::optional<MatrixOp> matrix;
  std::optional<AsyncOp> async;
  std::optional<WarpgroupOp> warpgroup;
  /// The number of a product, and what it does to the registers of others, as
  /// an index into the register uses.
  uint32_t product = 0, registerUse = 0;
  /// The number of an exchange that orders reads and writes (Exchanges).
  uint32_t exchange = 0;
  /// Site of the loads or stores of a matrix operation, and how many lanes give
  /// the address of a row; of the mbarrier, or of what a copy writes, of which
  /// the next is that of what it reads.
  uint32_t accessSite = 0;
  unsigned numRows = 0;
};

/// Something that touches registers which products of warpgroups have for
/// operands. Products are known by their numbers.
struct RegisterUse {
  /// Where it is, and whether it writes.
  uint32_t site = 0;
  /// Products that may have made the value; it must not be touched while they
  /// go on.
  llvm::BitVector products;
  /// Products that may get it, or what takes its place: a fence has to come in
  /// between.
  llvm::BitVector next;
};

/// A size of the launch that the code was compiled for.
struct SizeBound {
  bool isGrid = false;
  unsigned dim = 0;
  uint32_t least = 1, most = ~0u;
};

/// All that instrumentation tells the runtime about a kernel.
struct KernelTables {
  std::string name;
  std::vector<Site> sites = {Site()};
  std::vector<Object> objects = {Object()};
  std::vector<Operation> operations;
  std::vector<RegisterUse> registerUses;
  /// Products of warpgroups in the program.
  unsigned numProducts = 0;
  /// The start of dynamic memory, and the end of static memory.
  uint64_t sharedEnd = kSharedBase;
  /// Object of the dynamic memory; 0 if the kernel does not use it.
  uint32_t dynamicObject = 0;
  /// Offset and bytes of each parameter in the block of parameters.
  std::vector<std::pair<uint64_t, uint64_t>> parameters;
  /// Which of them are tensor maps; in their place is a pointer of the host.
  std::vector<bool> areTensorMaps;
  uint64_t parameterBytes = 0;
  /// Logarithm of the bytes of a shadow cell, of workgroup memory and of each
  /// buffer that an argument points to; no access is smaller.
  unsigned sharedGrain = 2;
  std::vector<unsigned> argumentGrain;
  /// The smallest grain of accesses to global memory of an unknown object.
  unsigned globalGrain = 4;
  /// Some threads may be ordered while others are not: there are barriers of
  /// less than a block, or atomics that order.
  bool hasPartialOrder = false;
  /// There are atomic operations that are none to all who may access the same
  /// memory, or are of different widths.
  bool hasNarrowAtomics = false;
  /// Accesses of blocks are to be kept one by one: some of them may be ordered,
  /// or atomic, to some other blocks and not to all.
  bool tellsBlocksApart = false;
  /// Blocks of a cluster work together: they have to run together.
  bool usesClusters = false;
  /// Fences, or atomic operations that order by themselves, are among that;
  /// and such as reach other blocks.
  bool ordersMemory = false, ordersBlocks = false;
  /// There are copies that go on by themselves through another proxy, or are
  /// waited for by others than their threads.
  bool hasAgents = false;
  /// There are mbarriers.
  bool hasMBarriers = false;
  /// There are operations of warpgroups.
  bool hasWarpgroups = false;
  /// Values that were read go into warp operations, and what comes out of them
  /// to where they were read; and there are such in global memory, which alone
  /// makes no order partial in workgroup memory.
  bool hasValueOrder = false, hasGlobalValueOrder = false;
  /// A thread may turn round until it sees what another one stores.
  bool mayWaitInLoops = false;
  /// Iterations of loops after which a thread asks whether it may go on. If it
  /// waits for another thread in them, that one is to have its turn soon.
  uint32_t getIterationsPerPoll() const {
    return mayWaitInLoops ? 1 << 8 : 1 << 16;
  }
  uint32_t maxThreads = kMaxBlockThreads;
  /// Registers of a thread and blocks of a multiprocessor that it was compiled
  /// for, if the kernel says.
  std::optional<uint32_t> maxRegisters, minBlocks;
  /// Blocks per cluster, if the kernel was compiled for that; and at most.
  std::optional<std::array<uint32_t, 3>> cluster;
  uint32_t maxClusterBlocks = ~0u;
  std::vector<SizeBound> sizeBounds;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_STATE_TABLES_H
