//===- Registration.cpp - What programs may be made of --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registration.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Passes.h"
#include "workgroup/ScheduleChecks.h"
#include <mutex>

namespace mlir::workgroup {

const DialectRegistry &getRegistry() {
  static const DialectRegistry *registry = [] {
    auto *all = new DialectRegistry();
    registerAllDialects(*all);
    all->insert<WorkgroupDialect>();
    registerAllExtensions(*all);
    registerScheduleChecks(*all);
    registerAllToLLVMIRTranslations(*all);
    return all;
  }();
  return *registry;
}

void registerPassesOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerAllPasses(); // schedules may name any of them
    registerAll();
  });
}

} // namespace mlir::workgroup
