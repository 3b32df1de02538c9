//===- NarrowFloats.h - Floats of 8 bits and less by integers ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats of 8, 6 and 4 bits (OCP Microscaling formats, and the FP8 types of
// PTX) differ in the bits of exponent and mantissa, in the bias, and in which
// encodings are infinity and NaN. A conversion to f32 scales by a power of two,
// which is exact for subnormal numbers, too; one from f32 rounds to nearest,
// ties to even, and makes what is too large infinity, NaN or the largest
// number, as the type has them. From f64 it goes through an f32 that is rounded
// to odd, so that it is rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_NARROWFLOATS_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_NARROWFLOATS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Conversions between floats of 8, 6 and 4 bits and other floats or integers
/// become arithmetic of integers and `f32`: most chips have no instruction for
/// them. None is made to `f8E8M0FNU`, which has neither a sign nor a zero.
void populateNarrowFloatPatterns(RewritePatternSet &patterns);

/// Why `op`, which the patterns left as it is, is a conversion of floats that
/// no GPU can do, and what to do; empty if it is none, or one can.
std::string getConversionObstacle(Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_NARROWFLOATS_H
