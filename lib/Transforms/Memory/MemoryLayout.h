//===- MemoryLayout.h - Places for buffers in one memory --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dynamic storage allocation: buffers with known lives are given offsets such
// that no two share a byte that live together. The problem is NP-hard; what is
// done here is first fit in several orders, and then, as long as it pays, in
// the order in which the buffers at the top come first ("squeaky wheel"
// optimisation: Joslin and Clements, JAIR 10, 1999).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_MEMORY_MEMORYLAYOUT_H
#define WORKGROUP_LIB_TRANSFORMS_MEMORY_MEMORYLAYOUT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace mlir::workgroup {

/// A buffer to be placed.
struct LayoutItem {
  int64_t bytes = 0;
  /// A power of two.
  int64_t alignment = 1;
  /// The closed interval of positions in which it is in use.
  unsigned first = 0, last = 0;
};

/// Offsets of buffers from the start of the memory, and how much it takes.
struct MemoryLayout {
  SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Finds a small layout in which no two items that `interfere` share a byte.
MemoryLayout findLayout(ArrayRef<LayoutItem> items,
                        llvm::function_ref<bool(unsigned, unsigned)> interfere);

/// Places the items one after another in the order given.
MemoryLayout makeLinearLayout(ArrayRef<LayoutItem> items);

/// A number of bytes that no layout goes below in which items with overlapping
/// intervals share none: the largest sum of the sizes of items that live at one
/// position.
int64_t getLowerBound(ArrayRef<LayoutItem> items);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_MEMORY_MEMORYLAYOUT_H
