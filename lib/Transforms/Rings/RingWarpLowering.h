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

#include "RingTensorLowering.h"

namespace mlir::workgroup {

/// A ring that TMA fills for other warps than those which ask for it.
class RingWarpLowering : public RingTensorLowering {
public:
  using RingTensorLowering::RingTensorLowering;

  void run() override;

private:
  Value asIndex(Value slot);
  void lowerProducers(Value start, Value phase);
  Value electThread();
  void arrive(Value isElected, Value slot);
  void lowerConsumers(Value start, Value phase);

  /// An mbarrier for each slot, which waits for it to be empty.
  Value empties;
};

/// Makes branches of the warps inside `root` that do different work; their
/// rings are lowered already.
void lowerSpecialized(Operation *root, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_RINGWARPLOWERING_H
