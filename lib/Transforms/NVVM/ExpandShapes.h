//===- ExpandShapes.h - Views of several dynamic extents --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream lowers a `memref.expand_shape` with one dynamic extent per group.
// With several, the strides follow from the extents that the operation states:
// the innermost dimension of a group has the stride of the source, each other
// one steps over those within it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_EXPANDSHAPES_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_EXPANDSHAPES_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Takes offsets, sizes and strides of the views in `scopes` into arithmetic,
/// by the patterns of upstream's `expand-strided-metadata`, which looks at all
/// operations and simplifies all regions for that; but for a
/// `memref.expand_shape` that makes several dynamic dimensions of one, which
/// becomes a `memref.reinterpret_cast` here.
LogicalResult expandViews(ArrayRef<Operation *> scopes);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_EXPANDSHAPES_H
