//===- ContractionShape.h - What a contraction multiplies -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One description of all contractions, whatever their names, the order of their
// dimensions, and the types that their bodies convert.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONSHAPE_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONSHAPE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::workgroup {

/// Loops that one number counts through, the last one fastest.
struct LoopGroup {
  SmallVector<unsigned> loops = {};
  SmallVector<int64_t> sizes = {};

  bool empty() const { return loops.empty(); }
  int64_t getSize() const { return llvm::product_of(sizes); }
  int64_t getLastSize() const { return sizes.empty() ? 1 : sizes.back(); }
  /// The place of `loop` in the group, if it is there.
  std::optional<unsigned> find(unsigned loop) const;
};

/// Element (row, column) of the result is a sum, in the sense of the body, of
/// what it makes of elements (row, sum) of one operand and (sum, column) of the
/// other.
struct Contraction {
  linalg::LinalgOp op;
  /// The operand of the rows, and that of the columns.
  OpOperand *lhs = nullptr, *rhs = nullptr;
  /// Loops of more than one iteration. The last column is the dimension that
  /// goes fastest in the result.
  LoopGroup rows = {}, columns = {}, sums = {};
  /// The operation of the body that adds to the result.
  Operation *combiner = nullptr;
  /// True if products of zeros change nothing.
  bool isZeroNeutral = false;

  OpOperand *getResult() { return op.getDpsInitOperand(0); }
  AffineMap getMap(OpOperand *operand) {
    return op.getMatchingIndexingMap(operand);
  }
  /// The number of the loop that result `i` of `map` is.
  static unsigned getLoop(AffineMap map, unsigned i) {
    return map.getDimPosition(i);
  }
};

/// Finds what adds to the result of `contraction`, the op and the operands of
/// which are given. Returns why the body is none of a contraction, or empty.
std::string describeBody(Contraction &contraction);

/// Fills in `contraction`, the op of which is given, for loops of `sizes`
/// iterations. Returns the reason why it cannot be shared out to threads, or
/// empty.
std::string describe(Contraction &contraction, ArrayRef<int64_t> sizes);

/// The reason why `op`, in the body of a structured operation, cannot be done
/// on vectors, or empty.
std::string getElementwiseObstacle(Operation *op);

/// True if vectors of `type` have the layout that its elements have in memory.
bool isDenseElement(Type type);

/// True if `op` computes each element of its results, in parallel loops, from
/// the corresponding ones of its inputs: by projected permutations, and by a
/// body that can be done on vectors. Operands that are `kept`, if that is
/// given, are in registers, and may have elements of one bit.
bool isPointwise(linalg::LinalgOp op,
                 function_ref<bool(OpOperand &)> kept = nullptr);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_CONTRACTIONSHAPE_H
