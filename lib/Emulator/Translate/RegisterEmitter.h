//===- RegisterEmitter.h - What a thread asks about itself ---- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites reads of special registers, and queries of which memory an address
// is in: loads from the thread's state, and what follows from them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_REGISTEREMITTER_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_REGISTEREMITTER_H

#include "EmissionContext.h"
#include "llvm/IR/IntrinsicInst.h"

namespace mlir::workgroup::emulator {

/// Each function is false if the intrinsic `name` is none of its kind, or an
/// error was added.
class RegisterEmitter {
public:
  explicit RegisterEmitter(EmissionContext &context) : context(context) {}

  bool emitRegister(llvm::IntrinsicInst &call, llvm::StringRef name);
  /// `isspacep`: from where an address is made it is known what it points to,
  /// or else whether that is in the window of workgroup memory.
  bool emitSpaceQuery(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool emitClusterQuery(llvm::IntrinsicInst &call, llvm::StringRef name);

private:
  Value *getThreadRegister(llvm::IRBuilder<> &builder, llvm::StringRef name);
  Value *getBlockRegister(llvm::IRBuilder<> &builder, llvm::StringRef name);
  Value *getOtherRegister(llvm::IRBuilder<> &builder, llvm::StringRef name);
  Value *getDistance(llvm::IRBuilder<> &builder, Value *pointer);
  void emitMap(llvm::IntrinsicInst &call);
  Value *readBlock(llvm::IRBuilder<> &builder, uint64_t offset);

  EmissionContext &context;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_REGISTEREMITTER_H
