//===- RingWarpLowering.h - Rings between warps -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring that some warps of `workgroup.specialize` fill, by TMA, and others
// read: each side waits for the other at mbarriers, and at nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_RINGWARPLOWERING_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_RINGWARPLOWERING_H

#include "RingLowering.h"

namespace mlir::workgroup {

class RingWarpLowering : public RingLowering {
public:
  using RingLowering::RingLowering;

  /// Lowers the ring, of which `findTensorObstacle` has found that TMA can fill
  /// it.
  void run(TensorMaps &maps);

private:
  void lowerProducers(Value start, Value phase, TensorMaps &maps);
  void lowerConsumers(Value start, Value phase);
  Value asIndex(Value slot);
  void arrive(Value isElected, Value slot);

  /// An mbarrier for each slot, which waits for it to be empty.
  Value empties;
};

/// Makes branches of the warps inside `root` that do different work; their
/// rings are lowered already.
void lowerSpecialized(Operation *root, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_RINGWARPLOWERING_H
