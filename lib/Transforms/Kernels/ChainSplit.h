//===- ChainSplit.h - Columns of a chain that blocks share ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention of few rows and many columns has work for few blocks that take
// whole rows. So each block goes through a part of the columns, and what comes
// of these is put together behind all of them. The largest element m of each
// part, the sum l of its weights and that of its products, acc, are one
// associative reduction:
//
//   m = max_p m[p];  f[p] = exp(m[p] - m)
//   result = sum_p(f[p] acc[p]) / sum_p(f[p] l[p])
//
// Source: Dao et al., "Flash-Decoding for long-context inference" (2023).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINSPLIT_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINSPLIT_H

#include "ContractionChain.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Makes a loop over blocks that do a tile of the second contraction of `chain`
/// each, of `sizes` along its loops, `columns` of the tile at a time, and puts
/// together what these come to in place of that contraction; without columns
/// that a mask hides, if `skipsMasked`. Returns the loop.
FailureOr<scf::ForallOp> splitChain(RewriterBase &rewriter,
                                    const ContractionChain &chain,
                                    ArrayRef<int64_t> sizes, int64_t columns,
                                    bool skipsMasked);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINSPLIT_H
