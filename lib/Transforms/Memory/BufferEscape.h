//===- BufferEscape.h - Buffers that outlive their iteration ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An allocation that runs repeatedly can be made one buffer if no two of its
// activations live together: nothing carries the memory to a later iteration of
// a loop, out of the function, or into memory.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_MEMORY_BUFFERESCAPE_H
#define WORKGROUP_LIB_TRANSFORMS_MEMORY_BUFFERESCAPE_H

#include "mlir/IR/Dominance.h"

namespace mlir::workgroup {

/// The use through which the buffer of an allocation could meet a later
/// activation of the same op, or null.
Operation *findEscape(Operation *alloc, DominanceInfo &dominance);

/// Says that allocation `op` in `space` memory leaves through `escape`.
LogicalResult emitEscapeError(Operation *op, Operation *escape,
                              StringRef space);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_MEMORY_BUFFERESCAPE_H
