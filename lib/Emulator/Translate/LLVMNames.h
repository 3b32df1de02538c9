//===- LLVMNames.h - Names of LLVM's IR ----------------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of the emulator are LLVM's IR. MLIR, in whose namespace this is,
// has other things by the same names.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_LLVMNAMES_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_LLVMNAMES_H

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace mlir::workgroup::emulator {

using llvm::Attribute;
using llvm::DataLayout;
using llvm::FunctionType;
using llvm::IntegerType;
using llvm::Type;
using llvm::Value;

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_LLVMNAMES_H
