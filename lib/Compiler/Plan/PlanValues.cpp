//===- PlanValues.cpp - Values as a plan names them -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanValues.h"
#include "Compiler/Records/Records.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace mlir::workgroup {

using llvm::json::Array;
using llvm::json::Object;

Array getLocation(Operation *op) {
  SourceLocation location = getSourceLocation(op->getLoc());
  return Array{location.file, location.line, location.column};
}

bool PlanValues::refuse(Operation *op, const Twine &reason) {
  if (refusal.empty())
    refusal = Object{{"reason", reason.str()}, {"loc", getLocation(op)}};
  return false;
}

int64_t PlanValues::number(Value value) {
  return numberOf.try_emplace(value, numberOf.size()).first->second;
}

std::optional<llvm::json::Value> getConstant(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerAttr>(constant);
      integer && integer.getValue().getSignificantBits() <= 64)
    return value.getType().isInteger(1)
               ? static_cast<int64_t>(integer.getValue().getZExtValue())
               : integer.getValue().getSExtValue();
  auto real = dyn_cast<FloatAttr>(constant);
  if (!real || value.getType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  uint64_t bits = real.getValue().bitcastToAPInt().getZExtValue();
  return Array{"bits", printType(value.getType()), bits};
}

/// A constant or, for any other value, `%n`.
llvm::json::Value PlanValues::operand(Value value) {
  if (std::optional<llvm::json::Value> constant = getConstant(value))
    return *constant;
  return "%" + std::to_string(number(value));
}

static bool isToken(Value value) {
  return isa<gpu::AsyncTokenType>(value.getType());
}

Array PlanValues::operands(ValueRange values) {
  Array array;
  for (Value value : values)
    if (!isToken(value))
      array.push_back(operand(value));
  return array;
}

Array PlanValues::mixed(ArrayRef<OpFoldResult> values) {
  Array array;
  for (OpFoldResult value : values) {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      array.push_back(*constant);
    else
      array.push_back(operand(cast<Value>(value)));
  }
  return array;
}

Array PlanValues::numbers(ValueRange values) {
  Array array;
  for (Value value : values)
    if (!isToken(value))
      array.push_back(number(value));
  return array;
}

Object PlanValues::makeStep(Operation *op) {
  return Object{{"op", op->getName().getStringRef()},
                {"results", numbers(op->getResults())},
                {"loc", getLocation(op)}};
}

} // namespace mlir::workgroup
