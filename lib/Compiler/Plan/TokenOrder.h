//===- TokenOrder.h - Asynchronous operations in one order ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan executes one step after the other. That is right for operations with
// tokens if each order that the tokens allow has the same outcome: if of two
// operations of which one writes what the other touches, the one depends on the
// token of the other, or the host waits for it in between. Views are of the
// memory that they are made of, allocations, arguments and globals of memory of
// their own; what a kernel reads by a tensor map is not looked at.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_TOKENORDER_H
#define WORKGROUP_LIB_COMPILER_PLAN_TOKENORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::workgroup {

/// An asynchronous operation and one behind it that touch the same memory, in
/// an order that nothing says.
struct TokenConflict {
  Operation *first, *second;
};

/// The first such pair in `function`.
std::optional<TokenConflict> findTokenConflict(func::FuncOp function);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_TOKENORDER_H
