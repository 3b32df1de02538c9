//===- GroupProductEmitter.h - The products of a warp group -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The innermost code of a contraction that warp groups compute: one operation,
// which reads the tiles where they are.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_GROUPPRODUCTEMITTER_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_GROUPPRODUCTEMITTER_H

#include "ContractionPart.h"
#include "GroupForm.h"

namespace mlir::workgroup {

/// Emits the products of a warp group, of whose warps one has the tile of
/// `part`.
class GroupProductEmitter {
public:
  /// Computes, where the part's rewriter stands, the first row of the group,
  /// which has to dominate all products.
  GroupProductEmitter(ContractionPart &part, const GroupForm &form);

  /// `sums` as the products have them, and back again.
  SmallVector<Value> pack(ValueRange sums);
  SmallVector<Value> unpack(ValueRange packed);
  /// The packed sums with the products of the tiles added, which get their
  /// layouts.
  SmallVector<Value> multiply(ValueRange packed);
  /// The packed sums when the products are done.
  SmallVector<Value> await(ValueRange packed);

private:
  ContractionPart &part;
  const GroupForm form;
  Value row;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_GROUPPRODUCTEMITTER_H
