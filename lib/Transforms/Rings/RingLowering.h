//===- RingLowering.h - Slots and iterations of a ring ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all ways to lower a ring have in common: its slots in workgroup memory,
// which slot follows which, which iterations the loop has, and the copies of an
// iteration. With S slots, the copies of an iteration are started S - 1
// iterations before. Slots that are released with a lag L, as what reads them
// is asynchronous itself, leave S - 1 - L iterations for the copies to run
// ahead.
//
// The first iterations' copies come before the loop. Those past the last
// iteration are not made. Slots are numbers that the loop carries, stepped by
// an addition and a selection, and never start again: should the loop be
// entered once more, its first copies fill slots that nobody can still be
// reading.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_RINGLOWERING_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_RINGLOWERING_H

#include "Ring.h"
#include "Transforms/Copies/Copy.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Transforms/Rings.h"

namespace mlir::workgroup {

/// A ring that is being lowered, for those who say how.
class RingLowering {
protected:
  /// `root` is what the client may change, `slotAlignment` the alignment in
  /// bytes of a tile in each slot.
  RingLowering(Ring &ring, Operation *root, const LowerRingsOptions &options,
               RewriterBase &rewriter, int64_t slotAlignment)
      : ring(ring), root(root), options(options), rewriter(rewriter),
        index{rewriter, ring.getLoc()}, loc(ring.getLoc()),
        slotAlignment(slotAlignment), loop(ring.getLoop()) {}

  // Slots.
  void allocate(int64_t count);
  SmallVector<Value> getTiles(OpFoldResult slot);
  Value getTile(Operation *copy, ArrayRef<Value> tiles);
  Value isLast(Value slot);
  Value advance(Value slot, int64_t by);

  // Iterations.
  int64_t getDistance() const { return numSlots - 1 - ring.getLag(); }
  Value getSteps(int64_t distance);
  Value hasIterationAfter(Value iteration, int64_t distance);
  std::optional<Value> hasIteration(int64_t number);

  // Copies.
  AlignmentAnalysis makeAlignment(int64_t bytes);
  void assumeSlots(AlignmentAnalysis &alignment);
  Copy makeCopy(Operation *op);
  std::vector<Copy> cloneCopies(ArrayRef<Operation *> ops, Value iteration,
                                OpFoldResult slot);

  // Around the loop.
  void enterKernel();
  bool hasBarriers();
  void enterIf(std::optional<Value> condition);
  Value enterLoop(Value first, int64_t distance,
                  function_ref<void(std::optional<Value>, Value, Value)> start);
  void eraseRing(ValueRange tiles);

  Ring &ring;
  Operation *root;
  const LowerRingsOptions &options;
  RewriterBase &rewriter;
  IndexBuilder index;
  const Location loc;
  const int64_t slotAlignment;
  scf::ForOp loop;
  int64_t numSlots = 1;
  /// Whether cp.async may do copies from global memory.
  bool mayBeAsync = false;
  /// Copies that are lowered. Erased last: what has been found out about values
  /// must not be taken for others in their place.
  SmallVector<Operation *> dead;

private:
  Value makeNumber(Type type, int64_t number);
  Value widen(Value value);

  /// One for each tile, of all slots.
  SmallVector<Value> storage;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_RINGLOWERING_H
