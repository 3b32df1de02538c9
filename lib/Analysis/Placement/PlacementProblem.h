//===- PlacementProblem.h - The fewest barriers as hitting set --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_PLACEMENTPROBLEM_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_PLACEMENTPROBLEM_H

#include "HittingSet.h"
#include "PlacementCandidates.h"
#include "SyncWays.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace mlir::workgroup {

/// Says which gaps cut which hazards. A branch that is passed cuts if all of
/// its arms do, so it is a choice that asks for a cut in each arm.
class PlacementProblem {
public:
  /// What barriers of one kind have to cut.
  struct Orders {
    const SyncProgram &program;
    llvm::ArrayRef<SyncHazard> hazards;
  };

  PlacementProblem(Orders block, Existing existing);
  /// Barriers of warps, which cost less, do for the orders of warps.
  PlacementProblem(Orders block, const WarpOrders &warps, Existing existing);

  SyncPlacement place();

private:
  /// What cuts a way.
  struct Cut {
    llvm::SmallVector<unsigned, 0> choices, branches;
    bool isCertain = false;

    bool isPossible() const {
      return isCertain || !choices.empty() || !branches.empty();
    }
  };
  /// What a passed branch asks for, or whether it cuts anyway or cannot.
  struct Arms {
    enum { Never, Always, Demands } kind = Never;
    llvm::SmallVector<Cut, 2> open;
    unsigned choice = 0;
  };
  /// The program as barriers of the block, or of warps, see it.
  struct Layer {
    Orders orders;
    PlacementCandidates candidates;
    /// The choices that are barriers in a gap.
    llvm::DenseMap<std::pair<unsigned, unsigned>,
                   llvm::SmallVector<unsigned, 2>>
        choicesAt;
    llvm::DenseMap<unsigned, std::unique_ptr<Arms>> armsOf;
    /// Branches that are choices, in order of their numbers.
    llvm::SmallVector<unsigned> branches;

    Layer(Orders orders, PlacementCandidates candidates)
        : orders(orders), candidates(std::move(candidates)) {}
  };

  static unsigned getDeepest(const Layer &layer);
  void addChoices(Layer &layer);
  void addDemands(Layer &layer);
  unsigned addDemand(Layer &layer, const Cut &cut);
  void addHazard(Layer &layer, unsigned number);
  void addBranches(Layer &layer);
  Cut getCut(Layer &layer, llvm::function_ref<void(const SyncWays &)> walk);
  void addNode(Layer &layer, Cut &cut, unsigned node);
  const Arms &getArms(Layer &layer, unsigned branch);
  llvm::SmallVector<unsigned> getCertificate() const;
  llvm::BitVector getSupport(unsigned demand) const;

  bool replaceExisting = false;
  std::optional<Layer> warp;
  Layer block;
  /// The depth of the deepest gap.
  unsigned deepest = 0;
  HittingSetProblem problem;
  /// The gap of each choice that has a price; those of the block come first.
  llvm::SmallVector<SyncGap, 0> gaps;
  unsigned numOfBlock = 0;
  /// What hazards of the block require, with their numbers.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 0> demandsOfBlock;
  llvm::SmallVector<unsigned> uncut;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_PLACEMENTPROBLEM_H
