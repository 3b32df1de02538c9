//===- FindingCollector.h - What goes wrong in blocks --------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The findings of one worker. A conflict that shadow memory reports becomes a
// finding here, with the threads, the object and the block that it is about. Of
// two writes that conflict it is first seen whether both stored the same.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_FINDINGCOLLECTOR_H
#define WORKGROUP_LIB_EMULATOR_RUN_FINDINGCOLLECTOR_H

#include "BlockState.h"
#include "Emulator/State/Findings.h"

namespace mlir::workgroup::emulator {

/// An access that has conflicts.
struct ConflictingAccess {
  const ThreadState &thread;
  uint32_t site;
  uint64_t bytes;
  Space space;
  /// What it accesses, as FindingInstance has it.
  uint32_t object;
  /// Where that object and the access begin in the shadow, and the logarithm of
  /// the bytes of its cells.
  uint64_t origin, first;
  unsigned logGrain;
  /// The bytes that it accesses.
  const uint8_t *address;
};

class FindingCollector {
public:
  using Conflicts = llvm::SmallVector<std::pair<uint64_t, Conflict>, 4>;
  using Notes = std::vector<DiagnosticRecord>;

  FindingCollector(Launch &launch, const BlockState &block)
      : launch(launch), block(block) {}

  /// What `thread` did to some bytes at `offset` of an object, to be completed.
  FindingInstance makeInstance(const ThreadState &thread,
                               Space space = Space::None, uint32_t object = 0,
                               int64_t offset = 0, uint64_t bytes = 0) const;
  void add(FindingKey key, FindingInstance instance) {
    findings.add(key, std::move(instance));
  }

  /// Adds a finding that is about no access.
  void report(const ThreadState &thread, FindingKind kind, uint32_t site,
              Notes notes = {});
  /// The same, after which nothing sensible can follow: ends the launch.
  void giveUp(const ThreadState &thread, FindingKind kind, uint32_t site,
              Notes notes = {});

  /// Makes findings of the conflicts of an access, and empties the list of
  /// them. Writes that may have stored the same value are put aside until the
  /// later one has been done.
  void addConflicts(const ConflictingAccess &access, Conflicts &conflicts);
  /// Tells writes that changed nothing from races, now that all have been done
  /// that were put aside.
  void settle() {
    if (!unsettled.empty())
      settleAll();
  }

  const FindingTable &getTable() const { return findings; }

private:
  FindingKey makeKey(const Conflict &conflict, uint32_t site,
                     FindingInstance &instance) const;
  void settleAll();

  /// A write that conflicts with another, whose values are still to be
  /// compared.
  struct Unsettled {
    FindingKey key;
    FindingInstance instance;
    const uint8_t *address;
    llvm::SmallVector<uint8_t, 16> before;
    bool isTold = false;
  };

  Launch &launch;
  const BlockState &block;
  FindingTable findings;
  std::vector<Unsettled> unsettled;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_FINDINGCOLLECTOR_H
