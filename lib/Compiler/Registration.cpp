//===- Registration.cpp - What programs may be made of --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registration.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Passes.h"
#include "workgroup/Transforms/ScheduleChecks.h"
#include <mutex>

namespace mlir::workgroup {

const DialectRegistry &getRegistry() {
  static const DialectRegistry *registry = [] {
    auto *all = new DialectRegistry();
    registerUpstreamDialects(*all);
    registerUpstreamInterfaces(*all);
    registerUpstreamExtensions(*all);
    all->insert<WorkgroupDialect>();
    registerScheduleChecks(*all);
    return all;
  }();
  return *registry;
}

void registerPassesOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerUpstreamPasses(); // schedules may name any of them
    registerAll();
  });
}

} // namespace mlir::workgroup
