//===- ThreadMeetings.h - Equations of ids only -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a block of known shape there are few enough pairs of threads to go through
// all of them for the equations that say something of the threads' ids and
// nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADMEETINGS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADMEETINGS_H

#include "EquationRule.h"

namespace mlir::workgroup {

/// Goes through all pairs of threads.
class ThreadMeetings : public EquationRule {
public:
  using IsPair = llvm::function_ref<bool(unsigned, unsigned)>;

  /// `isPair` says which threads of the block, by their linear ids, the two may
  /// be.
  ThreadMeetings(EquationSystem &system, IsPair isPair)
      : EquationRule(system), isPair(isPair) {}

  /// Learns whether no threads are left, or only those of a thread and itself.
  bool learnAtLast() override;

private:
  IsPair isPair;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_THREADMEETINGS_H
