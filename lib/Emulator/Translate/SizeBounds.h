//===- SizeBounds.h - Sizes that a kernel was compiled for ---- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which launches a kernel may be given: what its attributes promise, and the
// ranges of its special registers.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_SIZEBOUNDS_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_SIZEBOUNDS_H

#include "Emulator/State/Tables.h"
#include "llvm/IR/Function.h"

namespace mlir::workgroup::emulator {

/// Sets what `tables` say of the sizes of launches.
void findSizeBounds(const llvm::Function &function, KernelTables &tables);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_SIZEBOUNDS_H
