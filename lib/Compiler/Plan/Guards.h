//===- Guards.h - What upstream would abort on ------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A release build of MLIR has no assertions: what they would find, its
// verifiers, folders and patterns go on with. `docs/verification.md` lists
// what is kept from them, here and elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_GUARDS_H
#define WORKGROUP_LIB_COMPILER_PLAN_GUARDS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::workgroup {

/// Verifies `module`, as it was parsed, and keeps from upstream what it would
/// abort on.
LogicalResult verifyParsed(ModuleOp module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_GUARDS_H
