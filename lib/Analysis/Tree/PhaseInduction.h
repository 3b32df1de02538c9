//===- PhaseInduction.h - What goes on with each wait -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves that values count how often an operation has been executed. What is
// claimed of values at one place is followed back along all ways to it, through
// loops and branches of any kind, until each path begins where the kernel does,
// comes from the operation, or is one that the same has been claimed of: so it
// holds by induction over what a thread executes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_TREE_PHASEINDUCTION_H
#define WORKGROUP_LIB_ANALYSIS_TREE_PHASEINDUCTION_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir::workgroup {

class PhaseInduction {
public:
  using State = SmallVector<Value, 2>;
  /// True if the given values are what comes next after the state of `wait`.
  using IsNext = llvm::function_ref<bool(ValueRange)>;

  /// `wait` is in the kernel `scope`.
  PhaseInduction(Operation *wait, Operation *scope, IsNext isNext)
      : wait(wait), scope(scope), isNext(isNext) {}

  /// True if `state` is zero in all of its values where `wait` is executed
  /// first, and goes on with each time that it is.
  bool holds(ArrayRef<Value> state);

private:
  /// The values are as often executed as `wait` has been, whenever control is
  /// about to execute `before`.
  struct Claim {
    Operation *before;
    State values;

    bool operator==(const Claim &other) const {
      return before == other.before && values == other.values;
    }
  };

  bool follow(const Claim &claim);
  bool enterBlock(Block *block, const State &values);
  bool enterRegions(RegionBranchOpInterface branch, RegionSuccessor target,
                    const State &values);
  std::optional<State> getBefore(const State &values, ValueRange inputs,
                                 ValueRange operands,
                                 llvm::function_ref<bool(Value)> isMade) const;
  void add(Operation *before, const State &values);

  Operation *wait, *scope;
  IsNext isNext;
  SmallVector<Claim> claims;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_TREE_PHASEINDUCTION_H
