//===- AccessFootprint.h - What an access touches of its memref -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shape of an access is a box of elements of its memref: a first index and
// a count in each dimension. With the place of the memref in its root it
// becomes the footprint, which counts in bytes, or in the dimensions of a
// memref where strides are not constants. A masked or partial access has the
// box that holds all that it may touch.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSFOOTPRINT_H
#define WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSFOOTPRINT_H

#include "Analysis/Memory/MemRefAddress.h"
#include "mlir/Interfaces/VectorInterfaces.h"

namespace mlir::workgroup {

/// The elements of a memref that an access touches: a box.
struct AccessShape {
  struct Dimension {
    LinearIndex index;
    /// Elements from there on; null for one.
    OpFoldResult count;
    /// The first one is in the memref if anything is accessed at all.
    bool isInBounds = true;
    /// Not more than that; 0 if `count` says how many.
    int64_t limit = 0;
    /// What is not in the memref is left out.
    bool isClipped = false;
  };
  SmallVector<Dimension, 4> dimensions;
  /// Some of the elements may be left out.
  bool isPartial = false;
  /// The number of elements of the last dimension that are accessed; null for
  /// all.
  Value kept;

  /// One element.
  static AccessShape ofElement(ValueRange indices);
  /// The element at the results of `map`.
  static AccessShape ofMap(AffineMap map, ValueRange operands);
  /// All elements; nothing if an extent is not known.
  static std::optional<AccessShape> ofAll(const MemRefAddress &address);
  /// The elements that a transfer accesses at most.
  static AccessShape ofTransfer(VectorTransferOpInterface transfer);

  /// Makes it the elements of a vector of type `vector` in a memref of type
  /// `memref`, from that element on. False if their number is not known.
  bool setVector(Type vector, MemRefType memref);
  /// Makes it `count` elements along the last dimension.
  void setRun(int64_t count, MLIRContext *context);
  /// Says that some elements may be left out, so that the last dimension is not
  /// in bounds for sure.
  void setMasked();
};

/// The footprint of the elements `shape` of a memref at `address`.
AccessFootprint getFootprint(const MemRefAddress &address,
                             const AccessShape &shape);

/// True if footprints of one basis and root, where all values have the same
/// numbers, have nothing in common by constants alone.
bool areApart(const AccessFootprint &lhs, const AccessFootprint &rhs);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSFOOTPRINT_H
