//===- KernelSync.cpp - What barriers of a kernel have to order -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"

namespace mlir::workgroup {

KernelSync::KernelSync(Operation *scope, const SyncAnalyses &analyses)
    : scope(scope), analyses(analyses), loops(scope),
      accesses(scope, analyses.block, analyses.arguments),
      conflicts(scope, accesses, loops, analyses.block, analyses.warp) {}

SyncTree KernelSync::makeTree(UniformityUnit unit) const {
  auto hasTurn = [&](const KernelLoop *loop) {
    return conflicts.getIndex().hasTurn(loop);
  };
  auto takesOneWay = [&](Operation *op) {
    return conflicts.takesOneWay(op, unit);
  };
  auto isDead = [&](Operation *op) { return conflicts.isDead(op); };
  SyncScope sync{
      unit,    unit == UniformityUnit::Block ? analyses.block : analyses.warp,
      loops,   takesOneWay,
      hasTurn, isDead};
  return SyncTree(scope, accesses, sync);
}

std::vector<Hazard> KernelSync::findHazards(const SyncTree &tree,
                                            UniformityUnit unit,
                                            bool isRefined) {
  std::vector<Hazard> hazards = mlir::workgroup::findHazards(
      accesses, tree, conflicts,
      unit == UniformityUnit::Block ? PairRelation::OfTwoWarps
                                    : PairRelation::OfOneWarp);
  if (isRefined)
    removeOrdered(hazards, tree, conflicts);
  return hazards;
}

SmallVector<SyncHazard> getOrders(ArrayRef<Hazard> hazards) {
  return llvm::map_to_vector(hazards,
                             [](const Hazard &hazard) { return hazard.order; });
}

} // namespace mlir::workgroup
