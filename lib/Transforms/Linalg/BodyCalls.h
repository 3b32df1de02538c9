//===- BodyCalls.h - Calls in bodies ----------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a structured operation is computed in a kernel, for each element:
// what it calls has to stand in it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_BODYCALLS_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_BODYCALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::workgroup {

/// Puts functions that are called in bodies of structured operations of the
/// host into these bodies, and leaves out those that nothing else calls. Says
/// so where that cannot be: a function calls itself, or is defined elsewhere.
LogicalResult inlineBodyCalls(ModuleOp module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_BODYCALLS_H
