//===- ClusterEmitter.h - A contraction in registers ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a sharer does of a cluster, all of which is decided: the sums start as
// what fills the accumulator, go through the loops as values that these carry,
// get the products added, and are stored behind.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CLUSTEREMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CLUSTEREMITTER_H

#include "ContractionCluster.h"
#include "GroupProductEmitter.h"
#include "MatrixProductEmitter.h"
#include "PointwiseEmitter.h"
#include "StoreRing.h"

namespace mlir::workgroup {

/// Emits what a cluster becomes beside it. Nothing of the cluster is erased.
class ClusterEmitter {
public:
  /// Computes, where `rewriter` stands, what has to dominate all of the code:
  /// in front of what fills the accumulator. With `stores`, TMA stores what it
  /// can of what warp groups compute.
  ClusterEmitter(ContractionCluster &cluster, RewriterBase &rewriter,
                 AlignmentAnalysis &alignment,
                 std::optional<StoreContext> stores);

  void run();

private:
  void addSlots(StoreContext stores);
  SmallVector<Value> start();
  SmallVector<Value> enterLoops(SmallVector<Value> sums);
  SmallVector<Value> multiply(ValueRange sums);
  SmallVector<Value> leaveLoops(SmallVector<Value> sums);

  ContractionCluster &cluster;
  RewriterBase &rewriter;
  ContractionPart part;
  /// Who multiplies; threads, one product after the other, if neither does.
  std::optional<MatrixProductEmitter> matrices;
  std::optional<GroupProductEmitter> groups;
  /// From which TMA stores results; none if threads store them all.
  std::optional<StoreRing> slots;
  /// The value that fills all of the accumulator; null if it is not the same
  /// for all elements.
  const Value filling;
  PointwiseEmitter pointwise;
  /// Whether loops carry the sums as warp groups have them: not if something
  /// changes the sums on the way.
  const bool carriesPacked;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CLUSTEREMITTER_H
