//===- StreamLoop.h - A loop over columns of a chain ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over the columns of the first of two contractions makes some of them,
// what is between the contractions, and their products in the second one:
//
//   for j:
//     s = q k[j];  m' = max(m, max(s));  p = exp(s - m');  f = exp(m - m')
//     l' = f l + sum(p);  acc' = f acc + p v[j]
//   result = acc / l
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMLOOP_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMLOOP_H

#include "StreamEnd.h"
#include "WeightPowers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Makes the loop, `columns` at a time, in place of the second contraction.
LogicalResult streamChain(RewriterBase &rewriter, const ContractionChain &chain,
                          const ChainStream &stream, int64_t columns);

/// What some of the columns come to, of rows that are there: each fold of the
/// stream, in its order; the largest elements from their own start, if they are
/// needed; what weights were computed by, if that is not the largest elements;
/// and the products.
struct StreamPart {
  SmallVector<Value> values;
  SmallVector<ChainDims> dims;
  /// If weights are powers of two.
  std::optional<WeightPowers> powers;
};

/// Makes the loop over the columns from `first`, a multiple of `columns`, to
/// `last`, before the second contraction, for a stream with weights.
FailureOr<StreamPart> streamPart(RewriterBase &rewriter,
                                 const ContractionChain &chain,
                                 const ChainStream &stream, int64_t columns,
                                 Value first, Value last);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMLOOP_H
