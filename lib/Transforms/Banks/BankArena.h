//===- BankArena.h - Buffers that are slots of an arena ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rings have their tiles in an arena of bytes, as `memref.view`s of one type at
// multiples of the bytes of a slot. Each tile has a layout of its own, and all
// have the same.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_BANKS_BANKARENA_H
#define WORKGROUP_LIB_TRANSFORMS_BANKS_BANKARENA_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// An allocation of bytes that is used by slots alone.
struct BankArena {
  Value memory;
  SmallVector<memref::ViewOp> views;
  int64_t slotBytes = 0, numSlots = 1;

  MemRefType getTile() { return views.front().getType(); }
};

/// The arena that `memory`, an allocation in `scope`, is; nothing if it is used
/// otherwise.
std::optional<BankArena> matchArena(Value memory, Operation *scope);

/// Gives the slots of `arena` the type `tile` and `slotBytes` bytes each.
void resizeSlots(RewriterBase &rewriter, BankArena &arena, MemRefType tile,
                 int64_t slotBytes);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_BANKS_BANKARENA_H
