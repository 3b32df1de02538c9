//===- ColumnExchange.h - Neighbours of a result for each lane --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a row of eight sums of a tensor core, each of four lanes has two: four
// bytes of a result of 16 bits, so that a store fills halves of sectors.
// Neighbouring lanes exchange what they have of two such rows that lie side by
// side: the even one gets four columns of the first, the odd one of the second.
// A store of 8 bytes then fills whole sectors, and there are half as many.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_COLUMNEXCHANGE_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_COLUMNEXCHANGE_H

#include "PieceAccess.h"

namespace mlir::workgroup {

/// Stores what a sink computes of whole tiles.
class ColumnExchange {
public:
  ColumnExchange(ContractionPart &part, const Pointwise &sink)
      : part(part), sink(sink), access(part, sink) {}

  /// True if lanes have parts that can be exchanged, and the memory that other
  /// lanes write then is not read elsewhere by the sink.
  bool isPossible() const;

  /// The columns of a thread that are stored at a time.
  static constexpr int64_t kColumns = 4;

  /// Stores `low`, the run of columns at (row, column) of the thread, and
  /// `high`, the next one.
  void store(Value low, Value high, int64_t row, int64_t column);

private:
  bool hasPairs() const;
  bool isReadElsewhere() const;

  ContractionPart &part;
  const Pointwise &sink;
  PieceAccess access;
  /// Whether the lane is odd; null until it is needed.
  Value isOdd;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_COLUMNEXCHANGE_H
