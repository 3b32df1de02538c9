//===- CopyOverlap.h - Copies within one memory -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the source and the target of a copy may be one memory in part, so
// that the order of its elements would matter. Both operands are followed back
// through views and joins of paths to their roots; two views of one root are
// compared by their offsets. Arguments of kernels are taken to be different
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_COPYOVERLAP_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_COPYOVERLAP_H

#include "mlir/IR/Value.h"

namespace mlir::workgroup {

/// True if `source` and `target`, two memrefs of equal shape, are known to be
/// the same elements of the same memory.
bool areSameElements(Value source, Value target);

/// True if `source` and `target`, two ranked and strided memrefs of equal
/// shape, may be views of one memory, and are not known to be apart in it.
/// Memory that is handed to a kernel or function by different names is taken to
/// be different.
bool mayOverlap(Value source, Value target);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_COPYOVERLAP_H
