//===- BankBuffers.h - Buffers whose layout may change ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The workgroup buffers of a kernel, every view of them and every access to
// them. A buffer is seen as rows, one per index into all dimensions but the
// last. Its layout may change if all that uses it is understood and no access
// goes past the end of a row.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_BANKS_BANKBUFFERS_H
#define WORKGROUP_LIB_TRANSFORMS_BANKS_BANKBUFFERS_H

#include "BankAccess.h"
#include "BankArena.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::workgroup {

/// A static buffer in workgroup memory, or the slots of an arena.
struct BankBuffer {
  /// The values that stand for all of it, with its type: the buffer itself, or
  /// each `memref.get_global`, or each view of a slot, and what only states an
  /// alignment of them.
  SmallVector<Value> roots;
  /// The arena that has the slots; its tiles are of type `type`.
  std::optional<BankArena> arena;
  /// The allocation, or the `memref.global`; null for an attribution.
  Operation *definition = nullptr;
  MemRefType type;
  int64_t elementBytes = 0;
  /// The last dimensions, which make a row together.
  int64_t rowDims = 1;
  /// All other memrefs with its memory, sources before their views.
  SmallVector<Operation *> views;
  /// The extents of the roots and views, ShapedType::kDynamic where not known.
  DenseMap<Value, SmallVector<int64_t>> extents;
  SmallVector<BankAccess> accesses;
  /// Loads of whole rows by TMA.
  SmallVector<nvgpu::TmaAsyncLoadOp> tensorLoads;
  SmallVector<Operation *> dims, deallocs;
  /// Why its layout cannot change; empty if it can.
  std::string obstacle;

  bool isRoot(Value value) const { return llvm::is_contained(roots, value); }
  /// The extents of the dimensions that make a row.
  ArrayRef<int64_t> getRowShape() const;
  /// Elements of a row, and the number of rows.
  int64_t getColumns() const;
  int64_t getRows() const { return type.getNumElements() / getColumns(); }
  int64_t getRowBytes() const { return getColumns() * elementBytes; }
  /// The memory that is allocated.
  Value getMemory() const { return arena ? arena->memory : roots.front(); }
  /// The alignment in bytes that every root is known to have.
  int64_t getAlignment() const;
  /// The bytes of a slot of the arena, and of all memory, if each row has
  /// `padBytes` bytes more.
  int64_t getSlotBytes(int64_t padBytes) const;
  int64_t getBytes(int64_t padBytes) const;
  /// The bytes of all memory, if it begins, and each slot does, at a multiple
  /// of `alignment` bytes.
  int64_t getAlignedBytes(int64_t alignment) const;
};

/// The workgroup buffers of the kernel or device function `scope` that a pass
/// which runs on `root` may change, with their uses.
SmallVector<BankBuffer, 0> collectBankBuffers(Operation *root,
                                              Operation *scope);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_BANKS_BANKBUFFERS_H
