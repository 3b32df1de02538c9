//===- GroupForm.h - Contractions by warp groups ----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether warp groups multiply the tiles of a contraction where they are, and
// in which layouts they find them there. `wgmma` multiplies 64 rows, and up to
// 256 columns, and its lanes have of the result what those of four warps have
// whose `mma.sync` multiply 16 rows each (MatrixForm.h).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_GROUPFORM_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_GROUPFORM_H

#include "MatrixForm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

class TensorRings;

/// One of the two tiles that warp groups multiply.
struct GroupFactor {
  /// The tile, which a ring gives.
  OpResult tile = {};
  TileLayoutAttr layout = {};
  /// Whether the rows of the tile are the steps of the sum for the first
  /// factor, or the columns of the result for the second one.
  bool isTransposed = false;
  /// Whether it has integers without a sign.
  bool isUnsigned = false;

  RingOp getRing() const {
    return cast<GetOp>(tile.getOwner()).getRing().getDefiningOp<RingOp>();
  }
};

/// How warp groups compute a contraction.
struct GroupForm {
  GroupFactor lhs, rhs;
  /// Of which the groups are warps.
  ThreadTile tile;
  /// The products of a warp group, the last one included, that go on while it
  /// gets to the next: 1, or 0 if it waits for each.
  int64_t numPending = 0;
};

/// How the warp groups of a block of `numThreads` threads compute
/// `contraction`, which the tensor cores of `chip` compute by `matrix` else;
/// nothing if they do not. `why` is the reason then, empty where nobody would
/// expect them.
std::optional<GroupForm> chooseGroupForm(Contraction &contraction,
                                         const MatrixForm &matrix,
                                         const Chip &chip, int64_t numThreads,
                                         function_ref<TensorRings &()> getRings,
                                         std::string &why);

/// The products that may go on while those of the next iteration of `loop`,
/// around the contraction, are started: the rings that `form` reads need a slot
/// more than for the copies that run ahead.
int64_t chooseNumPending(const GroupForm &form, scf::ForOp loop);

/// Gives the tiles of `form` their layouts, and lets their slots be released
/// when what reads them is done.
void applyToRings(RewriterBase &rewriter, const GroupForm &form);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_GROUPFORM_H
