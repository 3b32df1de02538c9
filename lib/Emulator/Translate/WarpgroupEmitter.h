//===- WarpgroupEmitter.h - What four warps do together ------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites `wgmma` and `setmaxnreg`: lanes leave their operands in their
// registers and wait for those of their warp.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_WARPGROUPEMITTER_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_WARPGROUPEMITTER_H

#include "EmissionContext.h"
#include "llvm/IR/IntrinsicInst.h"

namespace mlir::workgroup::emulator {

/// Each function is false if it is about none of that.
class WarpgroupEmitter {
public:
  explicit WarpgroupEmitter(EmissionContext &context) : context(context) {}

  bool emitIntrinsic(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool emitAssembly(llvm::CallInst &call);

private:
  uint32_t addRead(const llvm::Instruction &at);
  void suspendAt(llvm::CallInst &call, Operation operation,
                 llvm::ArrayRef<Value *> operands);

  EmissionContext &context;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_WARPGROUPEMITTER_H
