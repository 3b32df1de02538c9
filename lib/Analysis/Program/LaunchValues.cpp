//===- LaunchValues.cpp - Ids and sizes that kernels ask for --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchValues.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

std::optional<LaunchValue> getLaunchValue(Operation *op) {
  using Kind = LaunchValue::Kind;
  using Result = std::optional<LaunchValue>;
  if (!op)
    return std::nullopt;
  auto ofGpu = [](Kind kind) {
    return [kind](auto id) -> Result {
      return LaunchValue{kind, static_cast<unsigned>(id.getDimension())};
    };
  };
  auto along = [](Kind kind, unsigned dim) {
    return [=](auto) -> Result { return LaunchValue{kind, dim}; };
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<gpu::ThreadIdOp>(ofGpu(Kind::ThreadId))
      .Case<gpu::BlockIdOp>(ofGpu(Kind::BlockId))
      .Case<gpu::BlockDimOp>(ofGpu(Kind::BlockSize))
      .Case<gpu::GridDimOp>(ofGpu(Kind::GridSize))
      .Case<NVVM::ThreadIdXOp>(along(Kind::ThreadId, 0))
      .Case<NVVM::ThreadIdYOp>(along(Kind::ThreadId, 1))
      .Case<NVVM::ThreadIdZOp>(along(Kind::ThreadId, 2))
      .Case<NVVM::BlockIdXOp>(along(Kind::BlockId, 0))
      .Case<NVVM::BlockIdYOp>(along(Kind::BlockId, 1))
      .Case<NVVM::BlockIdZOp>(along(Kind::BlockId, 2))
      .Case<NVVM::BlockDimXOp>(along(Kind::BlockSize, 0))
      .Case<NVVM::BlockDimYOp>(along(Kind::BlockSize, 1))
      .Case<NVVM::BlockDimZOp>(along(Kind::BlockSize, 2))
      .Case<NVVM::GridDimXOp>(along(Kind::GridSize, 0))
      .Case<NVVM::GridDimYOp>(along(Kind::GridSize, 1))
      .Case<NVVM::GridDimZOp>(along(Kind::GridSize, 2))
      .Default([](Operation *) { return std::nullopt; });
}

bool isLaneId(Operation *op) {
  return isa_and_nonnull<gpu::LaneIdOp, NVVM::LaneIdOp>(op);
}

bool isOfWholeBlock(Operation *op) {
  if (std::optional<LaunchValue> value = getLaunchValue(op))
    return value->kind != LaunchValue::ThreadId;
  return isa_and_nonnull<
      gpu::ClusterIdOp, gpu::ClusterDimOp, gpu::ClusterBlockIdOp,
      gpu::ClusterDimBlocksOp, gpu::NumSubgroupsOp, gpu::SubgroupSizeOp,
      gpu::DynamicSharedMemoryOp, NVVM::ClusterIdXOp, NVVM::ClusterIdYOp,
      NVVM::ClusterIdZOp, NVVM::ClusterDimXOp, NVVM::ClusterDimYOp,
      NVVM::ClusterDimZOp, NVVM::BlockInClusterIdXOp, NVVM::BlockInClusterIdYOp,
      NVVM::BlockInClusterIdZOp, NVVM::ClusterDimBlocksXOp,
      NVVM::ClusterDimBlocksYOp, NVVM::ClusterDimBlocksZOp, NVVM::ClusterId,
      NVVM::ClusterDim, NVVM::WarpSizeOp, NVVM::TotalSmemSize,
      NVVM::DynamicSmemSize, NVVM::AggrSmemSize>(op);
}

} // namespace mlir::workgroup
