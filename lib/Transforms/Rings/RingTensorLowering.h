//===- RingTensorLowering.h - Rings that TMA fills --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each slot has an mbarrier: one thread of the block issues the copies of an
// iteration and states the bytes that the mbarrier is to expect, and all
// threads wait for the phase of the slot before they read it (PTX ISA,
// `cp.async.bulk.tensor`, `mbarrier`). The parity of the phase alternates each
// time the ring has gone around, and is carried along with the slot.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_RINGTENSORLOWERING_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_RINGTENSORLOWERING_H

#include "RingLowering.h"
#include "Transforms/Copies/MBarriers.h"
#include "Transforms/Copies/TensorCopies.h"
#include "Transforms/Copies/TensorMaps.h"

namespace mlir::workgroup {

/// A ring that TMA fills for the threads which read it.
class RingTensorLowering : public RingLowering {
public:
  /// Takes tile number i for one that will have `layouts[i]`, if that is not
  /// null.
  RingTensorLowering(Ring &ring, Operation *root,
                     const LowerRingsOptions &options, TensorMaps &maps,
                     RewriterBase &rewriter,
                     ArrayRef<TileLayoutAttr> layouts = {});
  virtual ~RingTensorLowering() = default;

  /// Why TMA cannot do the copies of the ring; empty if it can. To be asked
  /// before `run`.
  std::string findObstacle();
  virtual void run();

protected:
  Value flipAfterLast(Value phase, Value slot);
  std::vector<TensorCopy> matchCopies(ArrayRef<Copy> copies);
  void expectBytes(ArrayRef<TensorCopy> tensors, Value slot);
  void emitLoads(const Copy &copy, const TensorCopy &tensor, Value slot);

  /// One for each slot, which waits for it to be full.
  Value mbarriers;

private:
  std::string findObstacleInCopies();
  bool isOutOfMemory();
  void issueIteration(std::optional<Value> condition, Value iteration,
                      Value slot);
  SmallVector<Value> lowerIteration(Value written, Value read, Value phase);

  TensorMaps &maps;
  SmallVector<TileLayoutAttr> layouts;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_RINGTENSORLOWERING_H
