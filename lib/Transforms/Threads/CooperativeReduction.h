//===- CooperativeReduction.h - Sums of all threads -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block that has fewer results than threads shares out the sums themselves:
//
//   each thread          sums up every T-th part
//   each warp            adds up its threads, in registers; its first lane
//                        stores that to slots[warp]
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

#include "PointEmitter.h"
#include "workgroup/Analysis/Alignment.h"

namespace mlir::workgroup {

class CooperativeReduction {
public:
  /// Nothing if `op` cannot, or should not, be a reduction of all `threads`
  /// threads.
  static std::optional<CooperativeReduction>
  get(linalg::LinalgOp op, ArrayRef<OpFoldResult> extents, int64_t threads);

  /// Emits what ends with the slots filled.
  void emitParts(OpBuilder &builder, AlignmentAnalysis &alignment);
  /// Emits, where the loops of the results have the values `ivs`, what adds up
  /// the slots to result `number`.
  Value emitTotal(OpBuilder &builder, ArrayRef<Value> ivs, unsigned number,
                  Value start);

  ArrayRef<unsigned> getSharedLoops() const { return shared; }

private:
  CooperativeReduction(linalg::LinalgOp op, ArrayRef<OpFoldResult> extents,
                       int64_t threads)
      : op(op), extents(extents), threads(threads),
        shared(workgroup::getSharedLoops(op)) {}

  /// Threads as rows of `lanes`, each of which has `length` neighbours along
  /// the shared loop number `position`.
  struct Columns {
    unsigned position = 0;
    int64_t length = 1, lanes = 0, rows = 0;
    bool isWhole = false; // no lane is beyond the last result
  };

  bool analyzeLoops();
  bool analyzeBody();
  void chooseColumns(AlignmentAnalysis &alignment);
  std::optional<unsigned> findColumnLoop() const;
  void createSlots(OpBuilder &builder);
  void setSerialLoops(OpBuilder &builder, PointEmitter &emitter,
                      OpFoldResult iteration);
  OpFoldResult countSerial(OpBuilder &builder);
  SmallVector<OpFoldResult> getOuterExtents() const;
  void emitColumnParts(OpBuilder &builder);
  void emitColumnPart(OpBuilder &builder, Value row, Value first,
                      ArrayRef<Value> ivs);
  LaneValues emitColumnSums(OpBuilder &builder, Value row, Value first,
                            ArrayRef<Value> ivs);
  Value emitColumnTotal(OpBuilder &builder, ArrayRef<Value> ivs,
                        unsigned number, Value start);
  void emitPart(OpBuilder &builder, Value thread, ArrayRef<Value> ivs,
                AlignmentAnalysis &alignment);
  SmallVector<Value> emitThread(OpBuilder &builder, Value thread,
                                ArrayRef<Value> ivs,
                                AlignmentAnalysis &alignment);
  Value combine(OpBuilder &builder, unsigned number, Value lhs, Value rhs);

  linalg::LinalgOp op;
  SmallVector<OpFoldResult> extents;
  int64_t threads;
  SmallVector<unsigned> shared, serial;
  SmallVector<int64_t> maxPoints; // along each shared loop
  SmallVector<Operation *> combiners;
  SmallVector<Value> slots;
  std::optional<Columns> columns;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_COOPERATIVEREDUCTION_H
