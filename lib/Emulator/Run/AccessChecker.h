//===- AccessChecker.h - What becomes of an access ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every access of generated code comes by here, and so does what asynchronous
// copies access. It is held to the bounds of its object, recorded in the shadow
// of the memory, and gets the host's address to use.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_ACCESSCHECKER_H
#define WORKGROUP_LIB_EMULATOR_RUN_ACCESSCHECKER_H

#include "Emulator/Shadow/Statistics.h"
#include "FindingCollector.h"
#include "MemoryOrder.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::workgroup::emulator {

class AccessChecker {
public:
  AccessChecker(Launch &launch, BlockState &block, FindingCollector &findings,
                MemoryOrder &order);

  /// False if there is no memory for it.
  bool isReady() { return shadow.getCells(); }
  SharedCell *getCells() { return shadow.getCells(); }
  /// Forgets all accesses to workgroup memory: times start again at zero.
  void clear() { shadow.clear(); }

  //===--------------------------------------------------------------------===//
  // Accesses of threads. An address is one that the thread has; a place, an
  // offset in the windows of all blocks that run together.
  //===--------------------------------------------------------------------===//

  /// Checks and records an access; returns the host address to use for it.
  uint8_t *access(ThreadState &thread, AccessKind kind, uint64_t address,
                  uint32_t site, uint64_t bytes);
  uint8_t *accessShared(ThreadState &thread, AccessKind kind, uint64_t offset,
                        uint32_t site, uint64_t bytes);
  /// `agent` is given if it is not the thread itself that makes the access.
  uint8_t *accessGlobal(ThreadState &thread, AccessKind kind, uint8_t *address,
                        uint32_t site, uint64_t bytes,
                        const Access *agent = nullptr);
  /// Tells of an access that generated code found to be out of bounds or
  /// misaligned; returns an address that does no harm.
  uint8_t *fault(ThreadState &thread, uint64_t address, uint32_t site);

  /// Copies or sets bytes for a memory intrinsic.
  void copyBytes(ThreadState &thread, uint64_t target, uint64_t source,
                 uint64_t bytes, uint32_t site);
  void setBytes(ThreadState &thread, uint64_t target, uint8_t value,
                uint64_t bytes, uint32_t site);

  //===--------------------------------------------------------------------===//
  // What asynchronous copies access
  //===--------------------------------------------------------------------===//

  /// Tells of an access to workgroup memory that is out of bounds or
  /// misaligned. False if it must not be done.
  bool checkShared(const ThreadState &thread, uint64_t place, uint32_t site,
                   uint64_t bytes);
  /// The start and the end of a copy into workgroup memory by `cp.async`;
  /// `writer` is who has written the bytes from the end on.
  void beginCopy(const ThreadState &thread, uint64_t offset, uint32_t site,
                 uint64_t bytes);
  void endCopy(uint64_t offset, uint64_t bytes, Access writer);
  /// What a copy in bulk, or a product, that `thread` issues does to workgroup
  /// memory. `knower` is who has to know what comes before it, if others issue
  /// it with the thread (Clocks::meet).
  void accessInBulk(const ThreadState &thread, AccessKind kind, Access agent,
                    uint64_t offset, uint32_t site, uint64_t bytes,
                    std::optional<unsigned> knower = std::nullopt);
  /// The last plain write of a byte of workgroup memory.
  Access getLastWrite(uint64_t offset) { return shadow.getLastWrite(offset); }
  /// How copies in bulk at `site` permute the chunks of their tiles, as the
  /// logarithm of the chunks; nothing if none has made any.
  void setSwizzle(uint32_t site, unsigned swizzle) { swizzles[site] = swizzle; }
  std::optional<unsigned> getSwizzle(uint32_t site) const {
    return swizzles[site];
  }
  /// Marks bytes of global memory that a copy reads until it has landed.
  void holdSource(const uint8_t *source, uint64_t bytes, bool begins);
  /// Notes that `thread` uses memory of another block, which has to be there
  /// until then.
  void useOther(const ThreadState &thread, uint64_t place, uint32_t site);
  /// Tells of such uses that the other block may have ended before, if all have
  /// run to their end.
  void endBlock(bool isComplete);
  /// Adds what an access to workgroup memory is at odds with.
  void addConflict(const ThreadState &thread, const Conflict &conflict,
                   uint64_t offset, uint32_t site, uint64_t bytes);

  //===--------------------------------------------------------------------===//
  // Statistics
  //===--------------------------------------------------------------------===//

  /// Notes that a thread has executed a site.
  void markReached(uint32_t site) { reached[site] = 1; }
  const std::vector<uint8_t> &getReached() const { return reached; }
  /// Counts an access.
  void log(const ThreadState &thread, uint64_t address, uint32_t site);
  /// Threads have met: what they access from now on belongs to other requests.
  void flushLog() {
    if (launch.withStatistics)
      accessLog.flush();
  }
  const AccessLog &getLog() const { return accessLog; }

private:
  uint8_t *refuse(const ThreadState &thread, FindingKind kind, uint32_t site,
                  Space space, uint32_t object, int64_t offset, uint64_t bytes);
  bool refuseShared(const ThreadState &thread, uint64_t offset, uint32_t site,
                    uint64_t bytes);
  uint32_t findBuffer(const uint8_t *address, uint32_t site) const;
  void addSharedConflicts(const ThreadState &thread, uint64_t offset,
                          uint32_t site, uint64_t bytes);

  Launch &launch;
  const KernelTables &tables;
  BlockState &block;
  FindingCollector &findings;
  MemoryOrder &order;
  // What every access asks for, as few steps away as can be.
  uint8_t *const window;
  const bool checksRaces;
  const llvm::ArrayRef<Site> sites;
  const llvm::ArrayRef<SiteBounds> siteBounds;
  SharedShadow shadow;
  /// Per site, whether any thread has executed it.
  std::vector<uint8_t> reached;
  std::vector<std::optional<uint8_t>> swizzles;
  /// The last use of the memory of a block by a thread of another, by that
  /// thread and the rank of the block.
  llvm::MapVector<std::pair<unsigned, unsigned>, Access> usesOfOthers;
  AccessLog accessLog;
  /// Those of the access that is being checked.
  FindingCollector::Conflicts conflicts;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_ACCESSCHECKER_H
