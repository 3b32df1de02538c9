//===- Views.h - What views leave out ---------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank-reducing `memref.subview` has fewer dimensions than its source. Which
// ones it leaves out follows from its type: a dimension is kept if its extent
// and stride match the next one of the result. This corrects upstream's answer
// for views with steps.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_SUPPORT_VIEWS_H
#define WORKGROUP_LIB_SUPPORT_VIEWS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::workgroup {

/// The dimensions of its source that `view` leaves out, one bit each.
/// Upstream's `getDroppedDims` compares the strides of the view with those of
/// the source, and so finds none, or crashes, if the view takes steps.
llvm::SmallBitVector getDroppedDims(memref::SubViewOp view);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_SUPPORT_VIEWS_H
