//===- InstructionFacts.h - What one instruction does --------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Questions about one instruction that can be asked of it alone: what it is
// called and accesses, whether it is a fence, and what it orders for whom.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_INSTRUCTIONFACTS_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_INSTRUCTIONFACTS_H

#include "Emulator/State/Tables.h"
#include "LLVMNames.h"

namespace mlir::workgroup::emulator {

/// The name of an intrinsic, or the text of inline assembly.
llvm::StringRef getCalledName(const llvm::Instruction &instruction);

/// The pointer operand and the type of what a load, a store or an atomic
/// operation accesses; no type if it is none of them.
std::pair<unsigned, Type *> getAccess(const llvm::Instruction &access);

/// What an atomic operation, or a volatile access, orders.
AtomicOrder getAtomicOrder(const llvm::Instruction &instruction,
                           const DataLayout &layout);

/// True for an instruction of LLVM or of PTX that is nothing but a fence.
bool isFence(const llvm::Instruction &instruction);

/// The scope of an operation or a fence.
Scope getScope(const llvm::Instruction &instruction);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_INSTRUCTIONFACTS_H
