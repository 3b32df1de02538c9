//===- Warp.h - The lanes that execute together -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes that generated code and the runtime agree on: the lanes of a warp, and
// the registers by which a lane hands operands to an operation of the warp and
// takes its results.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_ISA_WARP_H
#define WORKGROUP_LIB_EMULATOR_ISA_WARP_H

namespace mlir::workgroup::emulator {

/// The lanes of a warp.
constexpr unsigned kWarpSize = 32;

/// The 32-bit registers that a lane has for the operands, and then the results,
/// of one operation of a warp.
constexpr unsigned kRegisters = 144;

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_ISA_WARP_H
