//===- Schedule.h - Applying transform dialect schedules --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler asks of a schedule beside applying it
// (Pipelines/CarriedSchedule.h): whether it makes kernels, and what of the
// program is still work of the host afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_SCHEDULE_H
#define WORKGROUP_LIB_COMPILER_SCHEDULE_H

#include "Pipelines/CarriedSchedule.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::workgroup {

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

/// The program in `module`: the module itself, or the only thing in it if that
/// is a module, as where program and schedule stood side by side.
OwningOpRef<ModuleOp> unwrapProgram(OwningOpRef<ModuleOp> module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_SCHEDULE_H
