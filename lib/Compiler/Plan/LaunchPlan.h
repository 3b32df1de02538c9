//===- LaunchPlan.h - What the host does, as data ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host functions of a program as a document that any language can read: in
// which order kernels are launched, with which buffers and sizes, and how long
// buffers live. docs/launch-plan.md has the schema.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_LAUNCHPLAN_H
#define WORKGROUP_LIB_COMPILER_PLAN_LAUNCHPLAN_H

#include "Requirements.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

/// The plan of a module. Launches name kernels by their number among all
/// launches of the host, as lowering may rename kernels.
class LaunchPlan {
public:
  /// Takes the plan from the outlined `module`; its functions have these
  /// requirements.
  LaunchPlan(ModuleOp module, const RequirementsOf &requirements);

  /// Gives the kernels the names that they have in `module` by now.
  void nameKernels(ModuleOp module);

  /// The document, which takes the constants along: they may be large.
  std::string print(StringRef chip) &&;

private:
  llvm::json::Array kernels, functions, data;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_LAUNCHPLAN_H
