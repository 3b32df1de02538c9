//===- PrintFormats.h - Formats of gpu.printf -------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device prints as C does: a format says of each argument how many bytes it
// has in memory and what they mean. Nothing but the format tells signed numbers
// from unsigned ones, so it decides how a narrow argument is extended.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_PRINTFORMATS_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_PRINTFORMATS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// The error in the format of `op`, or in its arguments for it, with a remedy;
/// empty if there is none.
std::string getPrintObstacle(gpu::PrintfOp op);

/// Arguments of `gpu.printf` narrower than `int` and `double` are extended to
/// them, as C extends the variable arguments of a call.
void populatePrintPatterns(RewritePatternSet &patterns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_PRINTFORMATS_H
