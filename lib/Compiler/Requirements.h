//===- Requirements.h - Extents that have to agree --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_REQUIREMENTS_H
#define WORKGROUP_LIB_COMPILER_REQUIREMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

/// The extent of dimension `dim` of argument number `argument`.
struct ArgumentExtent {
  unsigned argument;
  int64_t dim;
};

/// `extent` has to be what `other` is, or `constant`, because of the operation
/// at `loc`.
struct Requirement {
  ArgumentExtent extent;
  std::optional<ArgumentExtent> other;
  int64_t constant;
  Location loc;
};

/// What the structured operations of each function, which still has them, take
/// for granted of the dynamic extents of its arguments; by name.
llvm::StringMap<std::vector<Requirement>> findRequirements(ModuleOp module);

/// Those that `function` still has arguments for, as a plan has them.
llvm::json::Array describeRequirements(func::FuncOp function,
                                       ArrayRef<Requirement> requirements);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_REQUIREMENTS_H
