//===- PlacementProblem.h - The fewest barriers as hitting set --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fewest barriers are a hitting set: a hazard is a demand, and the points
// on its paths are the choices that meet it. A branch on a path is a choice
// without a price, which makes a demand in each of its regions. Prices are
// counts by loop depth, compared from the deepest on, so that a barrier in an
// inner loop is never traded for any number of barriers around it. The
// certificate is a set of hazards that have no point in common.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PLACEMENT_PLACEMENTPROBLEM_H
#define WORKGROUP_LIB_ANALYSIS_PLACEMENT_PLACEMENTPROBLEM_H

#include "HazardPaths.h"
#include "HittingSet.h"
#include "PlacementCandidates.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace mlir::workgroup {

/// Says which points cover which hazards. A branch that is passed covers if all
/// of its regions do, so it is a choice that asks for a cover in each region.
class PlacementProblem {
public:
  /// The hazards that barriers of one kind have to cover, and their program.
  struct Orders {
    const SyncProgram &program;
    llvm::ArrayRef<SyncHazard> hazards;
  };

  PlacementProblem(Orders block, Existing existing);
  /// Barriers of warps, which cost less, do for the orders of warps.
  PlacementProblem(Orders block, const WarpOrders &warps, Existing existing);

  SyncPlacement place();

private:
  /// The choices, and the branches on the way, that cover a path.
  struct Cover {
    llvm::SmallVector<unsigned, 0> choices, branches;
    bool isCertain = false;

    bool isPossible() const {
      return isCertain || !choices.empty() || !branches.empty();
    }
  };
  /// The demands of a branch that is passed; none if it covers anyway, or if it
  /// cannot.
  struct Regions {
    enum { Never, Always, Demands } kind = Never;
    llvm::SmallVector<Cover, 2> open;
    unsigned choice = 0;
  };
  /// The program as barriers of the block, or of warps, see it.
  struct Layer {
    Orders orders;
    PlacementCandidates candidates;
    /// The choices that are barriers in a point.
    llvm::DenseMap<std::pair<unsigned, unsigned>,
                   llvm::SmallVector<unsigned, 2>>
        choicesAt;
    llvm::DenseMap<unsigned, std::unique_ptr<Regions>> regionsOf;
    /// Branches that are choices, in order of their numbers.
    llvm::SmallVector<unsigned> branches;

    Layer(Orders orders, PlacementCandidates candidates)
        : orders(orders), candidates(std::move(candidates)) {}
  };

  static unsigned getDeepest(const Layer &layer);
  void addChoices(Layer &layer);
  void addDemands(Layer &layer);
  unsigned addDemand(Layer &layer, const Cover &cover);
  void addHazard(Layer &layer, unsigned number);
  void addBranches(Layer &layer);
  Cover getCover(Layer &layer,
                 llvm::function_ref<void(const HazardPaths &)> walk);
  void addNode(Layer &layer, Cover &cover, unsigned node);
  const Regions &getRegions(Layer &layer, unsigned branch);
  llvm::SmallVector<unsigned> getCertificate() const;
  llvm::BitVector getSupport(unsigned demand) const;

  bool replaceExisting = false;
  std::optional<Layer> warp;
  Layer block;
  /// The depth of the deepest point.
  unsigned deepest = 0;
  HittingSetProblem problem;
  /// The point of each choice that has a price; those of the block come first.
  llvm::SmallVector<SyncPoint, 0> points;
  unsigned numOfBlock = 0;
  /// The demands of hazards of the block, each with the number of the hazard.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 0> demandsOfBlock;
  llvm::SmallVector<unsigned> uncovered;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PLACEMENT_PLACEMENTPROBLEM_H
