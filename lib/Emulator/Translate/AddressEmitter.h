//===- AddressEmitter.h - Addresses that were checked --------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the check of an access before it: generated code finds out by itself
// what it can, and asks the runtime for the rest. What comes out is the address
// of the host to use.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_ADDRESSEMITTER_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_ADDRESSEMITTER_H

#include "EmissionContext.h"

namespace mlir::workgroup::emulator {

class AddressEmitter {
public:
  explicit AddressEmitter(EmissionContext &context) : context(context) {}

  /// Adds the site of an access by an operand that is a pointer.
  uint32_t addAccess(llvm::Instruction &at, unsigned pointerOperand,
                     AccessKind kind, uint64_t bytes, llvm::Align align);
  /// Adds the access of a bulk copy, or of an operation on an mbarrier, to
  /// workgroup memory, whatever kind of address it has.
  uint32_t addSharedAccess(llvm::Instruction &at, unsigned pointerOperand,
                           AccessKind kind, uint64_t bytes);

  /// Emits the check of an access; returns the address to use instead.
  Value *getHostAddress(llvm::Instruction &at, unsigned pointerOperand,
                        uint32_t site);

private:
  Value *getSharedAddress(llvm::IRBuilder<> &builder, Value *pointer,
                          uint32_t site);
  Value *getOtherAddress(llvm::IRBuilder<> &builder, Value *pointer,
                         const Provenance &provenance, uint32_t site);
  Value *checkArgument(llvm::IRBuilder<> &builder, Value *address,
                       uint64_t argument, Value *host, uint32_t site);
  Value *checkBounds(llvm::IRBuilder<> &builder, Value *address, Value *base,
                     Value *size, Value *host, uint32_t site);
  Value *readSaturated(llvm::IRBuilder<> &builder, Value *offset,
                       uint32_t site);
  Value *checkElsewhere(llvm::IRBuilder<> &builder, Value *address,
                        const Provenance &provenance, Value *host,
                        uint32_t site);
  bool isStaticShared(const Site &site) const {
    return site.object && site.object != context.tables.dynamicObject;
  }
  uint64_t getObjectBytes(const Site &site) const {
    return context.tables.objects[site.object].bytes;
  }

  EmissionContext &context;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_ADDRESSEMITTER_H
