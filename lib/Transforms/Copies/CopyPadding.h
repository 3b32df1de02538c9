//===- CopyPadding.h - Copies that fill ragged tiles ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ragged tile is made by two operations: a fill with zeros, then a copy of
// the part that there is. Copies can pad by themselves, `cp.async` by its
// source size (PTX ISA: bytes beyond it are zeros), so that the fill is merged
// into the copy. A fill that the copy overwrites as a whole is dropped.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_COPYPADDING_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_COPYPADDING_H

#include "Copy.h"

namespace mlir::workgroup {

/// Erases fillings right before copies that overwrite all of them, and those
/// with zeros before copies that may be asynchronous, which fill what is ragged
/// of their tiles themselves. They leave `copies`.
void mergePadding(std::vector<Copy> &copies, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_COPYPADDING_H
