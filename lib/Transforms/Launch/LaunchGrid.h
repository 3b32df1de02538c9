//===- LaunchGrid.h - Blocks for the iterations of a loop ----- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grid of a launch has a block for each iteration of the dimensions of a
// loop that are mapped to blocks. Up to three dimensions are x, y and z; if
// there are more, or if one may be too long for y or z (65,535), all are folded
// into x and taken apart again by division. A grid without blocks is no launch:
// it is guarded by a condition unless it is known to have some.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LAUNCH_LAUNCHGRID_H
#define WORKGROUP_LIB_TRANSFORMS_LAUNCH_LAUNCHGRID_H

#include "Transforms/Loops/ParallelLoops.h"

namespace mlir::workgroup {

/// The blocks of a launch: one for each iteration of the dimensions of a loop
/// that go to blocks.
class LaunchGrid {
public:
  explicit LaunchGrid(const ParallelLoop &loop);

  /// True if there is known to be no block.
  bool isEmpty() const { return total == 0; }
  /// True if more blocks are known to be than a grid has.
  bool isTooLarge() const;
  /// True if all dimensions go to x.
  bool isFolded() const { return folded; }

  /// Makes the number of iterations of each dimension where `builder` stands,
  /// on the host. Unless there are known to be blocks, `builder` then stands in
  /// a condition that there are.
  void makeCounts(OpBuilder &builder);
  /// The sizes along x, y and z.
  std::array<Value, 3> makeSizes(OpBuilder &builder) const;
  /// Makes the induction variables of dimensions that go to blocks.
  void makeInductionVars(OpBuilder &builder, gpu::KernelDim3 block,
                         SmallVectorImpl<OpFoldResult> &values) const;

private:
  /// A dimension of the loop that goes to blocks.
  struct Dim {
    unsigned number;
    /// x, y or z, unless the grid is folded.
    unsigned along;
    OpFoldResult count;
  };

  const ParallelLoop &loop;
  /// The fastest first.
  SmallVector<Dim, 3> dims;
  bool folded = false;
  /// The number of blocks, if that is known.
  std::optional<int64_t> total;
  OpFoldResult product;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LAUNCH_LAUNCHGRID_H
