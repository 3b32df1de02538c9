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

#include "ChainStream.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Makes the loop, `columns` at a time, in place of the second contraction.
LogicalResult streamChain(RewriterBase &rewriter, const ContractionChain &chain,
                          const ChainStream &stream, int64_t columns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_STREAMLOOP_H
