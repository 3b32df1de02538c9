//===- CopyPadding.h - Copies that fill ragged tiles ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
