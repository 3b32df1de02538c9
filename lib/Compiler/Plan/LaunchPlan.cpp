//===- LaunchPlan.cpp - What the host does, as data -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchPlan.h"
#include "PlanWriter.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Target/LaunchLimits.h"

namespace mlir::workgroup {

using llvm::json::Array;
using llvm::json::Object;

static constexpr int64_t kMajorVersion = 2, kMinorVersion = 2;

static void visitFunctions(ModuleOp module,
                           function_ref<void(func::FuncOp)> visit) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration() && !isDeviceFunction(function))
      visit(function);
}

LaunchPlan::LaunchPlan(ModuleOp module, const RequirementsOf &requirements) {
  DenseMap<StringAttr, int64_t> dataOf;
  unsigned numLaunches = 0;
  DenseSet<Operation *> recursive = findRecursiveFunctions(module);
  visitFunctions(module, [&](func::FuncOp function) {
    Object record =
        PlanWriter(data, dataOf, recursive, numLaunches).write(function);
    record["require"] =
        describeRequirements(function, requirements.lookup(function.getName()));
    functions.push_back(std::move(record));
  });
  nameKernels(module);
}

void LaunchPlan::nameKernels(ModuleOp module) {
  kernels = Array();
  visitFunctions(module, [&](func::FuncOp function) {
    function.walk<WalkOrder::PreOrder>([&](gpu::LaunchFuncOp launch) {
      kernels.push_back(launch.getKernelName().getValue());
    });
  });
}

/// What GPUs take of a launch, for callers who have no table of it.
static Object describeLimits() {
  return Object{{"grid", Array(kMaxGridSizes)},
                {"block", Array(kMaxBlockSizes)},
                {"block_threads", kMaxBlockThreads},
                {"cluster_blocks", kMaxClusterBlocks}};
}

std::string LaunchPlan::print(StringRef chip) && {
  Object plan{{"format", "pipeline-plan"},
              {"version", Array{kMajorVersion, kMinorVersion}},
              {"features", Array()},
              {"target", Object{{"chip", chip}, {"limits", describeLimits()}}},
              {"kernels", std::move(kernels)},
              {"data", std::move(data)},
              {"functions", std::move(functions)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(plan));
  return text;
}

} // namespace mlir::workgroup
