//===- ChainStream.h - Chains that need no whole rows -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two contractions in a chain, a softmax takes the largest element of
// each row, weights exp(score - largest), and their sum. A block that has seen
// some columns of a row knows the largest so far, and the sums of weights, and
// of their products, that go with it. If a later column has a larger one, exp
// of the difference brings all sums up to date. So columns can be taken a few
// at a time, as many as there are, and no row is ever kept.
//
// Source: Milakov, Gimelshein, "Online normalizer calculation for softmax"
// (2018); Dao et al., "FlashAttention" (2022).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINSTREAM_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINSTREAM_H

#include "ContractionChain.h"

namespace mlir::workgroup {

/// What becomes of an operation between the contractions when columns are taken
/// a few at a time.
enum class StreamRole {
  /// Done for the columns at hand.
  Columns,
  /// A sum or the like along the columns that goes on from what it was.
  Fold,
  /// The same, of weights: it is scaled when the largest element changes.
  ScaledFold,
  /// Done of rows, by which weights are computed.
  Reference,
  /// Done of rows behind the last column.
  Row,
  /// A weight, or score, times what is known behind the last column: there, the
  /// results of the second contraction are multiplied.
  Share,
};

/// The body of an operation that computes weights.
struct WeightBody {
  /// What the exponent is the difference to, an input.
  OpOperand *reference = nullptr;
  /// Conversions of the reference, the difference, and what is computed of it
  /// up to the exponential.
  SmallVector<Operation *> casts, chain;
  /// True if the exponential is multiplied or divided: weights are not at most
  /// one then.
  bool isScaled = false;
};

/// A chain that goes through the columns of its first result.
struct ChainStream {
  struct Link {
    linalg::LinalgOp op;
    StreamRole role;
    /// The loop along the columns, if there is one.
    std::optional<unsigned> column;
    /// For each loop, that of the second contraction along the same rows.
    ContractionChain::Loops rows;
    /// Of a share: the weight that is read, or a share of it, and the
    /// operations, linear in it, that lead from there to what is yielded.
    OpOperand *weight = nullptr;
    SmallVector<Operation *> steps = {};

    /// True if it is a sum or the like along the columns.
    bool isFold() const {
      return role == StreamRole::Fold || role == StreamRole::ScaledFold;
    }
  };
  /// In the order of the program.
  SmallVector<Link> links;
  /// The largest element of each row, and what computes weights by it; null if
  /// there are none.
  linalg::LinalgOp largest, weights;
  WeightBody body;
  /// True if more than weights is computed of the largest elements.
  bool needsLargest = false;

  /// True if columns that a mask hides from all rows are left out.
  bool skipsMasked = false;

  /// What has to make zeros of columns that are not there, so that the second
  /// contraction adds nothing for them; null if the first does.
  linalg::LinalgOp guarded;

  const Link *find(Operation *op) const;
  /// True if something of weights is left to be done behind the last column.
  bool hasShares() const;
};

/// How `chain` goes through its columns; nothing if it needs whole rows.
std::optional<ChainStream> findStream(const ContractionChain &chain);

/// True if there is a softmax between the contractions: what parts of the
/// columns come to can be put together.
bool hasSoftmax(const ContractionChain &chain);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINSTREAM_H
