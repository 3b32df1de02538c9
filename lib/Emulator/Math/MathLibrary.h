//===- MathLibrary.h - Host functions for the device's math -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What code for the device calls for its math, computed by the host. Results
// are those of the device wherever its documentation fixes them: directed
// rounding, saturation, conversions, integers. Where it only bounds an error,
// as for transcendental functions and all that is called approximate or fast,
// they are as accurate as the host's library. NaN is NaN, in the 32 and 64-bit
// formats with any sign and payload.
//
// The functions expect the host to round to nearest, and leave it so.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_MATH_MATHLIBRARY_H
#define WORKGROUP_LIB_EMULATOR_MATH_MATHLIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <utility>

namespace mlir::workgroup::emulator {

/// The host function that computes what the device function or intrinsic `name`
/// does, to be called with the same LLVM signature; null if it has none. Names
/// are those of libdevice, `__nv_*`, and of `llvm.nvvm.*` intrinsics on scalars
/// and pairs of 16-bit floats without memory effects. An intrinsic that is
/// overloaded goes by its full name, suffix included (`llvm.nvvm.fabs.f32`).
///
/// Pointers that libdevice takes are host pointers. No integer needs to be
/// extended to the width of a register by the caller. Half and bfloat travel as
/// LLVM passes them on x86-64 and AArch64: in the low 16 bits of a register for
/// float, a vector of two in its low 32 bits.
void *findMathFunction(llvm::StringRef name);

/// Functions that code for the host may call by itself, by the names it calls
/// them: what LLVM's own intrinsics on floats turn into, copies of memory,
/// conversions of half and bfloat for hosts without instructions for them, and
/// division of 128-bit integers.
llvm::ArrayRef<std::pair<const char *, void *>> getSupportFunctions();

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_MATH_MATHLIBRARY_H
