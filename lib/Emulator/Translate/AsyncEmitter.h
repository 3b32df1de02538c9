//===- AsyncEmitter.h - Copies, and mbarriers ----------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites what goes on beside the thread: copies by `cp.async` and in bulk,
// the mbarriers that track them, and the fences between their proxy and the
// thread's own. The runtime does it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_ASYNCEMITTER_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_ASYNCEMITTER_H

#include "AddressEmitter.h"
#include "llvm/IR/IntrinsicInst.h"

namespace mlir::workgroup::emulator {

/// Each function is false if the intrinsic `name` is none of its kind, or an
/// error was added.
class AsyncEmitter {
public:
  AsyncEmitter(EmissionContext &context, AddressEmitter &addresses)
      : context(context), addresses(addresses) {}

  /// `cp.async` and its groups.
  bool emitThreadCopy(llvm::IntrinsicInst &call, llvm::StringRef name);
  /// Copies in bulk, and operations on mbarriers.
  bool emitIntrinsic(llvm::IntrinsicInst &call, llvm::StringRef name);
  /// The same for the text of inline assembly.
  bool emitAssembly(llvm::CallInst &call, llvm::StringRef text);

private:
  bool emitProxy(llvm::CallInst &call, llvm::StringRef name);
  void emit(llvm::CallInst &call, llvm::IRBuilder<> &builder,
            const AsyncOp &op);
  void emitBulkCopy(llvm::CallInst &call, llvm::IRBuilder<> &builder,
                    const AsyncOp &op);
  uint32_t addBulkAccesses(llvm::CallInst &call, const AsyncOp &op,
                           unsigned shared, unsigned global);
  void emitMBarrier(llvm::CallInst &call, llvm::IRBuilder<> &builder,
                    const AsyncOp &op);
  void execute(llvm::CallInst &call, llvm::IRBuilder<> &builder,
               Operation operation, llvm::ArrayRef<Value *> operands);
  bool isTensorMap(const Value *pointer) const;

  EmissionContext &context;
  AddressEmitter &addresses;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_ASYNCEMITTER_H
