//===- BankLayouts.h - Layouts of rows and what they cost -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer gets the layout of its rows that costs least: the wavefronts of its
// sampled accesses, each weighted by how often it is executed, and the
// arithmetic that a swizzle adds. Candidates are the identity, rows with
// padding behind them, and chunks swizzled by the exclusive or with the row
// number. For 64 rows of 128 bytes that eight lanes read at one column, chunks
// of 16 bytes with a period of 8 take eight places in the banks:
//
//   chunk c of row r -> chunk c xor (r mod 8)
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_BANKS_BANKLAYOUTS_H
#define WORKGROUP_LIB_TRANSFORMS_BANKS_BANKLAYOUTS_H

#include "BankSamples.h"
#include "RowLayout.h"
#include "workgroup/Transforms/Banks.h"

namespace mlir::workgroup {

/// The bytes of the pieces in which `access` is done in layout `layout`.
int64_t getPieceBytes(const BankAccess &access, int64_t elementBytes,
                      const RowLayout &layout);

/// The best layout of a buffer, and weighted wavefronts: of the buffer as it
/// is, in that layout, and of any that has no conflicts.
struct LayoutChoice {
  RowLayout layout;
  uint64_t before = 0, after = 0, least = 0;
  /// A better layout would have been larger than is allowed.
  bool isHindered = false;
};

/// The bytes that are set aside for `buffer` in layout `layout`, with those to
/// the next multiple of its alignment.
int64_t getLayoutBytes(const BankBuffer &buffer, const RowLayout &layout);

/// Chooses the layout of `buffer` for its accesses `samples`. It may have up to
/// `maxBytes` bytes; `swizzle` says whether wavefronts alone count.
LayoutChoice chooseLayout(const BankBuffer &buffer,
                          ArrayRef<SampledAccess> samples, int64_t maxBytes,
                          Swizzle swizzle);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_BANKS_BANKLAYOUTS_H
