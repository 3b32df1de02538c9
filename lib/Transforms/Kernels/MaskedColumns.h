//===- MaskedColumns.h - Columns that a mask hides --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask by indices (causal attention, a sliding window) makes scores minus
// infinity, the weight of which is zero. Which columns it leaves to some rows
// is a linear question:
//
//   score = select(column > row, -inf, product)   =>   column <= last row
//
// Weights of zero add nothing to sums of finite numbers.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_MASKEDCOLUMNS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_MASKEDCOLUMNS_H

#include "ChainStream.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// The columns from `first` to `last`.
struct ColumnRange {
  Value first, last;
};

/// The part of `all` outside of which a mask makes the scores of all rows of
/// `stream` minus infinity, from a multiple of `columns`, as `all` is. Nothing
/// if there is no such mask, or if others than weights, and the largest
/// elements, are computed from scores.
std::optional<ColumnRange> findUnmasked(RewriterBase &rewriter,
                                        const ChainStream &stream,
                                        int64_t columns, ColumnRange all);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_MASKEDCOLUMNS_H
