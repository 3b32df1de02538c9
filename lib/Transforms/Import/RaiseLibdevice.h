//===- RaiseLibdevice.h - Functions of libdevice to arith ----- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clang calls functions of NVIDIA's libdevice for what LLVM has instructions
// for: minima and maxima of integers, which indices are computed with, and
// numbers whose bits are taken for another type.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISELIBDEVICE_H
#define WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISELIBDEVICE_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Replaces such calls in `region` by operations of arith. Others are left.
void raiseLibdevice(Region &region, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISELIBDEVICE_H
