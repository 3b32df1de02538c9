//===- CrashGuard.cpp - Calls that may crash ------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CrashGuard.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace mlir::workgroup {

/// The variable that receives the reason which LLVM gives for giving up on this
/// thread.
static thread_local std::optional<std::string> *fatalReason = nullptr;

static void onFatalError(void *, const char *reason, bool) {
  if (fatalReason)
    *fatalReason = reason;
  abort(); // which the crash recovery catches
}

namespace {
/// A stack for the signal handlers of this thread, whose own may be used up.
class SignalStack {
public:
  SignalStack() : memory(new char[kBytes]) {
    stack_t stack = {};
    stack.ss_sp = memory.get();
    stack.ss_size = kBytes;
    sigaltstack(&stack, &previous);
  }
  ~SignalStack() { sigaltstack(&previous, nullptr); }

  /// Makes the handlers that are installed run on such a stack.
  static void useForCrashes() {
    for (int signal : {SIGSEGV, SIGBUS}) {
      struct sigaction action;
      sigaction(signal, nullptr, &action);
      action.sa_flags |= SA_ONSTACK;
      sigaction(signal, &action, nullptr);
    }
  }

private:
  static constexpr size_t kBytes = 64 << 10;

  std::unique_ptr<char[]> memory;
  /// The stack of a call around this one.
  stack_t previous = {};
};
} // namespace

static void installHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::CrashRecoveryContext::Enable();
    SignalStack::useForCrashes();
    llvm::install_fatal_error_handler(onFatalError);
  });
}

CrashReport runGuarded(llvm::function_ref<void()> body, unsigned stackBytes) {
  installHandlers();
  CrashReport report;
  llvm::CrashRecoveryContext recovery;
  report.hasReturned = recovery.RunSafelyOnThread(
      [&] {
        SignalStack stack;
        fatalReason = &report.reason;
        body();
      },
      stackBytes);
  return report;
}

CrashReport runGuardedHere(llvm::function_ref<void()> body) {
  installHandlers();
  SignalStack stack;
  CrashReport report;
  llvm::CrashRecoveryContext recovery;
  std::optional<std::string> *outer = fatalReason;
  fatalReason = &report.reason;
  report.hasReturned = recovery.RunSafely(body);
  fatalReason = outer;
  return report;
}

} // namespace mlir::workgroup
