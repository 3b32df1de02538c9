//===- KeptBuffers.h - Tiles that a block keeps -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction may read what the block has made in a buffer of its own. If the
// buffer has room for whole tiles, these need not be copied.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_KEPTBUFFERS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_KEPTBUFFERS_H

#include "ContractionShape.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

class KeptBuffers {
public:
  /// Makes room for a tile of `shape` that begins where `view` does, all of
  /// which is going to be written before `user`. Returns it, or null if the
  /// buffer is none of the block.
  Value makeTile(RewriterBase &rewriter, Value view, ArrayRef<int64_t> shape,
                 Operation *user);

  /// The tile of `shape` that begins where `operand` of `contraction` does,
  /// zero where there is nothing more to sum up; null if it has to be copied.
  /// `root` is the loop over the sums, or the contraction.
  Value findTile(RewriterBase &rewriter, Contraction &contraction,
                 OpOperand *operand, ArrayRef<int64_t> shape, Operation *root);

private:
  /// Those of which whole tiles were written.
  llvm::SmallPtrSet<Operation *, 4> whole;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_KEPTBUFFERS_H
