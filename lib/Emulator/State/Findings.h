//===- Findings.h - What goes wrong in a launch --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A finding is identified by its kind and the two sites that are at odds. Of
// each, the table keeps a count and the first instance in the order of blocks
// and threads, so that the report does not depend on which worker was faster.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_STATE_FINDINGS_H
#define WORKGROUP_LIB_EMULATOR_STATE_FINDINGS_H

#include "Tables.h"
#include "ThreadState.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <string>
#include <vector>

namespace mlir::workgroup::emulator {

enum class FindingKind : uint32_t {
  SharedRace,
  GlobalRace,
  BlockRace,
  SameValue,
  NotWaited,
  NotPublished,
  NotWaitedAtEnd,
  ProxyFence,
  RegistersInUse,
  RegisterFence,
  OutOfBounds,
  ReadOnly,
  Misaligned,
  Uninitialized,
  Divergence,
  ExitedThread,
  InvalidBarrier,
  ClusterBarrier,
  ExitedBlock,
  MisalignedRow,
  MisalignedMatrix,
  Deadlock,
  Division,
  DivisionOverflow,
  StepLimit,
  TooManyCopies,
  MBarrier,
  TensorMap,
  BulkSize,
  BlockMask,
  MisalignedTile,
  Warpgroup,
  MatrixDescriptor,
  RegisterCount,
  InactiveLane,
  ExitedLane,
  Assertion,
  Trap,
};

/// The sites that are at odds identify a finding; of all times that it is seen,
/// the first in the order of blocks and threads is told.
struct FindingKey {
  FindingKind kind;
  uint32_t site = 0, otherSite = 0;

  bool operator==(const FindingKey &other) const {
    return kind == other.kind && site == other.site &&
           otherSite == other.otherSite;
  }
};

inline DiagnosticRecord makeNote(std::string message,
                                 SourceLocation location = {}) {
  return {"note", std::move(message), std::move(location), {}};
}

struct FindingInstance {
  uint64_t block = 0, otherBlock = 0;
  uint32_t thread = 0, otherThread = 0;
  /// The memory: of workgroup memory an index into the objects of the kernel,
  /// of global memory the number of the buffer plus one, zero if unknown; and
  /// the offset in it, else the address.
  Space space = Space::None;
  uint32_t object = 0;
  int64_t offset = 0;
  uint64_t bytes = 0;
  /// The last barrier of the block before it; 0 if there was none.
  uint32_t barrier = 0;
  std::vector<DiagnosticRecord> notes;

  bool isBefore(const FindingInstance &other) const;
};

struct FindingEntry {
  FindingInstance instance;
  uint64_t count = 0, blocks = 0;
  /// The last blocks, as many as may run together on a worker.
  llvm::SmallVector<uint64_t, 1> lastBlocks;

  void countBlock(uint64_t block);
};

class FindingTable {
public:
  /// Counts a finding; keeps the first instance.
  void add(FindingKey key, FindingInstance instance);
  void merge(const FindingTable &other);

  bool empty() const { return entries.empty(); }
  const auto &getEntries() const { return entries; }

private:
  llvm::MapVector<FindingKey, FindingEntry> entries;
};

} // namespace mlir::workgroup::emulator

template <>
struct llvm::DenseMapInfo<mlir::workgroup::emulator::FindingKey> {
  using Key = mlir::workgroup::emulator::FindingKey;
  using Kind = mlir::workgroup::emulator::FindingKind;
  static Key getEmptyKey() { return {Kind(~0u), 0, 0}; }
  static Key getTombstoneKey() { return {Kind(~0u), 1, 0}; }
  static unsigned getHashValue(const Key &key) {
    return hash_combine(uint32_t(key.kind), key.site, key.otherSite);
  }
  static bool isEqual(const Key &a, const Key &b) { return a == b; }
};

#endif // WORKGROUP_LIB_EMULATOR_STATE_FINDINGS_H
