//===- MemorySpaces.h - Memories that a kernel may access ----- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Address spaces of PTX, and what no kernel may access in them, whatever the
// address.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_MEMORYSPACES_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_MEMORYSPACES_H

#include "workgroup/Emulator/Emulator.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/NVPTXAddrSpace.h"

namespace mlir::workgroup::emulator {

constexpr unsigned kSharedSpace = llvm::NVPTXAS::ADDRESS_SPACE_SHARED;
constexpr unsigned kClusterSpace = llvm::NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER;

inline unsigned getSpace(const llvm::Value &pointer) {
  return pointer.getType()->getPointerAddressSpace();
}

/// Why no kernel may access memory of the space that `operand` of `instruction`
/// points to, whatever the address; empty if it may.
std::string findSpaceFault(const llvm::Instruction &instruction,
                           const llvm::Use &operand);

/// Adds errors for all accesses in `function` of which `findFault` says why
/// they cannot be. Returns true if there are none.
bool checkAccesses(const llvm::Function &function,
                   llvm::function_ref<std::string(const llvm::Instruction &,
                                                  const llvm::Use &)>
                       findFault,
                   std::vector<DiagnosticRecord> &errors);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_MEMORYSPACES_H
