//===- CopyPadding.h - Copies that fill ragged tiles ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPYPADDING_H
#define WORKGROUP_LIB_TRANSFORMS_COPYPADDING_H

#include "CopyEmitter.h"

namespace mlir::workgroup {

/// Lets copies that may be asynchronous fill what is ragged of their tiles
/// themselves, instead of fillings with zeros right before them, which are
/// erased and leave `copies`.
void mergePadding(std::vector<Copy> &copies, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPYPADDING_H
