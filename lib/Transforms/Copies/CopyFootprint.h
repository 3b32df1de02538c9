//===- CopyFootprint.h - Which bytes a memref covers ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strided memref covers bytes of the memref that it is a view of: from a
// place on, which is a sum of a constant and of multiples of values, in steps
// along each dimension. Two of them can be compared without knowing the values
// that both have in common.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_COPYFOOTPRINT_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_COPYFOOTPRINT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>
#include <tuple>

namespace mlir::workgroup {

/// A number of bytes: a constant, or a multiple of what is not known of the
/// layout of a memref.
struct ByteStride {
  int64_t factor = 0;
  /// The memref; null for a constant.
  Value layout = nullptr;
  /// Whose stride it is; -1 for the offset.
  int64_t dim = 0;

  bool isConstant() const { return !layout; }
  bool operator==(const ByteStride &other) const {
    return std::tie(factor, layout, dim) ==
           std::tie(other.factor, other.layout, other.dim);
  }
};

/// The places of a memref's elements.
struct Footprint {
  struct Term {
    /// Null for one.
    Value index;
    ByteStride stride;
  };

  /// The root that places are counted from, by its value the same for two
  /// footprints that can be compared.
  Value root;
  /// The constant part of the first element's place, in bytes from the root.
  int64_t constant = 0;
  SmallVector<Term, 4> terms;
  SmallVector<ByteStride, 4> strides;
  int64_t elementBytes = 0;
};

/// The footprint of `memref`; nothing if it is not a sum, or of a layout that
/// is not strided.
std::optional<Footprint> getFootprint(Value memref);

/// True if memrefs of equal shape `extents` that have these footprints, and
/// elements of one type, are the same elements of the same memory.
bool areIdentical(const Footprint &lhs, const Footprint &rhs,
                  ArrayRef<int64_t> extents);

/// True if memrefs with these footprints have no byte in common. Values may
/// differ between the two if not `isSameTime`.
bool areDisjoint(const Footprint &lhs, ArrayRef<int64_t> lhsExtents,
                 const Footprint &rhs, ArrayRef<int64_t> rhsExtents,
                 bool isSameTime);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_COPYFOOTPRINT_H
