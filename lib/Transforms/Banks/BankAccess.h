//===- BankAccess.h - Accesses to rows of buffers ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access of a warp to a workgroup buffer, as far as bank conflicts depend on
// it: the first element of each lane as a linear index, the consecutive
// elements that a lane accesses, the lanes whose address is used, and whether
// the operation may be split into narrower ones. A wide access is done in
// pieces, instructions of at most 16 bytes for a lane. Operations that are not
// described here keep the layout of their buffer as it is.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_BANKS_BANKACCESS_H
#define WORKGROUP_LIB_TRANSFORMS_BANKS_BANKACCESS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "workgroup/Analysis/LinearIndex.h"

namespace mlir::workgroup {

/// An access of the threads of a warp to a buffer.
struct BankAccess {
  Operation *op = nullptr;
  /// For a copy: its source is in the buffer. Operands move when others are
  /// replaced, so that the memref is not told by its operand.
  bool isCopySource = false;
  /// The offset of the first element, counted from the start of the buffer.
  LinearIndex offset;
  /// Consecutive elements that a lane accesses.
  int64_t numElements = 1;
  /// The op may become several of fewer elements each.
  bool canSplit = false;
  /// The number of lanes of a warp whose address is used.
  unsigned numLanes = 32;
  /// The alignment in bytes that the op promises.
  int64_t alignment = 1;
  /// A power of two that divides the column of the first element and the length
  /// of a row.
  int64_t divisor = 1;
  /// For an access to a matrix by the whole warp, all lanes with one address:
  /// the number of pieces of `numElements` that it has, and the distance
  /// between them in elements. Zero for any other access.
  int64_t numMatrixRows = 0, leadDimension = 0;
  /// The number of bytes that the length of a row has to be a multiple of for
  /// it.
  int64_t matrixUnit = 0;

  bool isOfMatrix() const { return numMatrixRows != 0; }
  /// The bytes that a lane accesses, in elements of `bytes` bytes.
  int64_t getBytes(int64_t bytes) const { return numElements * bytes; }
  /// The widest instruction in bytes that can do it.
  int64_t getPieceBytes(int64_t elementBytes) const;
  /// The bytes that must stay together, and that the length of a row has to be
  /// a multiple of.
  int64_t getFixedBytes(int64_t elementBytes) const;
};

/// The access by which the operation uses the memref `use`, its offset left
/// out; nothing if it does anything else with it, or is not understood.
std::optional<BankAccess> describeAccess(OpOperand &use, int64_t elementBytes);

/// The memref that `access` is to, and the indices that go with it.
OpOperand &getAccessMemref(const BankAccess &access);
MutableOperandRange getAccessIndices(const BankAccess &access);

/// The largest power of two up to `AlignmentAnalysis::kMaxDivisor` that divides
/// `value`.
int64_t getPowerOfTwoDivisor(int64_t value);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_BANKS_BANKACCESS_H
