//===- FindingCollector.cpp - What goes wrong in blocks -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From conflicts to findings: which of two accesses is named first, what is
// left out since another block made it known, and which writes stored the same
// value.
//
//===----------------------------------------------------------------------===//

#include "FindingCollector.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace mlir::workgroup::emulator {

FindingInstance FindingCollector::makeInstance(const ThreadState &thread,
                                               Space space, uint32_t object,
                                               int64_t offset,
                                               uint64_t bytes) const {
  FindingInstance instance;
  instance.block = instance.otherBlock = block.getBlock(thread);
  instance.thread = instance.otherThread = thread.local;
  instance.space = space;
  instance.object = object;
  instance.offset = offset;
  instance.bytes = bytes;
  instance.barrier = block.lastBarrier;
  return instance;
}

void FindingCollector::report(const ThreadState &thread, FindingKind kind,
                              uint32_t site, Notes notes) {
  FindingInstance instance = makeInstance(thread);
  instance.notes = std::move(notes);
  findings.add({kind, site, 0}, std::move(instance));
}

void FindingCollector::giveUp(const ThreadState &thread, FindingKind kind,
                              uint32_t site, Notes notes) {
  report(thread, kind, site, std::move(notes));
  launch.isOver = true;
}

/// True for what only something within a block can order, as a rule.
static bool isRaceOfBlock(FindingKind kind) {
  return kind == FindingKind::SharedRace || kind == FindingKind::GlobalRace ||
         kind == FindingKind::NotPublished;
}

/// The sites that are at odds. Of a race, which access comes first is chance,
/// and no second finding: `instance` may have its sides swapped.
FindingKey FindingCollector::makeKey(const Conflict &conflict, uint32_t site,
                                     FindingInstance &instance) const {
  FindingKey key{conflict.kind, site, conflict.other.getSite()};
  bool isSymmetric = conflict.kind == FindingKind::SharedRace ||
                     conflict.kind == FindingKind::GlobalRace ||
                     conflict.kind == FindingKind::BlockRace;
  const std::vector<Site> &sites = launch.tables.sites;
  if (isSymmetric && sites[key.site].ordinal < sites[key.otherSite].ordinal) {
    std::swap(key.site, key.otherSite);
    std::swap(instance.thread, instance.otherThread);
    std::swap(instance.block, instance.otherBlock);
  }
  return key;
}

void FindingCollector::addConflicts(const ConflictingAccess &access,
                                    Conflicts &conflicts) {
  uint64_t grain = uint64_t(1) << access.logGrain;
  llvm::SmallVector<FindingKey, 4> told; // one access is one time
  for (const auto &[offset, conflict] : conflicts) {
    FindingInstance instance =
        makeInstance(access.thread, access.space, access.object,
                     offset - access.origin, access.bytes);
    unsigned other = block.clocks.getThread(conflict.other);
    instance.otherThread = other % block.getThreadsPerBlock();
    instance.otherBlock =
        launch.getBlockOf(conflict.otherBlock.value_or(block.number),
                          other / block.getThreadsPerBlock());
    if (access.space == Space::Shared && getRank(offset) != access.thread.rank)
      instance.notes.push_back(
          makeNote("it is workgroup memory of the block of rank " +
                   std::to_string(getRank(offset)) + " in the cluster"));
    if (!conflict.note.empty())
      instance.notes.push_back(makeNote(conflict.note));
    // What one block did another may have passed on to a thread of the first.
    if (isRaceOfBlock(conflict.kind) &&
        launch.publications.isKnown(
            block.number, conflict.other,
            block.clocks.getKnown(access.thread.linear)))
      continue;
    FindingKey key = makeKey(conflict, access.site, instance);
    if (!conflict.mayBeSameValue || launch.withoutValues) {
      if (!llvm::is_contained(told, key))
        findings.add(key, std::move(instance));
      told.push_back(key);
      continue;
    }
    // The bytes of this cell, of which the access may have but a part.
    uint64_t start = uint64_t(instance.offset) + access.origin - access.first;
    uint64_t size =
        std::min(access.bytes - start, grain - (offset & (grain - 1)));
    const uint8_t *at = access.address + start;
    llvm::SmallVector<uint8_t, 16> before(at, at + size);
    unsettled.push_back({key, std::move(instance), at, std::move(before)});
  }
  conflicts.clear();
}

void FindingCollector::settleAll() {
  // Of one access, what differs in one byte differs; else all is the same.
  for (bool isDifferent : {true, false})
    for (Unsettled &write : unsettled) {
      bool differs = std::memcmp(write.address, write.before.data(),
                                 write.before.size()) != 0;
      if (differs != isDifferent || write.isTold)
        continue;
      FindingKey key = write.key;
      if (!differs)
        key.kind = FindingKind::SameValue;
      if (differs || launch.check == Check::All)
        findings.add(key, write.instance);
      for (Unsettled &other : unsettled)
        other.isTold |= other.key == write.key;
    }
  unsettled.clear();
}

} // namespace mlir::workgroup::emulator
