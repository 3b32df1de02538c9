//===- TensorClipping.h - Tiles that end with their tensor ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA writes zeros for what a box has outside of the tensor. A copy that fills
// a tile from a smaller view, with zeros for the rest, is the same only if the
// view ends where the tensor does.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORCLIPPING_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORCLIPPING_H

#include "TensorCopies.h"

namespace mlir::workgroup {

/// Why the elements of the tile of `copy` that its source has not may be in the
/// tensor; empty if they are not.
std::string getClippingObstacle(const TensorCopy &copy);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORCLIPPING_H
