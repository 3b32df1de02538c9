//===- FilledCopies.h - Copies of what was just filled ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Promotion of a result copies to its tile what a fill has just put into the
// memory of the result, and copies the tile back in the end. The tile may as
// well be filled, and the memory need not be.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_FILLEDCOPIES_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_FILLEDCOPIES_H

#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/ArgumentAliases.h"

namespace mlir::workgroup {

/// Makes fills of copies in `scope` of what was filled, and erases fills of
/// which nobody sees anything.
void forwardFills(RewriterBase &rewriter, Operation *scope,
                  const ArgumentAliases &aliases);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_FILLEDCOPIES_H
