//===- Requirements.h - Extents that have to agree --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations take for granted that extents agree: the sums of a matrix product
// have as many terms on both sides, a slice is inside of its tensor. While the
// program is on tensors, each such fact becomes a relation of two expressions
// in the extents of the arguments; the host checks them before it launches
// anything.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_REQUIREMENTS_H
#define WORKGROUP_LIB_COMPILER_PLAN_REQUIREMENTS_H

#include "ExtentExpressions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

/// A relation that has to hold for what a caller passes, because of the
/// operation at `loc`. Symbols of the expressions are those of the function.
struct Requirement {
  enum Relation { Equal, AtMost, AtLeast };

  AffineExpr left;
  Relation relation;
  AffineExpr right;
  Location loc;
  /// It counts only where all of these are above zero.
  SmallVector<AffineExpr> trips;
};

/// The requirements that the operations of a function have.
struct FunctionRequirements {
  SmallVector<ArgumentSymbol> symbols;
  std::vector<Requirement> requirements;
};

using RequirementsOf = llvm::StringMap<FunctionRequirements>;

/// The requirements of the operations of each function, which still has
/// tensors; by name.
RequirementsOf findRequirements(ModuleOp module);

/// Those that `function` still has arguments for, as a plan has them.
llvm::json::Array describeRequirements(func::FuncOp function,
                                       const FunctionRequirements &required);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_REQUIREMENTS_H
