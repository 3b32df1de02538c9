//===- ExpandAffine.h - Affine maps as arithmetic ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's `lower-affine` looks at all operations of a kernel, and folds
// those that it does not know. Most kernels have nothing for it but indices
// that a map is applied to.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_EXPANDAFFINE_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_EXPANDAFFINE_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::workgroup {

/// Makes arithmetic of the affine maps that are applied in `scopes`, and of
/// minima and maxima of their results.
void expandAffineMaps(ArrayRef<Operation *> scopes, RewriterBase &rewriter);

/// Lowers what else is of the affine dialect in functions of kernels inside
/// `root`. Upstream's lowering is a pass: `run` runs passes on an operation, as
/// `Pass::runPipeline` does.
LogicalResult
lowerAffineOps(Operation *root,
               function_ref<LogicalResult(OpPassManager &, Operation *)> run);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_EXPANDAFFINE_H
