//===- MemRefAddress.h - Where the elements of a memref are -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The view arithmetic of memrefs: where the elements of a view are in the
// memory that it is a view of. With strides that are constants that is a number
// of bytes. With others, multiples of unknown numbers, it is indices into a
// memref: different ones are different elements, for layouts are injective.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_MEMORY_MEMREFADDRESS_H
#define WORKGROUP_LIB_ANALYSIS_MEMORY_MEMREFADDRESS_H

#include "workgroup/Analysis/Footprint.h"

namespace mlir::workgroup {

/// The places of a memref's elements in its root.
struct MemRefAddress {
  using Bound = AccessFootprint::Bound;
  /// A step along a dimension is `stride` units along `coordinate`.
  struct Dimension {
    unsigned coordinate = 0;
    int64_t stride = 0;
    /// Null if it is not known.
    OpFoldResult extent;
  };

  /// As in AccessFootprint: null if there is one coordinate, in bytes.
  Value basis;
  /// The bytes of a step along each coordinate: ShapedType::kDynamic if neither
  /// the type of `basis` nor a cast of a view of it says how many.
  SmallVector<int64_t, 1> coordinateBytes = {1};
  /// The address of the first element.
  SmallVector<LinearIndex, 1> origin;
  SmallVector<Dimension, 4> dimensions;
  /// The address that the pointer points to from which offsets count, in bytes
  /// from the start of the root; nothing if that is not known.
  std::optional<LinearIndex> base;
  int64_t elementBytes = 0;
  /// Bounds that making the views between root and memref has promised.
  SmallVector<Bound, 0> bounds;

  /// Asks whether a memref is the same memory whenever and whoever looks:
  /// whether indices into it can be compared.
  using FixedQuery = llvm::function_ref<bool()>;

  /// The address of the memref `root`, from which coordinates are counted.
  static std::optional<MemRefAddress> ofRoot(Value root, FixedQuery isFixed);

  /// The address of the result `view` of a view of `source`.
  static std::optional<MemRefAddress>
  ofView(Value view, const MemRefAddress &source, FixedQuery isFixed);

  /// The address of `memref` in the memref that all views up to it are of.
  static std::optional<MemRefAddress> of(Value memref, FixedQuery isFixed);

  /// The address of what may be in `lhs` or in `rhs`. Keeps no values but those
  /// in `origin` and `base`.
  static std::optional<MemRefAddress> join(const MemRefAddress &lhs,
                                           const MemRefAddress &rhs);

  /// Forgets what is true only where the memref was made.
  void dropBounds();

  bool operator==(const MemRefAddress &other) const;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_MEMORY_MEMREFADDRESS_H
