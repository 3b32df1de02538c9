//===- ProductCalls.h - Assembly that multiplies ------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operands of `wgmma.mma_async`, which is inline assembly: by its text, and
// by its constraints, which tie what D was to what it becomes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_PRODUCTCALLS_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_PRODUCTCALLS_H

#include "Emulator/Isa/WarpgroupOps.h"
#include "LLVMNames.h"

namespace mlir::workgroup::emulator {

struct ProductCall {
  WgmmaOp op;
  /// Fragments in registers: what D is before, and A unless it has a
  /// descriptor.
  llvm::SmallVector<Value *> accumulators, fragment;
  /// The descriptors; of A null if it comes in registers.
  Value *a = nullptr, *b = nullptr;
  /// Whether D is read.
  Value *scale = nullptr;

  /// Takes the assembly apart; nullopt if it is of no form that is known.
  static std::optional<ProductCall> get(const llvm::CallInst &call);
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_PRODUCTCALLS_H
