//===- ProcessorIds.h - Ids of blocks, warps, lanes and threads -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Id and count of blocks, warps, lanes and threads, as values where a builder
// stands, or as constants where the shape of the block or grid is known. Linear
// ids count as the PTX ISA does, x fastest:
//
//   thread = x + size.x * (y + size.y * z)
//   warp = thread / 32, lane = thread mod 32
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LOOPS_PROCESSORIDS_H
#define WORKGROUP_LIB_TRANSFORMS_LOOPS_PROCESSORIDS_H

#include "LoopDistribution.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The kinds of processors that iterations can go to.
enum class ProcessorLevel { Blocks, Warps, Lanes, Threads, Arguments };

/// The processors of a kernel or device function, along x, y or z, or by their
/// linear id: that of x runs fastest. A lane is the linear id of its thread
/// modulo 32, whatever the shape of the block.
class ProcessorGrid {
public:
  explicit ProcessorGrid(Operation *scope)
      : block(getBlockShape(scope)), grid(getGridSizes(scope)) {}

  /// True if there are ids along x, y and z. Lanes have none; warps do where
  /// rows of threads are whole warps.
  bool hasDimensions(ProcessorLevel level) const;
  /// The number of processors, if that is known.
  std::optional<int64_t> getCount(ProcessorLevel level, unsigned dim) const;
  std::optional<int64_t> getLinearCount(ProcessorLevel level) const;

  /// Makes id and number where `builder` stands.
  Processor get(OpBuilder &builder, Location loc, ProcessorLevel level,
                unsigned dim) const;
  Processor getLinear(OpBuilder &builder, Location loc,
                      ProcessorLevel level) const;

  OpFoldResult getId(OpBuilder &builder, Location loc, ProcessorLevel level,
                     unsigned dim) const;

private:
  OpFoldResult makeId(OpBuilder &builder, Location loc, bool isOfGrid,
                      unsigned dim) const;
  OpFoldResult makeCount(OpBuilder &builder, Location loc, bool isOfGrid,
                         unsigned dim) const;
  Processor getAll(OpBuilder &builder, Location loc, bool isOfGrid) const;

  BlockShape block;
  std::array<std::optional<int64_t>, 3> grid;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LOOPS_PROCESSORIDS_H
