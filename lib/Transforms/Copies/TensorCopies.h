//===- TensorCopies.h - Copies of tiles by TMA ------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA, the tensor memory accelerator of sm_90 and later, copies a box of a
// tensor in global memory to a contiguous buffer in workgroup memory. One
// thread asks for it; an mbarrier counts the bytes that have arrived. A copy
// that is too long along a dimension for one box is several loads.
//
// This decides whether a copy can be done so, and whether one back, from a tile
// to the tensor. Who copies when, and who waits, is for the caller.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORCOPIES_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORCOPIES_H

#include "TensorMaps.h"
#include "workgroup/IR/Workgroup.h"
#include <string>

namespace mlir::workgroup {

/// The alignment in bytes of what TMA writes without a swizzle.
constexpr int64_t kTensorCopyAlignment = 128;

/// A copy of a tile that TMA can do. Dimensions are those of the tensor map,
/// outermost first.
struct TensorCopy {
  /// The memref in the kernel that the map describes.
  Value tensor;
  /// The dimensions of `tensor` that the map has.
  SmallVector<unsigned> dims;
  /// The place in the tensor where the tile begins: per dimension, the terms
  /// that add up to it. May be changed, say, to the place of the tile of
  /// another iteration of a loop.
  SmallVector<SmallVector<OpFoldResult, 2>> offsets;
  /// The extents of the tile, and of the part of it that one load brings.
  SmallVector<int64_t> extents, box;
  /// The size of the source, which may have less than the tile; null where it
  /// is the whole tensor.
  SmallVector<OpFoldResult> sizes;
  /// The shape of source and target.
  SmallVector<int64_t> shape;
  /// The bytes of the whole tile, which an mbarrier is to expect.
  int64_t bytes = 0;
  /// Where the target, its storage, has the elements of the tile; null if they
  /// are row by row.
  TileLayoutAttr layout = {};

  int64_t getNumLoads() const;
  /// The bytes of rows that are swizzled; 0 if none are.
  int64_t getSwizzleBytes() const;
  /// The alignment in bytes that the target needs.
  int64_t getAlignment() const;
};

/// The reason against TMA if `writer` may have written a source before.
std::string getProxyObstacle(Operation *writer);

/// The copy from `source` to `target`, ranked and strided memrefs of equal
/// shape in a kernel, by TMA. Nothing, and the reason in `obstacle`, if it
/// cannot be done so. `alignment` has to assume `kTensorCopyAlignment` of
/// workgroup buffers. Whether threads agree on the operands is for the caller
/// to know. With `layout`, a swizzle of the hardware, `target` is a tile that
/// gets that layout, or the storage of one. It may have more elements than
/// `source`; whether TMA writes zeros there, `getClippingObstacle` tells.
std::optional<TensorCopy> matchTensorCopy(Value source, Value target,
                                          const TensorMaps &maps,
                                          AlignmentAnalysis &alignment,
                                          std::string &obstacle,
                                          TileLayoutAttr layout = {});

/// The same of the store of `tile`, a type of a shape and elements, which gets
/// `layout`, to `target`, of which it may have more elements than there are.
std::optional<TensorCopy> matchTensorStore(Value target, MemRefType tile,
                                           const TensorMaps &maps,
                                           AlignmentAnalysis &alignment,
                                           std::string &obstacle,
                                           TileLayoutAttr layout);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORCOPIES_H
