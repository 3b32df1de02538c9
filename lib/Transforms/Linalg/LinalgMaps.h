//===- LinalgMaps.h - How operations index what they access -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Index maps of linalg operations that tiling cannot slice are rewritten. An
// operand that is read by quotients, remainders, or in falling order is looked
// up in the body (`tensor.extract`) instead; a window of one element is no
// window. Of results, see `ResultPlaces.h`.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_LINALGMAPS_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_LINALGMAPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::workgroup {

/// The loops of `op` as places are made of them: those of one iteration are 0.
SmallVector<AffineExpr> getIterations(linalg::LinalgOp op);

/// The number of iterations of `loop` of `op`, by an operand dimension that it
/// alone goes through; nothing if there is none.
std::optional<OpFoldResult> findExtent(RewriterBase &rewriter,
                                       linalg::GenericOp op, unsigned loop);

/// Where a sum of loops, on tensors, is one of them but for loops of one
/// iteration, reads the part of the input that this goes through: a window of
/// one element, or one that moves nowhere, is no window then.
void cutWindows(RewriterBase &rewriter, linalg::GenericOp op);

/// Lets the body look up what `op`, on tensors, reads by quotients, remainders,
/// or in falling order: a tile of its loops reads no slice of that.
void lookUpOddInputs(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_LINALGMAPS_H
