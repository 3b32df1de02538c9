//===- CooperativeReduction.h - Sums of all threads -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block that has fewer results than threads shares out the sums themselves.
// Threads are in groups of whole warps, and each group has some of the results:
//
//   each thread          sums up every T-th part, of several results at once
//   each warp            adds up its threads, in registers; its first lane
//                        stores that to slots[result][warp of the group]
//   who needs the result adds up the slots
//
// Where neighbours in memory belong to different results, threads side by side
// are to read them, so the exchange is between threads that are far apart:
//
//   each thread          sums up every R-th part of some neighbours, and stores
//                        that to slots[row]
//   who needs the result adds up the slots
//
// The one barrier that this takes, before the last step, is not inserted here.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_COOPERATIVEREDUCTION_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_COOPERATIVEREDUCTION_H

#include "RegisterTile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::workgroup {

/// What a warp can be told to do for `op`, which puts two values together;
/// nothing if it cannot.
std::optional<gpu::AllReduceOperation> getReduction(Operation *op);

class CooperativeReduction {
public:
  /// Nothing if `op` cannot, or should not, be a reduction of all `threads`
  /// threads.
  static std::optional<CooperativeReduction> get(linalg::LinalgOp op,
                                                 ArrayRef<OpFoldResult> extents,
                                                 int64_t threads,
                                                 AlignmentAnalysis &alignment);

  /// Emits what ends with the slots filled.
  void emitParts(OpBuilder &builder, AlignmentAnalysis &alignment);
  /// Emits, where the loops of the results have the values `ivs`, what adds up
  /// the slots to result `number`.
  Value emitTotal(OpBuilder &builder, ArrayRef<Value> ivs, unsigned number,
                  Value start);

  /// Whether it is one sum along `loop`, and that is along memory.
  bool isAlong(unsigned loop) const {
    return !columns && serial.size() == 1 && serial.front() == loop &&
           countPoints() == 1;
  }
  /// Has each thread sum up `parts` of `length` elements, and no loop around
  /// them: buffers in private memory hold these.
  void keepParts(int64_t length, int64_t parts);

private:
  CooperativeReduction(linalg::LinalgOp op, ArrayRef<OpFoldResult> extents,
                       int64_t threads)
      : op(op), extents(extents), threads(threads),
        shared(workgroup::getSharedLoops(op)) {}

  /// What a thread has at a time: a box of `lengths` along the loops, that of
  /// the last serial loop by `vector`, at every `step`-th place of the sums,
  /// `unroll` of which follow each other.
  struct Share {
    ThreadVector vector;
    SmallVector<int64_t> lengths;
    int64_t step = 1, unroll = 1;
  };

  /// Threads as `count` groups, which share out the shared loop number
  /// `position`.
  struct Groups {
    unsigned position = 0;
    int64_t count = 1;
  };

  /// Threads as rows of `lanes`, each of which has `length` neighbours along
  /// the shared loop number `position`.
  struct Columns {
    unsigned position = 0;
    int64_t length = 1, lanes = 0, rows = 0;
    bool isWhole = false; // no lane is beyond the last result
  };

  bool analyzeLoops();
  bool analyzeBody();
  void sortSerialLoops();
  bool chooseColumns(AlignmentAnalysis &alignment);
  void chooseColumnShare(AlignmentAnalysis &alignment);
  std::optional<unsigned> findColumnLoop() const;
  void chooseRows(AlignmentAnalysis &alignment);
  void chooseGroups();
  void chooseUnroll();
  ThreadVector chooseSerialVector(int64_t most, AlignmentAnalysis &alignment);
  std::optional<int64_t> countConstantSerial() const;
  int64_t countPoints() const;
  bool isWide(const Columns &chosen) const;

  void createSlots(OpBuilder &builder);
  OpFoldResult countSerial(OpBuilder &builder);
  int64_t getLength(unsigned number) const {
    return share.lengths[shared[number]];
  }
  /// Results along a shared loop that all groups do at a time.
  int64_t getStride(unsigned number) const {
    return getLength(number) * (number == groups.position ? groups.count : 1);
  }
  SmallVector<OpFoldResult> countChunks(OpBuilder &builder);
  LaneValues emitSums(OpBuilder &builder, Value thread, ArrayRef<Value> firsts,
                      AlignmentAnalysis &alignment);
  LaneValues emitKeptParts(OpBuilder &builder, Value thread,
                           ArrayRef<Value> firsts, LaneValues sums,
                           AlignmentAnalysis &alignment);
  LaneValues emitTile(OpBuilder &builder, OpFoldResult iteration,
                      int64_t length, ArrayRef<Value> firsts,
                      const LaneValues &sums, AlignmentAnalysis &alignment);
  void forEachPoint(function_ref<void(ArrayRef<int64_t>)> body) const;

  void emitColumnParts(OpBuilder &builder, AlignmentAnalysis &alignment);
  void emitColumnPart(OpBuilder &builder, Value row, ArrayRef<Value> firsts,
                      AlignmentAnalysis &alignment);
  Value emitColumnTotal(OpBuilder &builder, ArrayRef<Value> ivs,
                        unsigned number, Value start);
  void emitRowParts(OpBuilder &builder, AlignmentAnalysis &alignment);
  void emitRowPart(OpBuilder &builder, Value thread, ArrayRef<Value> firsts,
                   AlignmentAnalysis &alignment);
  Value combine(OpBuilder &builder, unsigned number, Value lhs, Value rhs);

  linalg::LinalgOp op;
  SmallVector<OpFoldResult> extents;
  int64_t threads;
  SmallVector<unsigned> shared, serial; // of serial loops the last is fastest
  SmallVector<int64_t> maxPoints;       // along each shared loop
  SmallVector<Operation *> combiners;
  SmallVector<Value> slots;
  Share share;
  Groups groups;
  std::optional<Columns> columns;
  bool hasParts = false;
  /// The first element of the part that is emitted.
  std::optional<int64_t> privateElement;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_COOPERATIVEREDUCTION_H
