//===- RingLowering.h - A ring to copies, waits, barriers -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With S slots, the copies of an iteration are started S - 1 iterations before.
// One barrier in each iteration does for both hazards: all threads have waited
// for their part of the slot that is read next, and all have read the slot that
// is filled next.
//
// Slots that are released with a lag L, as what reads them is asynchronous
// itself, leave S - 1 - L iterations for the copies to run ahead.
//
// The first S - 1 iterations' copies come before the loop. Those past the last
// iteration are not made. Slots are numbers that the loop carries, stepped by
// an addition and a selection, and never start again: should the loop be
// entered once more, its first copies fill slots that nobody can still be
// reading.
//
// TMA announces what has arrived by an mbarrier for each slot. Their phase is
// the parity of how often the slots have been gone round, and is carried too.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_RINGLOWERING_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_RINGLOWERING_H

#include "Ring.h"
#include "Transforms/Copies/CopyEmitter.h"
#include "Transforms/Copies/TensorMaps.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "workgroup/Transforms/Rings.h"

namespace mlir::workgroup {

class RingLowering {
public:
  RingLowering(Ring &ring, const LowerRingsOptions &options, bool isAsync,
               AlignmentAnalysis &alignment, RewriterBase &rewriter)
      : ring(ring), options(options), alignment(alignment), rewriter(rewriter),
        index{rewriter, ring.getLoc()}, loc(ring.getLoc()),
        mayBeAsync(isAsync) {}

  /// The copies of an iteration are done in it.
  void lowerInPlace();
  /// True if cp.async does any of the copies. To be asked before `lowerAhead`.
  bool decideAsync();
  /// The copies of an iteration are started in earlier ones.
  void lowerAhead();
  /// Takes tile number i for one that will have `layouts[i]`, if that is not
  /// null.
  void assumeLayouts(ArrayRef<TileLayoutAttr> layouts) {
    assumedLayouts.assign(layouts.begin(), layouts.end());
  }
  /// Why TMA cannot do the copies of the ring; empty if it can. To be asked
  /// before `lowerByTMA`.
  std::string findTensorObstacle(const TensorMaps &maps);
  /// As `lowerAhead`, by TMA.
  void lowerByTMA(TensorMaps &maps);

protected:
  // Slots and iterations.
  void allocate(int64_t count);
  SmallVector<Value> getTiles(OpFoldResult slot);
  Value getTile(Operation *copy, ArrayRef<Value> tiles);
  Value makeNumber(Type type, int64_t number);
  Value isLast(Value slot);
  Value advance(Value slot, int64_t by);
  Value getSteps(int64_t distance);
  Value widen(Value value);
  Value hasIterationAfter(Value iteration, int64_t distance);
  std::optional<Value> hasIteration(int64_t number);

  // Copies.
  AlignmentAnalysis makeAlignment(int64_t bytes);
  void assumeSlots(AlignmentAnalysis &alignment);
  std::vector<Copy> cloneCopies(ArrayRef<Operation *> ops, Value iteration,
                                OpFoldResult slot);
  Copy makeCopy(Operation *op);
  void emit(const Copy &copy);
  void copyIteration(ArrayRef<Operation *> ops, std::optional<Value> condition,
                     Value iteration, OpFoldResult slot);
  void startIteration(Value condition, int64_t distance, OpFoldResult slot);
  bool stageCopy(Operation *op, Value condition, Value later,
                 OpFoldResult slot);
  Operation *findPlaceOfCopies();
  void closeGroup();
  void waitForGroups(int64_t numPending);

  // By TMA.
  TileLayoutAttr getLayout(Operation *copy);
  int64_t getTensorAlignment();
  std::string getTensorObstacle(const TensorMaps &maps);
  bool isOutOfMemory();
  void issueIteration(std::optional<Value> condition, Value iteration,
                      Value slot, TensorMaps &maps);

  Value enterLoop(Value first, int64_t distance,
                  function_ref<void(std::optional<Value>, Value, Value)> start);
  void enterKernel();
  bool hasBarriers();
  void eraseRing(ValueRange tiles);

  Ring &ring;
  const LowerRingsOptions &options;
  AlignmentAnalysis &alignment;
  RewriterBase &rewriter;
  IndexBuilder index;
  Location loc;
  bool mayBeAsync;

  scf::ForOp loop;
  int64_t numSlots = 1;
  /// The iterations that copies run ahead: the other slots are being read.
  int64_t getDistance() const { return numSlots - 1 - ring.getLag(); }
  /// In bytes, of a tile in each slot.
  int64_t slotAlignment = kSlotAlignment;
  /// One for each slot, if copies are by TMA.
  Value mbarriers;
  /// Of tiles, in a question about what might be.
  SmallVector<TileLayoutAttr> assumedLayouts;
  /// One for each tile, of all slots.
  SmallVector<Value> storage;
  /// Copies that cp.async does, whole or in part.
  DenseSet<Operation *> asyncCopies;
  /// Whether any copy is asynchronous.
  bool isAsync = false;
  /// Copies that are lowered. Erased last: what has been found out about values
  /// must not be taken for others in their place.
  SmallVector<Operation *> dead;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_RINGLOWERING_H
