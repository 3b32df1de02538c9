//===- CopyAccess.h - One access of a copy ----------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one thread does to move a few consecutive elements: a load and a store,
// or the start of an asynchronous copy. Where the target is larger than the
// source, zeros are moved instead.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_COPYACCESS_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_COPYACCESS_H

#include "Copy.h"
#include "CopyShape.h"
#include "GatherIndices.h"
#include "workgroup/Transforms/Copies.h"

namespace mlir::workgroup {

/// True if a vector of `type`'s elements occupies the same bytes as the
/// elements one by one.
bool hasDenseElements(MemRefType type);

class CopyAccess {
public:
  CopyAccess(RewriterBase &rewriter, const Copy &copy, const CopyShape &shape,
             const LowerCopiesOptions &options)
      : rewriter(rewriter), index{rewriter, copy.op->getLoc()}, copy(copy),
        shape(shape), options(options), loc(copy.op->getLoc()) {
    if (copy.gather)
      gather.emplace(copy.gather);
  }

  /// Computes, at the insertion point, what all accesses need.
  void prepare();

  /// Bytes of an element of `memref`, one side of the copy; 0 if not known.
  int64_t getBytes(Value memref) const {
    return getElementBytes(cast<MemRefType>(memref.getType()), copy.op)
        .value_or(0);
  }

  /// True if the source has runs of `length` elements of the target.
  bool hasRuns(int64_t length) const {
    return !gather || gather->hasRuns(length);
  }

  /// True if `length` elements are moved by cp.async.
  bool isAsync(int64_t length) const;

  /// Begins to copy `length` elements from `indices` on; returns the token.
  Value start(ArrayRef<OpFoldResult> indices, int64_t length);

  /// `length` elements of the source, as they are to be stored.
  Value load(ArrayRef<OpFoldResult> indices, int64_t length);
  void store(Value value, ArrayRef<OpFoldResult> indices, int64_t length);

private:
  Value applyPayload(Value value, int64_t length);
  Value loadWhole(ArrayRef<OpFoldResult> indices, int64_t length);
  Value loadPart(ArrayRef<OpFoldResult> indices, int64_t length);
  Value getCount(ArrayRef<OpFoldResult> indices, int64_t length);
  Value makeZero(Type type);
  SmallVector<Value> getSourceIndices(ArrayRef<OpFoldResult> indices);

  RewriterBase &rewriter;
  IndexBuilder index;
  const Copy &copy;
  const CopyShape &shape;
  const LowerCopiesOptions &options;
  Location loc;
  std::optional<GatherIndices> gather;
  /// The extents of the source of a padded copy.
  SmallVector<OpFoldResult> available;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_COPYACCESS_H
