//===- BankRewriter.h - Give a buffer another layout ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rewriter applies a chosen layout to a buffer. Each access is first
// resolved through its views to indices into the buffer itself; the column then
// becomes the swizzled one. An access that is wider than a chunk becomes
// several, and alignments that operations promise shrink to what the new layout
// keeps.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_BANKS_BANKREWRITER_H
#define WORKGROUP_LIB_TRANSFORMS_BANKS_BANKREWRITER_H

#include "BankLayouts.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Gives `buffer` the layout `layout`: its type, and every access to it. `root`
/// is the operation that its pass runs on.
void applyLayout(RewriterBase &rewriter, BankBuffer &buffer,
                 const RowLayout &layout, Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_BANKS_BANKREWRITER_H
