//===- PlanExpressions.cpp - Affine expressions as data -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExpressions.h"

namespace mlir::workgroup {

using llvm::json::Array;

llvm::json::Value describeExpression(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Array{"d", static_cast<int64_t>(dim.getPosition())};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return Array{"s", static_cast<int64_t>(symbol.getPosition())};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  StringRef name;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    name = "+";
    break;
  case AffineExprKind::Mul:
    name = "*";
    break;
  case AffineExprKind::FloorDiv:
    name = "floordiv";
    break;
  case AffineExprKind::CeilDiv:
    name = "ceildiv";
    break;
  default:
    name = "mod";
  }
  return Array{name, describeExpression(binary.getLHS()),
               describeExpression(binary.getRHS())};
}

} // namespace mlir::workgroup
