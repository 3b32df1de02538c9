//===- FootprintHulls.h - What all threads touch together -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An unrolled loop over a tile has many accesses, each at a place of its own
// that a thread makes of its ids: of rows, columns, swizzles. What the threads
// touch together by all of them is the tile,
//
//   16384 * slot + 128 * (thread / 8) + 4096 * n + ...   for n = 0 to 3
//     -> 16384 * slot + [0, 16383]
//
// which moves with the iterations of loops and nothing else. Where two tiles
// are apart, so are all accesses to the one from all to the other: one question
// for each two tiles, however often the loop is unrolled.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_FOOTPRINTHULLS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_FOOTPRINTHULLS_H

#include "SymbolicFootprint.h"
#include "ThreadTables.h"

namespace mlir::workgroup {

/// Footprints without the ids of threads that contain those of accesses.
class FootprintHulls {
public:
  /// `getFootprint` gives the footprint of the access of that number; `tables`
  /// may be null.
  FootprintHulls(
      ArrayRef<ThreadAccess> accesses,
      llvm::function_ref<const SymbolicFootprint &(unsigned)> getFootprint,
      SymbolicIndex &index, ThreadTables *tables);

  /// The number of the hull of an access, which contains it whatever threads do
  /// it, in the same iterations of all loops; nothing if no end of it is known.
  std::optional<unsigned> getNumber(unsigned access) const {
    return numbers[access];
  }
  const SymbolicFootprint &get(unsigned hull) const { return hulls[hull]; }
  /// How many accesses have it.
  unsigned getSize(unsigned hull) const { return sizes[hull]; }

private:
  SmallVector<std::optional<unsigned>, 0> numbers;
  SmallVector<unsigned, 0> sizes;
  std::vector<SymbolicFootprint> hulls;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_FOOTPRINTHULLS_H
