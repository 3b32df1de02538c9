//===- ApartPairs.h - Pairs of accesses that never meet ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which pairs of accesses, as was found, are never of the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_APARTPAIRS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_APARTPAIRS_H

#include "PairRelation.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::workgroup {

/// Keeps pairs of accesses by their numbers, for each kind of two threads.
class ApartPairs {
public:
  explicit ApartPairs(size_t numAccesses) : numAccesses(numAccesses) {}

  /// Keeps a pair; of too many accesses, none.
  void insert(unsigned first, unsigned second, PairRelation::Threads threads) {
    constexpr size_t kMaxAccesses = 1 << 12; // two megabytes
    if (numAccesses > kMaxAccesses)
      return;
    llvm::BitVector &pairs = kept[threads];
    pairs.resize(numAccesses * numAccesses);
    pairs.set(first * numAccesses + second);
    pairs.set(second * numAccesses + first);
  }

  bool contains(unsigned first, unsigned second,
                PairRelation::Threads threads) const {
    const llvm::BitVector &pairs = kept[threads];
    return !pairs.empty() && pairs[first * numAccesses + second];
  }

private:
  const size_t numAccesses;
  /// Empty as long as nothing is kept.
  llvm::BitVector kept[PairRelation::OfTwoBlocks + 1];
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_APARTPAIRS_H
