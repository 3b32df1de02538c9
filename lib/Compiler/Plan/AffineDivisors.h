//===- AffineDivisors.h - What expressions divide by ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An affine expression of a plan may divide by another one (`floordiv`,
// `ceildiv`, `mod`), which may be zero in some call. Guards and extents have to
// know all divisors of an expression.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_AFFINEDIVISORS_H
#define WORKGROUP_LIB_COMPILER_PLAN_AFFINEDIVISORS_H

#include "mlir/IR/AffineExpr.h"

namespace mlir::workgroup {

/// Calls `body` with each expression that a part of `expr` divides by.
inline void walkDivisors(AffineExpr expr,
                         llvm::function_ref<void(AffineExpr)> body) {
  expr.walk([&](AffineExpr part) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (binary && part.getKind() != AffineExprKind::Add &&
        part.getKind() != AffineExprKind::Mul)
      body(binary.getRHS());
  });
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_AFFINEDIVISORS_H
