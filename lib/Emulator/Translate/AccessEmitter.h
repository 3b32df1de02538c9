//===- AccessEmitter.h - Accesses go by a check --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites what touches or orders memory by itself: loads, stores, atomic
// operations, memory intrinsics, fences, and casts between memories.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_ACCESSEMITTER_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_ACCESSEMITTER_H

#include "AddressEmitter.h"
#include "llvm/IR/IntrinsicInst.h"

namespace mlir::workgroup::emulator {

class AccessEmitter {
public:
  AccessEmitter(EmissionContext &context, AddressEmitter &addresses)
      : context(context), addresses(addresses) {}

  void emitLoad(llvm::LoadInst &load);
  void emitStore(llvm::StoreInst &store);
  void emitAtomic(llvm::Instruction &atomic, AccessKind kind);
  /// Emits a fence before `at`.
  void emitFence(llvm::Instruction &at, Scope scope);
  void emitMemory(llvm::MemIntrinsic &memory);
  void emitCast(llvm::AddrSpaceCastInst &cast);

private:
  EmissionContext &context;
  AddressEmitter &addresses;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_ACCESSEMITTER_H
