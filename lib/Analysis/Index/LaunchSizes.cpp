//===- LaunchSizes.cpp - What is known of a block and of its grid ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of a kernel, and of what it calls, by the ids that they ask
// for.
//
//===----------------------------------------------------------------------===//

#include "LaunchSizes.h"
#include "Analysis/Integers/Interval.h"
#include "Analysis/Program/LaunchValues.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

namespace {
/// Along which dimensions a kernel asks for ids of threads or blocks, or for
/// numbers of them.
struct AskedIds {
  std::array<bool, 3> ofThreads = {}, ofBlocks = {};
  /// Nothing may ask for more.
  bool areAll = true;
};
} // namespace

/// True if threads may learn from `op` who of all they are, in a way that says
/// nothing of dimensions: by special registers, by assembly.
static bool tellsApart(Operation *op) {
  return getOpKind(op) == OpKind::Assembly ||
         isa<LLVM::CallIntrinsicOp, gpu::ClusterIdOp, gpu::ClusterBlockIdOp,
             gpu::ClusterDimOp, gpu::ClusterDimBlocksOp, gpu::SubgroupIdOp,
             gpu::NumSubgroupsOp>(op) ||
         op->getName().getStringRef().starts_with("nvvm.read.ptx.sreg.");
}

/// Adds what `scope`, and what it calls, asks for.
static void addAsked(Operation *scope, AskedIds &asked,
                     DenseSet<Operation *> &visited) {
  auto ofThreads = [&](unsigned dim) { asked.ofThreads[dim] = true; };
  auto ofBlocks = [&](unsigned dim) { asked.ofBlocks[dim] = true; };
  scope->walk([&](Operation *op) {
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      Operation *callee = call.resolveCallable();
      bool isBody = callee && getBody(callee);
      asked.areAll &= isBody;
      if (isBody && visited.insert(callee).second)
        addAsked(callee, asked, visited);
    }
    if (std::optional<LaunchValue> value = getLaunchValue(op)) {
      bool isOfThreads = value->kind == LaunchValue::ThreadId ||
                         value->kind == LaunchValue::BlockSize;
      (isOfThreads ? asked.ofThreads : asked.ofBlocks)[value->dim] = true;
      return;
    }
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](gpu::GlobalIdOp id) {
          ofThreads(unsigned(id.getDimension()));
          ofBlocks(unsigned(id.getDimension()));
        })
        // Blocks may draw numbers.
        .Case<memref::AtomicRMWOp, memref::GenericAtomicRMWOp,
              LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>([&](auto atomic) {
          if (!atomic->use_empty())
            ofBlocks(0);
        })
        .Case<gpu::LaneIdOp, NVVM::LaneIdOp, NVVM::WarpSizeOp>([](auto) {})
        .Default([&](Operation *other) { asked.areAll &= !tellsApart(other); });
  });
}

/// What launches pass for a size; nothing if that is not known.
static Interval getPassed(ArrayRef<gpu::LaunchFuncOp> launches,
                          function_ref<Value(gpu::LaunchFuncOp)> get) {
  Interval passed;
  for (gpu::LaunchFuncOp launch : launches) {
    std::optional<int64_t> size = getConstantIntValue(get(launch));
    if (!size || *size < 1)
      return {};
    passed.min = std::min(passed.min.value_or(*size), *size);
    passed.max = std::max(passed.max.value_or(*size), *size);
  }
  return passed;
}

/// Adds what launches in sight pass along `dim`.
void LaunchSizes::addLaunched(ArrayRef<gpu::LaunchFuncOp> launches,
                              unsigned dim) {
  auto select = [dim](gpu::KernelDim3 sizes) {
    return std::array{sizes.x, sizes.y, sizes.z}[dim];
  };
  auto add = [](const Interval &passed, std::optional<int64_t> &size,
                std::optional<int64_t> &most) {
    if (!size && passed.min == passed.max)
      size = passed.max;
    most = size ? size : passed.max;
  };
  add(getPassed(launches,
                [&](gpu::LaunchFuncOp launch) {
                  return select(launch.getBlockSizeOperandValues());
                }),
      shape.sizes[dim], mostThreads[dim]);
  add(getPassed(launches,
                [&](gpu::LaunchFuncOp launch) {
                  return select(launch.getGridSizeOperandValues());
                }),
      grid[dim], mostBlocks[dim]);
}

LaunchSizes::LaunchSizes(Operation *scope, const ArgumentAliases &arguments)
    : shape(getBlockShape(scope)), grid(getGridSizes(scope)) {
  if (!isKernel(scope))
    return;
  ArrayRef<gpu::LaunchFuncOp> launches = arguments.getLaunches(scope);
  for (unsigned dim = 0; dim < 3 && !launches.empty(); ++dim)
    addLaunched(launches, dim);
  // Whose launches are not in sight has not what it never asks for: threads, or
  // blocks, that differ only in that would all do the same.
  AskedIds asked;
  DenseSet<Operation *> visited = {scope};
  addAsked(scope, asked, visited);
  if (!asked.areAll || !launches.empty() || isa<gpu::LaunchOp>(scope))
    return;
  for (unsigned dim = 0; dim < 3; ++dim) {
    if (dim != 0 && !shape.sizes[dim] && !asked.ofThreads[dim])
      shape.sizes[dim] = 1;
    if (!grid[dim] && !asked.ofBlocks[dim])
      grid[dim] = 1;
  }
}

} // namespace mlir::workgroup
