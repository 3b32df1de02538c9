//===- LowerGroupProducts.h - Products of warp groups -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of tiles in workgroup memory by warp groups, to instructions of
// sm_90a.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_LOWERGROUPPRODUCTS_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_LOWERGROUPPRODUCTS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// `workgroup.group_product` becomes `nvvm.wgmma.mma_async`, one for each 32
/// bytes of the sum, between a fence and a wait.
void populateGroupProductPatterns(RewritePatternSet &patterns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_LOWERGROUPPRODUCTS_H
