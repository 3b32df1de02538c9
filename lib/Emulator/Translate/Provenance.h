//===- Provenance.h - What pointers point to ------------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which memory an address is in, as far as it can be told from where it is
// made, for each operand of a kernel that is a pointer. It also lays out
// workgroup memory, whose addresses are offsets in a window.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_PROVENANCE_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_PROVENANCE_H

#include "Emulator/State/Tables.h"
#include "LLVMNames.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::workgroup::emulator {

/// What a pointer points into.
struct Provenance {
  enum class Kind { Unknown, Shared, Argument, Variable, Private };
  Kind kind = Kind::Unknown;
  /// The index of the object, if it is in a table.
  uint32_t object = 0;
  /// The allocation or variable.
  Value *base = nullptr;
  /// If it is not known: private buffers that it may be.
  llvm::SmallVector<llvm::AllocaInst *, 0> buffers = {};
};

/// The provenance of all pointers of a kernel.
class Provenances {
public:
  /// Looks at `function`, and adds the objects that it accesses to `tables`.
  Provenances(llvm::Function &function, KernelTables &tables);

  /// That of an operand; unknown, without private buffers, if it is none of
  /// those of the function when it was looked at.
  const Provenance &get(const llvm::Instruction &instruction,
                        unsigned operand) const;
  /// The object that a variable in workgroup memory is.
  uint32_t getSharedObject(const llvm::GlobalVariable &variable) const {
    return sharedObjects.lookup(&variable);
  }

  /// True if an operand may point to workgroup memory.
  bool mayBeShared(const llvm::Instruction &access, unsigned operand) const;
  /// True if an operand points to workgroup memory, which only the threads of a
  /// block can access.
  bool isOnlyShared(const llvm::Instruction &access, unsigned operand) const;

private:
  void layOutShared(const llvm::Module &module, KernelTables &tables);
  void addArguments(const llvm::Function &function, KernelTables &tables);
  void findEscapedBuffers(llvm::Function &function);
  Provenance trace(Value *pointer) const;

  llvm::DenseMap<const llvm::GlobalVariable *, uint32_t> sharedObjects;
  llvm::DenseMap<const llvm::Argument *, uint32_t> argumentObjects;
  /// Private buffers whose addresses cannot be followed.
  llvm::SmallVector<llvm::AllocaInst *, 0> escapedBuffers;
  llvm::DenseMap<std::pair<const llvm::Instruction *, unsigned>, Provenance>
      provenances;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_PROVENANCE_H
