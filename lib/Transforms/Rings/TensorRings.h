//===- TensorRings.h - Rings that TMA can fill ------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whoever wants the tiles of a ring in a layout that TMA writes asks here
// whether `workgroup-lower-rings` will let TMA fill them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_TENSORRINGS_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_TENSORRINGS_H

#include "Transforms/Copies/TensorMaps.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Transforms/Rings.h"

namespace mlir::workgroup {

/// The rings inside an operation, while it is not changed.
class TensorRings {
public:
  TensorRings(Operation *root, const LowerRingsOptions &options)
      : root(root), options(options), maps(root),
        aliases(root, options.copies.assumeDistinctArguments) {}

  /// The reason why TMA cannot fill `ring` if its tile number i has
  /// `layouts[i]`; empty if it can.
  std::string getObstacle(RingOp ring, ArrayRef<TileLayoutAttr> layouts);

private:
  Operation *root;
  LowerRingsOptions options;
  TensorMaps maps;
  ArgumentAliases aliases;
};

/// Gives tile number i of `ring`, which TMA can fill so, `layouts[i]`, if that
/// is not null: the tile becomes its storage, a memref of rank 1. Whoever reads
/// it has to know.
void setLayouts(RewriterBase &rewriter, RingOp ring,
                ArrayRef<TileLayoutAttr> layouts);

/// Lets slots of `ring` become empty only when as many more as `lag` are
/// released, or later.
void setLag(RewriterBase &rewriter, RingOp ring, int64_t lag);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_TENSORRINGS_H
