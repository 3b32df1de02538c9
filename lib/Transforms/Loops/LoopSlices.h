//===- LoopSlices.h - What iterations of loops use of a buffer --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiling has each iteration of a nest of parallel loops use a slice of a buffer
// or tensor. Where the slice begins is an affine function of the numbers of the
// iterations: in `scf.forall (%i, %j) in (16, 8)` that takes 4x8 elements, it
// is (d0 * 4, d1 * 8). Two nests with the same loops and slices give the same
// elements to the same processors.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LOOPS_LOOPSLICES_H
#define WORKGROUP_LIB_TRANSFORMS_LOOPS_LOOPSLICES_H

#include "ParallelLoops.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::workgroup {

/// Parallel loops one in the other, the outermost first. Others may stand in
/// between.
using LoopNest = SmallVector<ParallelLoop, 2>;

/// The mapped loops around `op` that do not go to blocks, in their kernel.
LoopNest getNestInBlock(Operation *op);

/// A number, or the least of some, as a function of the numbers of iterations
/// (dimensions, counted through the nest) and other values (symbols).
using SliceTerm = SmallVector<AffineExpr, 1>;

/// What an iteration of a nest uses: along each dimension of `whole`, which is
/// defined outside of it, `sizes` elements from `offsets` on.
struct ProcessorSlice {
  Value whole = {};
  SmallVector<SliceTerm> offsets = {}, sizes = {};
};

/// Reads slices. Those that one reader has read have the same symbols.
class SliceReader {
public:
  /// The slice that `view` is, used in the innermost loop of `nest`. Nothing if
  /// that is not known; then `why` tells the reason.
  std::optional<ProcessorSlice> read(Value view, const LoopNest &nest,
                                     std::string &why);
  /// The slice that `slice`, an `OffsetSizeAndStrideOpInterface` in `nest`,
  /// takes of `whole`.
  std::optional<ProcessorSlice> read(Operation *slice, Value whole,
                                     const LoopNest &nest, std::string &why);

private:
  bool addSlice(ProcessorSlice &slice, Operation *op, const LoopNest &nest,
                std::string &why);
  std::optional<SliceTerm> getTerm(OpFoldResult index, const LoopNest &nest,
                                   std::string &why);
  std::optional<AffineExpr> getOperand(Value value, const LoopNest &nest,
                                       std::string &why);

  SmallVector<Value> symbols;
};

/// True if each element of what `slice` is of belongs to one iteration of
/// `nest`.
bool isPartition(const ProcessorSlice &slice, const LoopNest &nest);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LOOPS_LOOPSLICES_H
