//===- FloatConstants.h - Floats as newer LLVM IR has them ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From version 23 on, LLVM prints floats that have no short decimal form as the
// bits of their type, `f0x3FB8AA3B`. Version 22 reads those of f32 as the bits
// of an f64, and of 16 bits with a letter. It also refuses decimals that have
// to be rounded, `float 1.000000e-03`, which later versions print.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_FLOATCONSTANTS_H
#define WORKGROUP_LIB_COMPILER_FLOATCONSTANTS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::workgroup {

/// `text`, of LLVM IR, with such floats as this LLVM reads them.
std::string respellFloats(llvm::StringRef text);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_FLOATCONSTANTS_H
