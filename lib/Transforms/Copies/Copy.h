//===- Copy.h - A copy in a kernel ------------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is copied, by whom, and by which engine.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_COPY_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_COPY_H

#include "TensorCopies.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

/// A copy between two ranked, strided memrefs of equal shape in device code,
/// the filling of one, or the gathering of a tile's elements.
struct Copy {
  Operation *op;
  /// The target again if it is filled.
  Value source;
  Value target;
  /// The computation on each element that is copied: the region of a
  /// `linalg.copy`; null if there is none.
  Region *payload = nullptr;
  /// The value that the target is filled with; null if the source is copied.
  Value filling = nullptr;
  /// What finds the elements in the source, which has any shape then; null if
  /// they are in the same places.
  GatherOp gather = nullptr;
  /// Done once by all threads of the block, instead of whole by each thread.
  bool isCooperative = false;
  /// The source may lack elements of the target, which gets zeros there; what
  /// becomes of elements is nothing then.
  bool isPadded = false;
  /// To be done by cp.async if the width of accesses allows.
  bool mayBeAsync = false;
  /// To be done by TMA if all that it asks for is proved.
  bool mayBeTensor = false;
  /// The copy as TMA does it; nothing if it does not.
  std::optional<TensorCopy> tensor = std::nullopt;
};

/// `op` as a copy, of which it is not decided who does it.
Copy makeGather(GatherOp op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_COPY_H
