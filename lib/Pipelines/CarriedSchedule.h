//===- CarriedSchedule.h - Schedules that programs carry -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is a module with `transform.named_sequence @__transform_main`,
// given apart from the program or in it. It is checked, applied by upstream's
// interpreter, and erased.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_PIPELINES_CARRIEDSCHEDULE_H
#define WORKGROUP_LIB_PIPELINES_CARRIEDSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::workgroup {

/// True if `module` carries a schedule: a named sequence `@__transform_main`.
bool hasSchedule(ModuleOp module);

/// Applies the `@__transform_main` of `schedule`, which may be `module` itself,
/// to `module`.
LogicalResult applySchedule(ModuleOp module, ModuleOp schedule);

/// True if `module` has kernels, or loops that become some, without a schedule.
bool hasKernels(ModuleOp module);

/// Removes the schedules that `module` carries.
void eraseSchedules(ModuleOp module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_PIPELINES_CARRIEDSCHEDULE_H
