//===- GivenBarriers.h - What given barriers cut ----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether barriers that are among the nodes of a program, or would be put into
// it, stand on every way between two steps.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_GIVENBARRIERS_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_GIVENBARRIERS_H

#include "SyncProgram.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace mlir::workgroup {

/// True if barriers at `gaps`, and those that are among the nodes, stand on
/// every way from `hazard.from` to `hazard.to`. False if there is no way: steps
/// of different arms exclude each other, and none comes before itself.
bool isCut(const SyncProgram &program, const SyncHazard &hazard,
           llvm::ArrayRef<SyncGap> gaps);

/// Of `hazards`, by number, those that barriers among the nodes do not cut.
llvm::SmallVector<unsigned> findOpen(const SyncProgram &program,
                                     llvm::ArrayRef<SyncHazard> hazards);

/// Of each of `gaps`, by number, the `hazards` that a barrier there cuts,
/// beside those among the nodes, and that these do not cut.
std::vector<llvm::SmallVector<unsigned, 0>>
findCut(const SyncProgram &program, llvm::ArrayRef<SyncHazard> hazards,
        llvm::ArrayRef<SyncGap> gaps);

/// What barriers among the nodes cut, with as little work for long ways as for
/// short ones.
class BarrierCounts {
public:
  explicit BarrierCounts(const SyncProgram &program);

  /// The same as `mlir::workgroup::isCut`, without further gaps.
  bool isCut(const SyncHazard &hazard) const;

private:
  bool isPassed(unsigned sequence, unsigned first, unsigned last) const {
    return before[sequence][first] != before[sequence][last];
  }
  bool isMetIn(unsigned node) const;

  const SyncProgram &program;
  /// Of each sequence, how many of the items before a gap meet a barrier on all
  /// ways through them.
  llvm::SmallVector<llvm::SmallVector<unsigned, 0>, 0> before;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_GIVENBARRIERS_H
