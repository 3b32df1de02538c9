//===- SameProgram.h - Whether two programs are the same --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was found out of a copy of a program holds for the program as long as
// both are the same.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_SAMEPROGRAM_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_SAMEPROGRAM_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// True if two operations, with all that is in them, are the same: names,
/// attributes, types, locations, and what each operation uses. Constants may
/// stand in different places; what uses them uses the same ones.
bool areSamePrograms(Operation *lhs, Operation *rhs);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_SAMEPROGRAM_H
