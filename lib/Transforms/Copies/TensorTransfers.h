//===- TensorTransfers.h - Loads and stores of tiles by TMA -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits what one thread asks TMA for, by maps that launches pass.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORTRANSFERS_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORTRANSFERS_H

#include "MBarriers.h"
#include "TensorCopies.h"

namespace mlir::workgroup {

/// Emits the loads of `copy` to `target`: the one that was matched or another
/// of its type, whose buffer `raiseTensorBuffer` has seen. To be executed by
/// one thread, after `barrier` was told to expect `copy.bytes`.
void emitTensorLoads(RewriterBase &rewriter, Location loc,
                     const TensorCopy &copy, Value target, MBarrier barrier,
                     TensorMaps &maps);

/// Gives the buffer of `target` the alignment that TMA needs. `anchor` is what
/// the client may change.
void raiseTensorBuffer(Value target, Operation *anchor);

/// Emits the store of `source`, in workgroup memory, of the shape and with the
/// swizzle of the box of `copy`, to where the tile begins, `column` columns
/// further. To be executed by one thread, which commits it.
void emitTensorStore(RewriterBase &rewriter, Location loc,
                     const TensorCopy &copy, Value source, int64_t column,
                     TensorMaps &maps);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORTRANSFERS_H
