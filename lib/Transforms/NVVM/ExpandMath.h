//===- ExpandMath.h - Mathematics without an LLVM form ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of the math dialect that upstream's lowering leaves become
// arithmetic. A power of integers is a loop over the bits of the exponent
// (square and multiply); a number is normal if its magnitude is finite and not
// below the smallest normal one. Fused multiply-adds become LLVM's.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_EXPANDMATH_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// `math.ipowi` and `math.isnormal`, which neither LLVM nor libdevice knows,
/// become arithmetic, and `math.fma` of scalars LLVM's operation. Not so
/// `math.clampf`: what MLIR 22 says that it means is no clamp.
void populateExpandMathPatterns(RewritePatternSet &patterns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_EXPANDMATH_H
