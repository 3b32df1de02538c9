//===- TensorGenerics.h - Operations on tensors as generics -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What makes a tensor element by element is a generic over the elements, whose
// body looks up what it needs. So it is tiled, fused and bufferized as every
// other one: MLIR's own tiling of `tensor.pad` makes a branch around each tile,
// with allocations of unknown size in it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_TENSORGENERICS_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_TENSORGENERICS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Patterns that make a `linalg.generic` of `tensor.pad`, `tensor.generate`,
/// `tensor.splat` and `tensor.gather`, arithmetic of `tensor.bitcast`, and of
/// `tensor.reshape` what tells its sizes: `tensor.collapse_shape` and
/// `tensor.expand_shape`.
void populateTensorGenericPatterns(RewritePatternSet &patterns);

/// Makes strides of slices 1 where these have one element.
void populateSliceStridePatterns(RewritePatternSet &patterns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_TENSORGENERICS_H
