//===- Printf.h - What kernels print -------------------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `printf` of the device: the host prints what a kernel hands to `vprintf`.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_PRINTF_H
#define WORKGROUP_LIB_EMULATOR_RUN_PRINTF_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>

namespace mlir::workgroup::emulator {

/// Appends to `output` what `vprintf` prints; `arguments` are laid out as in a
/// struct.
void print(std::string &output, const char *format,
           llvm::ArrayRef<uint8_t> arguments);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_PRINTF_H
