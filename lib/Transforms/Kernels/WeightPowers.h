//===- WeightPowers.h - Weights by one multiply-add -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exp(score - largest) is exp2(f * score - f * largest), with the binary
// logarithm of e for f, times what scores are scaled by: of each weight, there
// is a fused multiply-add left before the power of two. The product with the
// largest is rounded once for a row, and by that the same in all of its
// weights, so that it goes out with their sum.
//
// The rounding must not take weights out of the range of floats, and f *
// largest must be no infinity. Where the largest is so large that the next
// score has next to no weight, a power of two is taken for f, which rounds
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_WEIGHTPOWERS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_WEIGHTPOWERS_H

#include "ChainStream.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Weights of a stream as powers of two.
class WeightPowers {
public:
  /// If weights may be approximated: those that are exponentials of differences
  /// in f32. Scores lose a constant factor to that of the power.
  static std::optional<WeightPowers> find(RewriterBase &rewriter,
                                          const ChainStream &stream);

  /// What makes the scores, if the largest ones and weights read them as they
  /// are and nobody needs the largest otherwise: minus infinity has a weight of
  /// zero, and is the largest of nothing.
  static linalg::LinalgOp findScores(const ChainStream &stream);

  /// True if the factor depends on the row.
  bool hasFactors() const { return factor != getFarFactor(); }
  /// In the body of an operation on rows: the factor by the reference `now`, a
  /// constant unless it depends on that.
  Value makeFactor(OpBuilder &builder, Location loc, Value now) const;
  /// What is added to scores times `factor`: less that of `reference`.
  Value makeOffset(OpBuilder &builder, Location loc, Value reference,
                   Value factor) const;
  /// The power of two of `exponent`.
  Value makePower(OpBuilder &builder, Location loc, Value exponent) const;
  /// Has `tiled`, a tile of the stream's weights, compute them with `offsets`
  /// and, where rows have their own, `factors`.
  void rewrite(RewriterBase &rewriter, linalg::GenericOp tiled, Value offsets,
               Value factors) const;

private:
  float getFarFactor() const;

  WeightPowers(const ChainStream &stream, float factor)
      : stream(&stream), factor(factor) {}

  const ChainStream *stream;
  float factor;
};

/// In the body of an operation on rows: the power that the reference `before`
/// has by that of `now`, of which `offset` is the offset.
Value makePowerOf(OpBuilder &builder, Location loc, const WeightPowers &powers,
                  Value before, Value now, Value offset);

/// In the body of an operation on rows: the weight that the reference `before`
/// has by that of `now`, a power of two if there are `powers`.
Value makeWeightOf(OpBuilder &builder, Location loc, const ChainStream &stream,
                   const std::optional<WeightPowers> &powers, Value before,
                   Value now);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_WEIGHTPOWERS_H
