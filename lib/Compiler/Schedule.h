//===- Schedule.h - Applying transform dialect schedules --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is a module with `transform.named_sequence @__transform_main`,
// given apart from the program or in it. It is checked, applied by upstream's
// interpreter, and erased; afterwards it is reported what of the program is
// still work of the host.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_SCHEDULE_H
#define WORKGROUP_LIB_COMPILER_SCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::workgroup {

/// True if `module` carries a schedule: a named sequence `@__transform_main`.
bool hasSchedule(ModuleOp module);

/// Applies the `@__transform_main` of `schedule`, which may be `module` itself,
/// to `module`.
LogicalResult applySchedule(ModuleOp module, ModuleOp schedule);

/// True if `module` has kernels, or loops that become some, without a schedule.
bool hasKernels(ModuleOp module);

/// Reports structured operations outside of kernels by remarks, and if `warns`
/// by warnings.
void reportHostWork(ModuleOp module, bool warns);

/// True if `module` has something to schedule: operations of linalg, on
/// tensors, or copies, that are in no kernel.
bool hasWork(ModuleOp module);

/// True if `schedule` has a pass make functions of what becomes kernels.
bool formsKernels(ModuleOp schedule);

/// Takes the pipeline that does it out of `schedule`, which then is for a
/// program in whose module it has been done. False if there is none.
bool dropKernelFormation(ModuleOp schedule);

/// After such a schedule: fails if something structured in `module` is not part
/// of a kernel.
LogicalResult checkAllScheduled(ModuleOp module);

/// An error for each operation of `schedule` that looks for a function by name
/// where `module` has none of that name.
void reportUnknownFunctions(ModuleOp module, ModuleOp schedule);

/// Removes the schedules that `module` carries.
void eraseSchedules(ModuleOp module);

/// The program in `module`: the module itself, or the only thing in it if that
/// is a module, as where program and schedule stood side by side.
OwningOpRef<ModuleOp> unwrapProgram(OwningOpRef<ModuleOp> module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_SCHEDULE_H
