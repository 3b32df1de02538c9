//===- NarrowFloats.h - Floats of 8 bits by integer arithmetic --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NARROWFLOATS_H
#define WORKGROUP_LIB_TRANSFORMS_NARROWFLOATS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Conversions between `f8E4M3FN` or `f8E5M2` and wider floats or integers
/// become arithmetic of integers and `f32`: most chips have no instruction for
/// them.
void populateNarrowFloatPatterns(RewritePatternSet &patterns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NARROWFLOATS_H
