//===- RegisterCounts.h - How many registers threads begin with -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `setmaxnreg` changes the number of registers that a kernel is launched with.
// ptxas has to know that number; otherwise it ignores the instruction.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_REGISTERCOUNTS_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_REGISTERCOUNTS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Lets kernels among `scopes` in which warps change their number of registers
/// have all registers of a multiprocessor for one block, unless they say
/// themselves how many blocks are to fit.
void stateRegisterCounts(ArrayRef<Operation *> scopes, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_REGISTERCOUNTS_H
