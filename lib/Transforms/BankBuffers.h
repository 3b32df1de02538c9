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

#ifndef WORKGROUP_LIB_TRANSFORMS_BANKBUFFERS_H
#define WORKGROUP_LIB_TRANSFORMS_BANKBUFFERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "workgroup/Analysis/Alignment.h"

namespace mlir::workgroup {

/// A constant and multiples of values: an offset in elements.
struct LinearIndex {
  int64_t constant = 0;
  SmallVector<std::pair<Value, int64_t>, 4> terms;

  /// Adds `factor` times `index`.
  void add(OpFoldResult index, int64_t factor);
};

/// An access of the threads of a warp to a buffer.
struct BankAccess {
  /// The operand that is the memref.
  OpOperand *use = nullptr;
  /// Where the first element is, counted from the start of the buffer.
  LinearIndex place;
  /// Consecutive elements that a lane accesses.
  int64_t numElements = 1;
  /// The op may become several of fewer elements each.
  bool canSplit = false;
  /// How many lanes of a warp have an address that is used.
  unsigned numLanes = 32;
  /// The alignment in bytes that the op promises.
  int64_t alignment = 1;
  /// A power of two that divides the column of the first element and the length
  /// of a row.
  int64_t divisor = 1;
  /// Of an access to a matrix by the whole warp, all lanes with one address:
  /// how many pieces of `numElements` it has, and the distance between them in
  /// elements. Zero for any other access.
  int64_t numMatrixRows = 0, leadDimension = 0;
  /// What the length of a row has to be a multiple of for it, in bytes.
  int64_t matrixUnit = 0;

  Operation *getOp() const { return use->getOwner(); }
  bool isOfMatrix() const { return numMatrixRows != 0; }
  /// What a lane accesses, in elements of `bytes` bytes.
  int64_t getBytes(int64_t bytes) const { return numElements * bytes; }
  /// The widest instruction in bytes that can do it.
  int64_t getPieceBytes(int64_t elementBytes) const;
  /// The bytes that must stay together, and that the length of a row has to be
  /// a multiple of.
  int64_t getFixedBytes(int64_t elementBytes) const;
};

/// A static buffer in workgroup memory.
struct BankBuffer {
  /// The values that stand for all of it, with its type: the buffer itself, or
  /// each `memref.get_global`, and what only states an alignment of them.
  SmallVector<Value> roots;
  /// The allocation, or the `memref.global`; null for an attribution.
  Operation *definition = nullptr;
  MemRefType type;
  int64_t elementBytes = 0;
  /// All other memrefs with its memory, sources before their views.
  SmallVector<Operation *> views;
  SmallVector<BankAccess> accesses;
  SmallVector<Operation *> dims, deallocs;
  /// Why its layout cannot change; empty if it can.
  std::string obstacle;

  bool isRoot(Value value) const { return llvm::is_contained(roots, value); }
  /// Elements of a row, and the number of rows.
  int64_t getColumns() const;
  int64_t getRows() const { return type.getNumElements() / getColumns(); }
  int64_t getRowBytes() const { return getColumns() * elementBytes; }
  int64_t getBytes() const { return type.getNumElements() * elementBytes; }
};

/// The workgroup buffers of the kernel or device function `scope` that a pass
/// which runs on `root` may change, with their uses.
SmallVector<BankBuffer, 0> collectBankBuffers(Operation *root,
                                              Operation *scope);

/// The indices that go with the memref `use`, which is one of an access.
MutableOperandRange getAccessIndices(OpOperand &use);

/// The extent of the view, or root, `value` along `dim`; nothing if it is not
/// known.
std::optional<int64_t> getStaticExtent(Value value, int64_t dim);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_BANKBUFFERS_H
