//===- MappedLoops.h - What runs of loops that upstream maps ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's transform operations replace the induction variables of a mapped
// `scf.forall` by ids, and put a condition around its body where fewer threads
// are wanted than there are. For a block of known size it can be told thread by
// thread which iterations that runs.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CHECKS_MAPPEDLOOPS_H
#define WORKGROUP_LIB_TRANSFORMS_CHECKS_MAPPEDLOOPS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <array>
#include <optional>

namespace mlir::workgroup {

/// The product of `sizes`, saturating.
int64_t multiply(ArrayRef<int64_t> sizes);

/// The iterations of a loop, by its induction variables.
using Iteration = SmallVector<int64_t, 3>;

/// A loop as upstream maps it to threads, warps, lanes or blocks.
class MappedLoop {
public:
  /// Nothing if upstream refuses the loop whatever the processors are.
  static std::optional<MappedLoop> get(scf::ForallOp loop, int64_t warpSize);

  /// The iterations that there are along each dimension.
  ArrayRef<int64_t> getExtents() const { return extents; }
  /// The number of processors that are wanted along each dimension of the
  /// mapping, those that the loop leaves out included, in the order of the
  /// dimensions.
  ArrayRef<int64_t> getSizes() const { return sizes; }
  bool isOfLanes() const { return kind == Kind::Lanes; }
  bool isOfBlocks() const { return kind == Kind::Blocks; }
  bool isMasked() const { return mask.has_value(); }

  /// The iteration that the thread or block `ids` of a box of `shape` runs; as
  /// the mapped code has it, which may be none of the loop. Nothing if it runs
  /// none. If not `isPredicated`, there are no conditions.
  std::optional<Iteration> getIteration(const std::array<int64_t, 3> &ids,
                                        const std::array<int64_t, 3> &shape,
                                        bool isPredicated = true) const;

private:
  enum class Kind { Blocks, Warpgroups, Warps, Threads, Lanes };

  bool setKind(scf::ForallOp loop);
  bool setSizes(scf::ForallOp loop);
  int64_t getMultiplicity() const;
  Iteration delinearize(int64_t id) const;
  Iteration pick(ArrayRef<int64_t> ids) const;

  Kind kind = Kind::Threads;
  bool isLinear = false;
  int64_t warpSize = 32;
  std::optional<uint64_t> mask;
  SmallVector<int64_t, 3> extents, sizes;
  /// Which of the ids each induction variable is.
  SmallVector<int64_t, 3> places;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CHECKS_MAPPEDLOOPS_H
