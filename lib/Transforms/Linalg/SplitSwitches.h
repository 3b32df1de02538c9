//===- SplitSwitches.h - Branches of several ways ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launch plans have branches of two ways, `scf.if`: an `scf.index_switch` of
// the host becomes one in another.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_SPLITSWITCHES_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_SPLITSWITCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::workgroup {

/// Makes branches of two ways of those of several in `function`.
void splitSwitches(func::FuncOp function);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_SPLITSWITCHES_H
