//===- BarrierPlacement.cpp - Where barriers order accesses ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/BarrierPlacement.h"
#include "PlacementProblem.h"
#include "SyncWays.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Given barriers
//===----------------------------------------------------------------------===//

namespace {

/// Tells whether barriers at given gaps stand on ways.
class GivenGaps {
public:
  GivenGaps(const SyncProgram &program, ArrayRef<SyncGap> gaps)
      : program(program), gaps(gaps.begin(), gaps.end()) {
    sort(this->gaps);
  }

  bool isCut(const SyncHazard &hazard) const {
    return isMet([&](const SyncWays &ways) { ways.walk(hazard); });
  }

private:
  bool isMet(function_ref<void(const SyncWays &)> walk) const {
    bool result = false;
    walk(SyncWays(program, {[&](SyncGap gap) {
                              result |= std::binary_search(gaps.begin(),
                                                           gaps.end(), gap);
                            },
                            [&](unsigned node, const SyncTurn &) {
                              result |= result || cuts(node);
                            }}));
    return result;
  }

  bool cuts(unsigned number) const {
    const SyncNode &node = program.nodes[number];
    return node.kind == SyncNode::Barrier ||
           (!node.parts.empty() && all_of(node.parts, [&](unsigned arm) {
             return isMet([&](const SyncWays &ways) { ways.walkArm(arm); });
           }));
  }

  const SyncProgram &program;
  SmallVector<SyncGap> gaps;
};

} // namespace

bool isCut(const SyncProgram &program, const SyncHazard &hazard,
           ArrayRef<SyncGap> gaps) {
  return GivenGaps(program, gaps).isCut(hazard);
}

//===----------------------------------------------------------------------===//
// The fewest barriers
//===----------------------------------------------------------------------===//

SyncPlacement placeBarriers(const SyncProgram &program,
                            ArrayRef<SyncHazard> hazards,
                            bool replaceExisting) {
  Existing existing = replaceExisting ? Existing::Replace : Existing::Keep;
  return PlacementProblem({program, hazards}, existing).place();
}

SyncPlacement placeBarriers(const SyncProgram &program,
                            ArrayRef<SyncHazard> hazards,
                            const WarpOrders &warps) {
  return PlacementProblem({program, hazards}, warps, Existing::Keep).place();
}

SyncPlacement chooseBarriers(const SyncProgram &program,
                             ArrayRef<SyncHazard> hazards) {
  return PlacementProblem({program, hazards}, Existing::Choose).place();
}

SyncPlacement chooseBarriers(const SyncProgram &program,
                             ArrayRef<SyncHazard> hazards,
                             const WarpOrders &warps) {
  return PlacementProblem({program, hazards}, warps, Existing::Choose).place();
}

} // namespace mlir::workgroup
