//===- RowLayout.h - A layout of the rows of a buffer -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are padded, or swizzled: chunks of a row change places with one another.
// Which layout is best is chosen in BankLayouts.h; which TMA can make, is in
// TensorSwizzles.h.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_BANKS_ROWLAYOUT_H
#define WORKGROUP_LIB_TRANSFORMS_BANKS_ROWLAYOUT_H

#include "Target/BankConflicts.h"
#include "workgroup/Target/AccessWidth.h"

namespace mlir::workgroup {

/// A layout of the rows of a buffer. Chunk `c` of row `r` of a swizzled buffer
/// takes the place of chunk `c xor s` where `s = (r / rowsPerStep) mod period`.
/// That is in the row because `period`, a power of two, divides the number of
/// its chunks. If `fold` is not zero, the pass `p` of the row that the chunk is
/// in takes part: `s = (r / rowsPerStep xor p * fold) mod period`.
struct RowLayout {
  /// Bytes behind each row.
  int64_t padBytes = 0;
  /// Bytes of a chunk, a power of two.
  int64_t chunkBytes = 0;
  int64_t period = 1, rowsPerStep = 1, fold = 0;
  /// Accesses of more bytes that can be split are split into this many.
  int64_t pieceBytes = kWidestAccessBytes;

  bool isSwizzled() const { return period > 1; }
  bool isIdentity() const { return padBytes == 0 && !isSwizzled(); }

  /// The column, in elements, where that of number `column` of row `row` is.
  uint32_t getColumn(uint32_t row, uint32_t column,
                     int64_t elementBytes) const {
    if (!isSwizzled())
      return column;
    uint32_t pass = column * elementBytes / kPassBytes;
    uint32_t step = row / uint32_t(rowsPerStep) ^ pass * uint32_t(fold);
    return column ^
           (step & uint32_t(period - 1)) * uint32_t(chunkBytes / elementBytes);
  }
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_BANKS_ROWLAYOUT_H
