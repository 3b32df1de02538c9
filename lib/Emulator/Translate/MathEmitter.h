//===- MathEmitter.h - Arithmetic of the device --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites what computes and touches no memory of others: divisions, which must
// not trap on the host, and functions of the device's library.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_MATHEMITTER_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_MATHEMITTER_H

#include "EmissionContext.h"

namespace mlir::workgroup::emulator {

class MathEmitter {
public:
  explicit MathEmitter(EmissionContext &context) : context(context) {}

  /// Division by zero, and of the least number by -1, trap on the host and have
  /// no defined result anywhere: they become findings, and divisions by one.
  void emitDivision(llvm::BinaryOperator &division);
  /// Binds a call of `name` to the host's function for it. False if there is
  /// none.
  bool bind(llvm::CallInst &call, llvm::StringRef name);

private:
  EmissionContext &context;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_MATHEMITTER_H
