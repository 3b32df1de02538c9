//===- PlanExpressions.h - Affine expressions as data -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How plans write affine expressions down: in requirements, and in steps.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_PLANEXPRESSIONS_H
#define WORKGROUP_LIB_COMPILER_PLAN_PLANEXPRESSIONS_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

/// An expression as `["+", lhs, rhs]`, `["d", number]`, `["s", number]` or an
/// integer.
llvm::json::Value describeExpression(AffineExpr expr);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_PLANEXPRESSIONS_H
