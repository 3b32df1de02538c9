//===- AbsentTargets.cpp - Targets of LLVM that are not linked ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes such as `llvm-target-to-data-layout` initialize every target that LLVM
// was built with. The extension links NVPTX and the host's; what initializes
// the others is defined here and does nothing, so that a lookup of one of them
// finds no such target, as in an LLVM that was built without it.
//
//===----------------------------------------------------------------------===//

// NOLINTBEGIN(readability-identifier-naming)
#define LLVM_TARGET(NAME)                                                      \
  extern "C" void LLVMInitialize##NAME##TargetInfo() {}                        \
  extern "C" void LLVMInitialize##NAME##Target() {}                            \
  extern "C" void LLVMInitialize##NAME##TargetMC() {}                          \
  extern "C" void LLVMInitialize##NAME##AsmPrinter() {}                        \
  extern "C" void LLVMInitialize##NAME##AsmParser() {}
#include "AbsentTargets.def"
#undef LLVM_TARGET
// NOLINTEND(readability-identifier-naming)
