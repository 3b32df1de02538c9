//===- ContractionCluster.h - A sum and what is done with it ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction that adds to a private buffer, with what fills that buffer, the
// loops that go on adding, and what reads the sums behind them: all that
// becomes registers together.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONCLUSTER_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONCLUSTER_H

#include "GroupForm.h"
#include "Sharers.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

/// A contraction with all that is done with its accumulator.
struct ContractionCluster {
  Contraction contraction;
  memref::AllocaOp accumulator;
  /// The loops around the contraction, the outermost one first.
  SmallVector<scf::ForOp> loops = {};
  /// What the accumulator starts from.
  OpOperand *init = nullptr;
  /// What is made of it, in order.
  SmallVector<OpOperand *> sinks = {};
  /// Outputs that change the accumulator in the loops, before the sum.
  SmallVector<OpOperand *> updates = {};
  SmallVector<Operation *> views = {};
  ThreadTile tile = {};
  Sharers sharers = {};
  /// How tensor cores compute it, if they do.
  std::optional<MatrixForm> matrix = std::nullopt;
  /// How warp groups compute it instead, if they do.
  std::optional<GroupForm> group = std::nullopt;

  /// The loops as one operation, or the contraction if there are none.
  Operation *getRoot() {
    return loops.empty() ? contraction.op.getOperation()
                         : loops.front().getOperation();
  }
};

/// The contractions in `root` that could be clusters: what is filled in is the
/// operation and the accumulator.
std::vector<ContractionCluster> collectClusters(Operation *root);

/// Finds the loops around the contraction that go on adding. Returns why one is
/// none, or empty.
std::string findLoops(ContractionCluster &cluster);

/// True if `condition` holds for both factors.
bool areFactors(ContractionCluster &cluster,
                function_ref<bool(Value)> condition);

/// Finds all that belongs to `cluster`, and who shares it out. Returns why it
/// is no contraction to be shared out, or empty.
std::string describeCluster(ContractionCluster &cluster,
                            SharerAnalysis &analysis);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONCLUSTER_H
