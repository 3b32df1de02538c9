//===- WarpRegions.h - Warps that take a path of their own ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a branch region that only some warps of the block take, always the same
// and as a whole, those can meet at a barrier of their own (PTX ISA, `bar.sync
// a, b`): one that has a number, and says how many threads are to come.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_SYNC_WARPREGIONS_H
#define WORKGROUP_LIB_ANALYSIS_SYNC_WARPREGIONS_H

#include "Analysis/Conflict/ThreadConflicts.h"
#include "Analysis/Tree/SyncTree.h"

namespace mlir::workgroup {

/// A branch region that some warps take.
struct ThreadPart {
  Region *region = nullptr;
  /// The threads of those warps, by linear ids.
  std::vector<bool> threads;
  /// The numbers of barriers at which they meet, and nobody else; none if they
  /// have no barrier yet.
  SmallVector<int64_t, 1> numbers;

  int64_t getNumThreads() const { return llvm::count(threads, true); }
};

class WarpRegions {
public:
  /// `block`: the kernel as barriers of the block see it.
  WarpRegions(Operation *scope, const SyncTree &block,
              ThreadConflicts &conflicts);
  WarpRegions() = default;

  ArrayRef<ThreadPart> getParts() const { return parts; }
  bool haveBarriers() const {
    return llvm::any_of(
        parts, [](const ThreadPart &part) { return !part.numbers.empty(); });
  }
  void eraseIf(llvm::function_ref<bool(const ThreadPart &)> isWrong) {
    llvm::erase_if(parts, isWrong);
  }
  /// Gives `part` a barrier if it has none; false if none is left.
  bool allocate(const ThreadPart &part);
  /// The part that `op` stands in; null for none.
  const ThreadPart *getPart(Operation *op) const;
  /// True if `op` is a barrier of the part that it stands in.
  bool isBarrier(Operation *op) const;

private:
  void collectNumbers(Operation *scope);
  bool isOwn(int64_t number, const ThreadPart &part) const;

  SmallVector<ThreadPart, 0> parts;
  /// The barriers that have each number.
  std::map<int64_t, SmallVector<Operation *>> users;
  /// Something may use any of them.
  bool areNumbersKnown = true;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_SYNC_WARPREGIONS_H
