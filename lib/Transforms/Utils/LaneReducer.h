//===- LaneReducer.h - Reductions over the lanes of a warp ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp reduces by exchanging registers: lane l takes in the value of lane
// l ^ 1, then of l ^ 2, ... If the block has no thread for some lanes, a lane
// whose partner is missing keeps what it has. That is the result in the first
// lane, whose partners cover all others, and not in the rest. No operation
// needs an identity, and values are combined in the order of their lanes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_LANEREDUCER_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_LANEREDUCER_H

#include "IndexBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if a shuffle moves values of `type` in registers of 32 bits, or in two
/// of them with `isWideToo`.
bool isShuffled(Type type, bool isWideToo);

/// `value`, an integer or float of up to 64 bits, as one that a shuffle moves.
Value toCarrier(OpBuilder &builder, Location loc, Value value);

/// The way back from there to `type`.
Value fromCarrier(OpBuilder &builder, Location loc, Value value, Type type);

/// The combination of two values: a known operation, or else the region of a
/// reduction.
struct Combiner {
  std::optional<gpu::AllReduceOperation> operation;
  Region *body = nullptr;

  Value combine(OpBuilder &builder, Location loc, Value lhs, Value rhs) const;
  /// `lhs` combined with `rhs` where `condition` holds, else `lhs`.
  Value combineIf(OpBuilder &builder, Location loc, Value condition, Value lhs,
                  Value rhs) const;
};

/// The first lanes of a warp, of which all run what is emitted and no others.
struct Lanes {
  /// The number of them, an i32.
  Value count;
  /// The most they can be.
  int64_t maxCount = kWarpSize;
  /// A divisor of their number.
  int64_t divisor = 1;
};

/// The lanes of the warp of thread `id` that a block has threads for.
Lanes getLanesOfWarp(IndexBuilder &index, const BlockShape &block,
                     OpFoldResult id);

/// The first `count` lanes of a warp, `maxCount` at most.
Lanes getFirstLanes(IndexBuilder &index, OpFoldResult count, int64_t maxCount);

/// Lanes that reduce together: `size` of them, each `stride` after the last.
/// Both are powers of two, and no cluster exceeds a warp.
struct Cluster {
  int64_t size = kWarpSize;
  int64_t stride = 1;
};

/// Emits reductions over the clusters of lanes.
class LaneReducer {
public:
  LaneReducer(IndexBuilder &index, const Combiner &combiner, Lanes lanes,
              Cluster cluster = {})
      : index(index), builder(index.builder), loc(index.loc),
        combiner(combiner), lanes(lanes), cluster(cluster) {}

  /// The reduction of `value`, in the first lane of each cluster.
  Value reduceToFirst(Value value);

  /// The reduction of `value`, in all lanes of each cluster; `id` is the
  /// thread's.
  Value reduceToAll(Value value, OpFoldResult id);

private:
  /// The lanes whose values a cluster reduces, and those between them.
  int64_t getSpan() const {
    return std::min(cluster.size * cluster.stride, lanes.maxCount);
  }
  /// True if every cluster has all of its lanes, or the same power of two.
  bool isComplete() const;
  /// The value that a lane has of `value`, and whether there is such a lane.
  std::pair<Value, Value> shuffle(gpu::ShuffleMode mode, Value value,
                                  Value lane);
  Value constant(int64_t value) {
    return index.i32(builder.getIndexAttr(value));
  }

  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  const Combiner &combiner;
  Lanes lanes;
  Cluster cluster;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_LANEREDUCER_H
