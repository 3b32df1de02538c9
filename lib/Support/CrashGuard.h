//===- CrashGuard.h - Calls that may crash -------------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of LLVM and MLIR abort on inputs that they do not expect. A guarded
// call runs on a thread of its own with handlers for fatal signals and for
// LLVM's fatal errors: a crash ends that thread, and the caller gets a report.
// Memory and locks that it held are lost.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_SUPPORT_CRASHGUARD_H
#define WORKGROUP_LIB_SUPPORT_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace mlir::workgroup {

/// The end of a guarded call.
struct CrashReport {
  bool hasReturned = true;
  /// After a crash, what LLVM said before it gave up, if it was LLVM.
  std::optional<std::string> reason;
};

/// Calls `body` on a thread of its own with a stack of `stackBytes`. A fatal
/// signal or error of LLVM in it ends the call, not the process; what it held
/// is leaked.
CrashReport runGuarded(llvm::function_ref<void()> body, unsigned stackBytes);

/// As above, on this thread, which has to be one of our own: it loses the stack
/// for signals that it may have.
CrashReport runGuardedHere(llvm::function_ref<void()> body);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_SUPPORT_CRASHGUARD_H
