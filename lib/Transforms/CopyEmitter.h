//===- CopyEmitter.h - Loads and stores of one copy -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns one copy into loads and stores. Filling a memref is the copy of a value
// that needs no load. The copy is first brought into a simple
// form: extents that are constant become static, dimensions are ordered so that
// consecutive accesses touch consecutive memory, and dimensions that are
// contiguous on both sides are merged. Then the width of the accesses is
// chosen, and the copy is emitted for the whole block or for one thread.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPYEMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_COPYEMITTER_H

#include "TensorCopies.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms.h"

namespace mlir::workgroup {

/// A copy between two ranked, strided memrefs of equal shape in device code, or
/// the filling of one.
struct Copy {
  Operation *op;
  /// The target again if it is filled.
  Value source;
  Value target;
  /// What becomes of an element on its way: the region of a `linalg.copy`; null
  /// if nothing.
  Region *payload = nullptr;
  /// What the target is filled with; null if the source is copied.
  Value filling = nullptr;
  /// Done once by all threads of the block, instead of whole by each thread.
  bool isCooperative = false;
  /// The target may be larger than the source, and gets zeros there; what
  /// becomes of elements is nothing then.
  bool isPadded = false;
  /// To be done by cp.async if the width of accesses allows.
  bool mayBeAsync = false;
  /// To be done by TMA if all that it asks for is proved.
  bool mayBeTensor = false;
  /// How TMA does it; nothing if it does not.
  std::optional<TensorCopy> tensor = std::nullopt;
};

/// What was emitted for a copy.
struct EmittedCopy {
  /// Bytes per access to the wider side.
  int64_t accessBytes = 0;
  /// Bytes per access that all but what is said next would allow.
  int64_t possibleBytes = 0;
  /// Whose alignment is not known well enough for them; empty if it is.
  StringRef unaligned;
  /// What begins where no alignment of its buffer would help; empty if there is
  /// nothing like that, or alignment stands in the way of less.
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

/// True if cp.async does `copy`, or all but a rest of it. Creates views at the
/// insertion point.
bool isAsyncCopy(RewriterBase &rewriter, const Copy &copy,
                 AlignmentAnalysis &alignment,
                 const LowerCopiesOptions &options);

/// Emits the loads and stores of `copy` before its op, which is left in place.
EmittedCopy emitCopy(RewriterBase &rewriter, const Copy &copy,
                     AlignmentAnalysis &alignment,
                     const LowerCopiesOptions &options);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPYEMITTER_H
