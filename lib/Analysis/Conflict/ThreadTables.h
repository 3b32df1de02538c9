//===- ThreadTables.h - What all threads of a block do ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers that follow from the thread alone, for all threads of a block of
// known shape: any arithmetic is a matter of doing it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADTABLES_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADTABLES_H

#include "Analysis/Index/SymbolicIndex.h"

namespace mlir::workgroup {

/// True if the thread alone tells whether `condition` holds.
bool isOfThread(const SymbolicCondition &condition);

class ThreadTables {
public:
  using Table = std::vector<int64_t>;

  /// The block has `shape`.
  explicit ThreadTables(std::array<int64_t, 3> shape);

  unsigned getNumThreads() const { return numThreads; }
  std::array<int64_t, 3> getIds(int64_t thread) const {
    return {thread % shape[0], thread / shape[0] % shape[1],
            thread / shape[0] / shape[1]};
  }
  /// The number of the thread of these ids.
  unsigned getNumber(const std::array<int64_t, 3> &ids) const {
    return ids[0] + shape[0] * (ids[1] + shape[1] * ids[2]);
  }

  /// The value of `form` in each thread; null if it does not follow from the
  /// thread or is not defined in some.
  const Table *get(const SymbolicAtom *atom);
  std::optional<Table> get(const SymbolicForm &form);
  /// Adds `factor` times the values of `atom`, which has a table, to `sums`,
  /// one for each thread; false if one of these multiples is large, and then
  /// what is in `sums` is of no use.
  bool addMultiples(const SymbolicAtom *atom, int64_t factor, Table &sums);

  /// In which threads `condition` may hold.
  std::vector<bool> getPossible(const SymbolicCondition &condition);
  /// True if it holds in all of them.
  bool isAlways(const SymbolicCondition &condition);

private:
  /// The values of an atom, of which none is further from zero than `most`.
  struct Values {
    Table table;
    uint64_t most = 0;
  };

  const Values *getValues(const SymbolicAtom *atom);
  std::optional<Table> compute(const SymbolicAtom *atom);
  enum class Truth : char { No, Maybe, Yes };
  std::vector<Truth> evaluate(const SymbolicCondition &condition);

  std::array<int64_t, 3> shape;
  unsigned numThreads;
  DenseMap<const SymbolicAtom *, std::unique_ptr<Values>> tables;
};

/// Places that threads touch: `keys` says what has to be equal, and they
/// overlap if those from `start` to `start + run - 1` do.
struct ThreadCoordinates {
  /// By thread; of the threads in `isPossible` only.
  std::vector<ThreadTables::Table> keys;
  std::vector<int64_t> starts;
  std::vector<bool> isPossible;
  int64_t run = 1;
};

/// Two threads, by linear ids, that may touch the same place, and for which
/// `isPair` holds. At most `limit` pairs.
std::vector<std::pair<unsigned, unsigned>>
findMeetings(const ThreadCoordinates &first, const ThreadCoordinates &second,
             llvm::function_ref<bool(unsigned, unsigned)> isPair, size_t limit);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADTABLES_H
