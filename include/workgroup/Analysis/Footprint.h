//===- Footprint.h - Which memory, and where in it --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What memory a value may point to, and the places in it that an access may
// touch, as affine functions of values.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_FOOTPRINT_H
#define WORKGROUP_ANALYSIS_FOOTPRINT_H

#include "workgroup/Analysis/LinearIndex.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// Memory that is told from other memory: an allocation, an attribution, a
/// `memref.global`, an argument; or, as number 0, whatever is not known.
struct MemoryRoot {
  /// The value of the root; for a global, the first one that finds it.
  /// Null for memory of which nothing is known, and for globals that only
  /// callees know. For tiles in slots of a ring it is the ring; or, if all
  /// tiles are done with before slots are given on, the tile: then accesses to
  /// it in one iteration of the loops around its `put` or `get` have nothing to
  /// do with those in another one.
  Value value;
  Operation *global = nullptr;
  MemorySpace space = MemorySpace::Other;
  /// Made by the kernel or its host, or promised (`llvm.noalias`) to overlap
  /// nothing else: only what the host got from elsewhere may be this.
  bool isDistinct = false;
};

/// The places that an access may touch, in whichever of its roots it is:
/// `place` with a step of each of `box` added, and the `run - 1` units behind
/// it in the last coordinate.
struct AccessFootprint {
  /// The basis of the coordinates. Null: one coordinate, in bytes from where
  /// the root's pointer points to. Else a memref, the same for all threads and
  /// at any time: one coordinate per dimension, in elements. Coordinates of
  /// different bases, or of different roots that may overlap, cannot be
  /// compared (`ThreadAccesses::areComparable`).
  Value basis;
  SmallVector<LinearIndex, 1> coordinates;
  /// A bound that the program promises: 0 <= index < extent.
  struct Bound {
    LinearIndex index;
    OpFoldResult extent;

    bool operator==(const Bound &other) const {
      return index == other.index && extent == other.extent;
    }
  };
  /// `count` places, `stride` units apart in coordinate `coordinate`; `limit`
  /// at most, if that is not 0.
  struct Extent {
    OpFoldResult count;
    int64_t stride = 1;
    unsigned coordinate = 0;
    int64_t limit = 0;
    /// Those at an index that is not below the extent are left out; `index` is
    /// that of the first one.
    std::optional<Bound> clip = std::nullopt;
  };
  SmallVector<Extent, 0> box;
  int64_t run = 1;
  /// What holds if any of it is touched.
  SmallVector<Bound, 0> bounds;
  /// The same of its last elements, if all of them are in bounds: a vector may
  /// leave its row, and what happens then depends on the machine.
  SmallVector<Bound, 0> lastBounds;
  /// Some of it may be left out: by a mask, or as it is out of bounds.
  bool isPartial = false;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_FOOTPRINT_H
