//===- CopyEmitter.h - Loads and stores of one copy -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns one copy into loads and stores. Filling a memref is the copy of a
// value that needs no load. The copy is first brought into a simple form:
// extents that are constant become static, dimensions are ordered so that
// consecutive accesses touch consecutive memory, and dimensions that are
// contiguous on both sides are merged. Then the width of the accesses is
// chosen, and the copy is emitted for the whole block or for one thread.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_COPYEMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_COPYEMITTER_H

#include "Copy.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Copies.h"

namespace mlir::workgroup {

/// The accesses that were emitted for a copy.
struct EmittedCopy {
  /// Bytes per access to the wider side.
  int64_t accessBytes = 0;
  /// Bytes per access that would be possible but for the reasons below.
  int64_t possibleBytes = 0;
  /// The operand whose alignment is not known well enough for them; empty if
  /// there is none.
  StringRef unaligned;
  /// The operand that begins where no alignment of its buffer would help; empty
  /// if there is none, or if alignment stands in the way of less.
  StringRef misplaced;
  /// Whether it is done by cp.async, which somebody has to wait for.
  bool isAsync = false;
  /// The copies by cp.async that stand in the block of the op.
  SmallVector<Value> tokens;
};

/// Emits the loads of `copy`, which the block does together, before its op, and
/// the stores before another operation; both under `condition`, if there is
/// one. False, and nothing but views are emitted, if it is better done by
/// cp.async, or is too much for the registers of a thread.
bool emitStagedCopy(RewriterBase &rewriter, const Copy &copy,
                    AlignmentAnalysis &alignment,
                    const LowerCopiesOptions &options, Value condition,
                    Operation *storesBefore);

/// True if cp.async does `copy`, of static shape, or all but a rest of it.
/// Creates nothing.
bool isAsyncCopy(RewriterBase &rewriter, const Copy &copy,
                 AlignmentAnalysis &alignment,
                 const LowerCopiesOptions &options);

/// Emits the loads and stores of `copy` before its op, which is left in place.
EmittedCopy emitCopy(RewriterBase &rewriter, const Copy &copy,
                     AlignmentAnalysis &alignment,
                     const LowerCopiesOptions &options);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_COPYEMITTER_H
