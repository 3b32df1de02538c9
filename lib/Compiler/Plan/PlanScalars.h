//===- PlanScalars.h - Numbers that the host computes -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps of a plan that compute numbers: an operation of `arith` or `math` on
// scalars, or an affine map.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_PLANSCALARS_H
#define WORKGROUP_LIB_COMPILER_PLAN_PLANSCALARS_H

#include "PlanValues.h"

namespace mlir::workgroup {

/// Writes `op` as a step that computes numbers. Refuses what the reader of a
/// plan does not know; false then.
bool writeScalar(Operation *op, PlanValues &values, llvm::json::Array &steps);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_PLANSCALARS_H
