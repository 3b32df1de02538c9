//===- ConstantOffsets.h - Constants at the end of addresses ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accesses of a thread that are constants apart, 16 rows of a tile say, can
// have one address in a register and immediates. LLVM takes a sum with bits
// that are known apart, what the thread has of the row and 16, for a bitwise
// or, through which it multiplies no stride.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_CONSTANTOFFSETS_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_CONSTANTOFFSETS_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// Adds constants behind products, quotients and rests by constants instead of
/// before them, in the LLVM dialect.
void addConstantsLast(Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_CONSTANTOFFSETS_H
