//===- ProductEmitter.h - The products that a thread adds up ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The innermost code of a lowered contraction: products of elements of its
// operands, added to what a thread has of the result in registers. Of `sum[i,
// j] += f(lhs[i, k]) * rhs[k, j]` the elements of `lhs` are loaded, and `f` is
// done, once for each row of the thread; those of `rhs` are vectors along the
// thread's columns.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PRODUCTEMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PRODUCTEMITTER_H

#include "ContractionPart.h"
#include "ProductBody.h"

namespace mlir::workgroup {

/// Emits the products of one thread.
class ProductEmitter {
public:
  explicit ProductEmitter(ContractionPart &part)
      : part(part), contraction(part.contraction), tile(part.tile),
        rewriter(part.rewriter), loc(part.loc), index(part.index),
        body(contraction) {}

  /// The result `sums` with the products of the tile's operands added.
  SmallVector<Value> multiply(ValueRange sums);

private:
  struct Factor;
  Factor makeFactor(OpOperand *operand, const LoopGroup &group, int64_t run);
  SmallVector<Value> getIndices(const Factor &factor, int64_t at, int64_t k);
  Value load(const Factor &factor, int64_t at, int64_t k, int64_t length);
  Value getElement(Factor &factor, int64_t at, int64_t k);
  Value getVector(Factor &factor, int64_t at, int64_t k);
  void apply(ArrayRef<Operation *> ops, IRMapping &mapping, int64_t length);
  Value fuse(IRMapping &mapping, Value sum);
  int64_t getUnrolling();
  SmallVector<Value> multiplySteps(ValueRange sums, Value first,
                                   int64_t numSteps);

  ContractionPart &part;
  Contraction &contraction;
  const ThreadTile &tile;
  RewriterBase &rewriter;
  const Location loc;
  IndexBuilder &index;

  ProductBody body;
  /// Values of the body that are the same for all elements.
  IRMapping constants;
  /// The first of the steps that are emitted.
  Value firstStep;
  /// Factors of one step as vectors, which all products share.
  DenseMap<Value, Value> widened;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_PRODUCTEMITTER_H
