//===- ContractionPart.h - What a thread has of a result --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the emitters of a lowered contraction have in common: the contraction,
// the tile of a thread, where code is put, and the indices of the elements of
// the result that the thread has.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONPART_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONPART_H

#include "Sharers.h"
#include "ThreadTile.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/Alignment.h"

namespace mlir::workgroup {

/// The part of a contraction's result that one of its sharers has.
class ContractionPart {
public:
  /// Computes, where `rewriter` stands, the thread's indices, which have to
  /// dominate all that is emitted for it.
  ContractionPart(Contraction &contraction, const ThreadTile &tile,
                  const Sharers &sharers, RewriterBase &rewriter,
                  AlignmentAnalysis &alignment);

  /// The index of each loop of `group` when `linear` counts through it.
  SmallVector<OpFoldResult> split(OpFoldResult linear, const LoopGroup &group);

  /// The index of `loop`, not one of the sum, at element (row, column) of the
  /// thread.
  OpFoldResult getIndex(unsigned loop, int64_t row, int64_t column);

  /// Makes `last` the index of the last loop of the columns at `column`, and
  /// returns what was.
  OpFoldResult exchangeLastIndex(int64_t column, OpFoldResult last) {
    return std::exchange(columnIndices[column].back(), last);
  }

  /// The number of the thread among those that have a part, or of that which
  /// has the part that it computes, too; and the first row and column of its
  /// group.
  OpFoldResult getMember() const { return member; }
  OpFoldResult getFirstRow() const { return firstRow; }
  OpFoldResult getFirstColumn() const { return firstColumn; }

  /// True if the thread has a part, where only some of the sharers have; null
  /// where all have.
  Value hasPart();

  /// The type of an element of the result, and of a run of columns of it.
  Type getElementType() const {
    return getElementTypeOrSelf(contraction.getResult()->get());
  }
  VectorType getVectorType() const {
    return VectorType::get({tile.columnRun}, getElementType());
  }

  Contraction &contraction;
  const ThreadTile tile;
  const Sharers sharers;
  RewriterBase &rewriter;
  AlignmentAnalysis &alignment;
  const Location loc;
  IndexBuilder index;

private:
  void splitThreadId();

  OpFoldResult thread, member, firstRow, firstColumn;
  /// Of each row and column of the thread, the index of each loop.
  SmallVector<SmallVector<OpFoldResult>> rowIndices, columnIndices;
};

/// The most elements, up to `limit`, that an access along the last dimension of
/// `operand`, the elements of which are neighbours, can take: what comes before
/// it steps by multiples of them.
int64_t getAccessLength(ContractionPart &part, OpOperand *operand,
                        int64_t limit);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONPART_H
