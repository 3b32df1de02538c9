//===- LinearIndex.h - Sums of multiples of values --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index as a constant and multiples of SSA values, as views and accesses
// state it: `base + 128 * row + col`. Nothing is known of the values; what they
// are per thread and iteration, SymbolicIndex tells. Results of affine maps
// that are no such sum, as `d0 floordiv 4`, are terms of their own.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_LINEARINDEX_H
#define WORKGROUP_ANALYSIS_LINEARINDEX_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::workgroup {

/// A constant and multiples of values, no value twice. Constants wrap around,
/// as addresses do.
struct LinearIndex {
  int64_t constant = 0;
  SmallVector<std::pair<Value, int64_t>, 4> terms;
  /// A term that no value stands for: `factor` times the result of `map`, a
  /// quotient, a remainder or a product, as the map of an `affine.load` may
  /// have it.
  struct AffineTerm {
    AffineMap map;
    SmallVector<Value, 2> operands;
    int64_t factor = 1;

    bool operator==(const AffineTerm &other) const {
      return map == other.map && operands == other.operands &&
             factor == other.factor;
    }
  };
  SmallVector<AffineTerm, 0> affineTerms;

  /// Adds `factor` times `index`.
  void add(OpFoldResult index, int64_t factor);
  /// Adds `factor` times the result of `map`.
  void add(AffineMap map, ValueRange operands, int64_t factor);
  /// Adds `factor` times `other`.
  void add(const LinearIndex &other, int64_t factor);

  bool isConstant() const { return terms.empty() && affineTerms.empty(); }
  bool operator==(const LinearIndex &other) const {
    return constant == other.constant && terms == other.terms &&
           affineTerms == other.affineTerms;
  }
  bool operator!=(const LinearIndex &other) const { return !(*this == other); }
};

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_LINEARINDEX_H
