//===- DeviceSteps.h - What the host does by operations of a GPU -*- C++
//-*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of the device is memory like any other to a plan, and what is
// asynchronous is done when its step is. What programs print is printed as
// upstream's runner does it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_DEVICESTEPS_H
#define WORKGROUP_LIB_COMPILER_PLAN_DEVICESTEPS_H

#include "PlanValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::workgroup {

/// Writes the step of `op`: a copy, a fill, or what has none as it waits or
/// registers memory. Returns false if a plan cannot express it.
bool writeDevice(Operation *op, PlanValues &values, llvm::json::Array &steps);

/// Writes what `op` prints, or the vector that it reads to be printed. Returns
/// false if a plan cannot express it.
bool writePrint(Operation *op, PlanValues &values, llvm::json::Array &steps);

/// True for a call of the function of upstream's runner that prints memory.
bool isPrintOfMemory(func::CallOp call);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_DEVICESTEPS_H
