//===- Coroutine.h - Loops that end and threads that wait ----- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last step: once all instructions are rewritten, the function becomes a
// coroutine that returns to the scheduler where its thread waits, and asks it
// whether loops may go on.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_COROUTINE_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_COROUTINE_H

#include "EmissionContext.h"

namespace mlir::workgroup::emulator {

/// Makes the function of `context` such a coroutine. Without suspensions it
/// stays a function.
void makeCoroutine(EmissionContext &context);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_COROUTINE_H
