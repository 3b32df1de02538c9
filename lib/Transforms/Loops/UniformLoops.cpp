//===- UniformLoops.cpp - Barriers in loops that threads share ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UniformLoops.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The first operation inside of `scope` at which all threads have to meet.
static Operation *findMeetingIn(Operation *scope,
                                DenseSet<Operation *> &visited) {
  Operation *found = nullptr;
  scope->walk([&](Operation *op) {
    bool isMeeting = isBlockMeeting(op);
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      Operation *callee = call.resolveCallable();
      isMeeting |= callee && visited.insert(callee).second &&
                   findMeetingIn(callee, visited);
    }
    found = isMeeting ? op : nullptr;
    return isMeeting ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

Operation *UniformLoops::findMeeting(Operation *loop) {
  DenseSet<Operation *> visited;
  return findMeetingIn(loop, visited);
}

bool UniformLoops::isUniform(Value value) {
  if (!analysis)
    analysis.emplace(root);
  return analysis->isUniform(value);
}

bool UniformLoops::areUniform(const LoopRange &range) {
  return llvm::all_of(ArrayRef{range.lower, range.upper, range.step},
                      [&](OpFoldResult bound) {
                        auto value = dyn_cast<Value>(bound);
                        return !value || isUniform(value);
                      });
}

bool UniformLoops::isUniformIn(Operation *loop) {
  SetVector<Value> used;
  getUsedValuesDefinedAbove(loop->getRegions(), used);
  return llvm::all_of(used, [&](Value value) { return isUniform(value); });
}

} // namespace mlir::workgroup
