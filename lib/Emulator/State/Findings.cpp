//===- Findings.cpp - What goes wrong in a launch -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Findings.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

namespace mlir::workgroup::emulator {

bool FindingInstance::isBefore(const FindingInstance &other) const {
  return std::tie(block, otherBlock, thread, otherThread, offset) <
         std::tie(other.block, other.otherBlock, other.thread,
                  other.otherThread, other.offset);
}

void FindingEntry::countBlock(uint64_t block) {
  if (llvm::is_contained(lastBlocks, block))
    return;
  ++blocks;
  if (lastBlocks.size() == kMaxClusterBlocks)
    lastBlocks.erase(lastBlocks.begin());
  lastBlocks.push_back(block);
}

void FindingTable::add(FindingKey key, FindingInstance instance) {
  FindingEntry &entry = entries[key];
  entry.countBlock(instance.block);
  if (entry.count++ == 0 || instance.isBefore(entry.instance))
    entry.instance = std::move(instance);
}

void FindingTable::merge(const FindingTable &other) {
  for (const auto &[key, theirs] : other.entries) {
    auto [it, isNew] = entries.insert({key, theirs});
    if (isNew)
      continue;
    FindingEntry &ours = it->second;
    ours.count += theirs.count;
    ours.blocks += theirs.blocks; // no block runs on two workers
    if (theirs.instance.isBefore(ours.instance))
      ours.instance = theirs.instance;
  }
}

} // namespace mlir::workgroup::emulator
