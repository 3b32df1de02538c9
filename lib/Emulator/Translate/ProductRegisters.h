//===- ProductRegisters.h - Registers of asynchronous products -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of a warpgroup works on registers while its thread goes on. In LLVM
// IR they are values, which flow through merges and aggregates without an
// instruction of the machine. Whatever else reads a value that a product made,
// or makes one that a product gets, touches its registers; the runtime is told.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_PRODUCTREGISTERS_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_PRODUCTREGISTERS_H

#include "EmissionContext.h"

namespace mlir::workgroup::emulator {

/// Numbers the products of the kernel, and tells the runtime of all that
/// touches their registers, before anything is rewritten.
void watchProductRegisters(EmissionContext &context);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_PRODUCTREGISTERS_H
