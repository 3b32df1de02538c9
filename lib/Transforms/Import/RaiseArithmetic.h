//===- RaiseArithmetic.h - Integers of LLVM to arith ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analyses read integers as arith computes them, and branches as cf has them.
// LLVM's are the same, under other names.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISEARITHMETIC_H
#define WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISEARITHMETIC_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Replaces the arithmetic of integers, and branches between blocks, that
/// `region` has of the LLVM dialect by those of arith and cf. Operations on
/// vectors, floats and pointers are left.
void raiseArithmetic(Region &region, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISEARITHMETIC_H
