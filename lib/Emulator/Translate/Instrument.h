//===- Instrument.h - From kernels to watched coroutines ------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites a kernel so that a host thread can run it. What is known of the
// kernel is found out first (KernelFacts.h); then each instruction goes to the
// emitter that knows its kind.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_INSTRUMENT_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_INSTRUMENT_H

#include "EmissionContext.h"

namespace mlir::workgroup::emulator {

/// Rewrites a kernel into a function `ptr (ptr thread)`, which is returned;
/// null after an error.
///
/// Every access goes by a check, special registers are read from the thread's
/// state, and operations that wait become suspensions of a coroutine. What is
/// not understood is an error.
/// `forgetsValues` of the options tells then whether they were left out.
llvm::Function *instrument(PreparedKernel &kernel, InstrumentOptions &options,
                           KernelTables &tables,
                           std::vector<DiagnosticRecord> &errors);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_INSTRUMENT_H
