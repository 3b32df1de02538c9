//===- call.h - How calls of the driver begin ----------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every call of the driver begins with: the lock, the record, the failure
// that a test asked for, and what NVIDIA asks of the order of calls.
//
//===----------------------------------------------------------------------===//

#ifndef STAND_IN_CALL_H
#define STAND_IN_CALL_H

#include "state.h"

#include <chrono>
#include <cstring>
#include <thread>

#define API extern "C" __attribute__((visibility("default"))) int

namespace stand_in {

enum class Needs { Nothing, Initialization, Context };

class Call {
public:
  Call(const char *name, Needs needs)
      : name(name, strlen(name) - suffix(name)), needs(needs),
        guard(wait().lock) {}

  /// Append the call to the record, with what it was given.
  template <typename... Arguments>
  void record(const char *format, Arguments... arguments) {
    std::string text = name + format;
    note(text.c_str(), arguments...);
  }

  /// The failure that a test asked for, or that of a call out of order.
  int check() {
    State &s = state();
    if (s.failingIn > 0 && (s.failing == "*" || s.failing == name) &&
        --s.failingIn == 0)
      return s.failingCode;
    if (needs == Needs::Nothing)
      return Success;
    if (!s.isInitialized)
      return NotInitialized;
    if (s.fault)
      return s.fault;
    if (needs == Needs::Context && !currentContext())
      return InvalidContext;
    return Success;
  }

private:
  static size_t suffix(const char *name) {
    size_t length = strlen(name);
    return length > 3 && name[length - 3] == '_' && name[length - 2] == 'v' ? 3
                                                                            : 0;
  }
  static State &wait() {
    State &s = state();
    if (s.delay)
      std::this_thread::sleep_for(std::chrono::microseconds(s.delay));
    return s;
  }

  std::string name;
  Needs needs;
  std::lock_guard<std::recursive_mutex> guard;
};

} // namespace stand_in

/// Begin a call, and end it if it must fail.
#define BEGIN(needs, ...)                                                      \
  stand_in::Call call(__func__, stand_in::Needs::needs);                       \
  if (!stand_in::state().isQuiet)                                              \
    call.record(__VA_ARGS__);                                                  \
  if (int code = call.check())                                                 \
  return code

/// The stream of a handle, or the end of a call.
#define FIND_STREAM(name, handle)                                              \
  stand_in::Stream *name = stand_in::findStream(handle);                       \
  if (!name)                                                                   \
  return stand_in::InvalidHandle

#endif // STAND_IN_CALL_H
