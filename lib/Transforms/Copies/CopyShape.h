//===- CopyShape.h - The simple form of a copy ------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy of any rank between any strided layouts, as few dimensions with as
// much known of them as possible: extents that are constant become static,
// dimensions of extent one go, the rest is ordered so that consecutive accesses
// touch consecutive memory, and dimensions that are contiguous on both sides
// merge.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_COPYSHAPE_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_COPYSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace mlir::workgroup {

/// The source and the target of a copy.
struct CopyOperands {
  Value source, target;
};

/// The memrefs of `op` if it is a `memref.copy` or `linalg.copy`.
std::optional<CopyOperands> getCopyOperands(Operation *op);

/// Two memrefs of equal shape, and that shape, outermost dimension first.
struct CopyShape {
  CopyShape() = default;
  CopyShape(Value source, Value target, ArrayRef<OpFoldResult> extents)
      : source(source), target(target),
        sourceType(cast<MemRefType>(source.getType())),
        targetType(cast<MemRefType>(target.getType())), extents(extents) {}

  Value source, target;
  /// The types of the two memrefs; or of views of them, if none were made.
  MemRefType sourceType, targetType;
  SmallVector<OpFoldResult> extents;

  /// True if there is nothing to copy.
  bool isEmpty() const;
};

/// The simple form of a copy from `source` to `target`, both ranked and
/// strided. The dimension that is contiguous in the target comes last if
/// `followTarget`, else the one that is contiguous in the source. Creates views
/// only; nothing for memrefs of static shape if not `makesViews`: then types
/// and extents say what the views would be.
CopyShape simplifyCopy(RewriterBase &rewriter, Location loc, Value source,
                       Value target, bool followTarget, bool makesViews = true);

/// The reason why `source` cannot be copied to `target`, two ranked and strided
/// memrefs, because of their shapes; empty if it can.
StringRef getShapeObstacle(Value source, Value target);

/// True if `value`, a scalar, is a zero whose bytes are zero.
bool isZero(Value value);

/// The reason why what `source` has too few elements of `tile` cannot be filled
/// with zeros by the copy itself; empty if it can.
StringRef getPaddingObstacle(MemRefType source, MemRefType tile);

/// The extents that `source` and `target`, memrefs of equal shape, are known to
/// have; dynamic where they are not.
SmallVector<int64_t> getConstantExtents(Value source, Value target);

/// `memref` cast to the extents `shape`, which are known of it.
Value castToShape(RewriterBase &rewriter, Location loc, Value memref,
                  ArrayRef<int64_t> shape);

/// `memref`, in workgroup memory, in a spelling of it that NVGPU operations
/// take.
Value respellWorkgroupMemory(RewriterBase &rewriter, Location loc,
                             Value memref);

/// The strides of `type`, which is strided; dynamic ones as such.
SmallVector<int64_t> getStrides(MemRefType type);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_COPYSHAPE_H
