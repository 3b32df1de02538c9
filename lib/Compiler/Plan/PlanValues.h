//===- PlanValues.h - Values as a plan names them ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan numbers the values of a function, and writes an operand as a constant
// or as the number of a value. Here is also why a function has no plan, if it
// has none: the first operation that was refused.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_PLANVALUES_H
#define WORKGROUP_LIB_COMPILER_PLAN_PLANVALUES_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

/// An integer, or `["bits", type, integer]`; nothing if `value` is no constant
/// or one that has neither form.
std::optional<llvm::json::Value> getConstant(Value value);

/// The place in the source that `op` is from.
llvm::json::Array getLocation(Operation *op);

/// The values of one host function, but for tokens: they only tell an order,
/// which steps have.
class PlanValues {
public:
  using Object = llvm::json::Object;
  using Array = llvm::json::Array;

  int64_t number(Value value);
  llvm::json::Value operand(Value value);
  Array operands(ValueRange values);
  Array mixed(ArrayRef<OpFoldResult> values);
  Array numbers(ValueRange values);
  /// What all steps say of their operation.
  Object makeStep(Operation *op);

  /// Keeps the first reason why a plan cannot express the function. Returns
  /// false.
  bool refuse(Operation *op, const Twine &reason);
  bool isRefused() const { return !refusal.empty(); }
  Object takeRefusal() { return std::move(refusal); }

private:
  DenseMap<Value, int64_t> numberOf;
  Object refusal;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_PLANVALUES_H
