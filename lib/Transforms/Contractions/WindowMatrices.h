//===- WindowMatrices.h - Operands that divided indices find ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The matrix of all windows of an image (im2col), made by an operation on
// tensors, has rows and columns that are divided into the indices of the image.
// Slices for tiles of such an operation are no rectangles, and MLIR 22 takes
// wrong ones. An operation that looks up elements in its body has no slices.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_WINDOWMATRICES_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_WINDOWMATRICES_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Lets operations on tensors in `root` that read an operand by divided indices
/// look up its elements instead.
void lookUpDivided(Operation *root, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_WINDOWMATRICES_H
