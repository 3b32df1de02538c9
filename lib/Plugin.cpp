//===- Plugin.cpp - Entry points of the plugin ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `mlir-opt --load-pass-plugin --load-dialect-plugin` looks up two functions by
// name: one registers the passes and pipelines, the other one the dialect. Both
// may be called, in either order.
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Passes.h"
#include "workgroup/Pipelines.h"
#include "workgroup/Transforms/ScheduleChecks.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Debug.h"
#include <cstdlib>
#include <mutex>

using namespace mlir;

/// A release `mlir-opt` has no `-debug-only`; a debug build of this plugin
/// reads the debug type from the environment instead.
static void enableDebugOutput() {
#ifndef NDEBUG
  if (const char *type = std::getenv("WORKGROUP_DEBUG_ONLY")) {
    llvm::DebugFlag = true;
    llvm::setCurrentDebugType(type);
  }
#endif
}

void workgroup::registerAll() {
  static std::once_flag once;
  std::call_once(once, [] {
    enableDebugOutput();
    registerWorkgroupPasses();
    registerPipelines();
  });
}

static void registerDialect(DialectRegistry *registry) {
  registry->insert<workgroup::WorkgroupDialect>();
  workgroup::registerScheduleChecks(*registry);
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "mlir-workgroup", LLVM_VERSION_STRING,
          workgroup::registerAll};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "mlir-workgroup", LLVM_VERSION_STRING,
          registerDialect};
}
