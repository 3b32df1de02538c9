//===- TensorSwizzles.cpp - Swizzled destinations of TMA ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a swizzle of S bytes, in which M + 1 chunks of 16 bytes have room, the
// chunk at address a is written to a ^ ((a / 128) & M) * 16.
//
//===----------------------------------------------------------------------===//

#include "TensorSwizzles.h"
#include "Transforms/Copies/TensorMaps.h"
#include "Transforms/Copies/TensorSwizzle.h"

namespace mlir::workgroup {

std::optional<RowLayout> getTensorLayout(int64_t rowBytes) {
  if (!getSwizzleKind(rowBytes))
    return std::nullopt;
  RowLayout layout;
  layout.chunkBytes = kSwizzleChunkBytes;
  layout.period = rowBytes / kSwizzleChunkBytes;
  layout.rowsPerStep = kPassBytes / rowBytes;
  return layout;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

static bool isMadeByHost(Value map) {
  return map.getDefiningOp<nvgpu::TmaCreateDescriptorOp>();
}

StringRef getSwizzleObstacle(ArrayRef<nvgpu::TmaAsyncLoadOp> loads,
                             Operation *root) {
  std::optional<LaunchSites> sites;
  DenseSet<Value> seen;
  for (nvgpu::TmaAsyncLoadOp load : loads) {
    auto map = load.getTensorMapDescriptor();
    if (!seen.insert(map).second)
      continue;
    if (map.getType().getSwizzle() != nvgpu::TensorMapSwizzleKind::SWIZZLE_NONE)
      return "TMA swizzles its rows already";
    gpu::GPUFuncOp kernel = getKernelOfArgument(map);
    if (!kernel && (!isMadeByHost(map) ||
                    !root->isAncestor(map.getDefiningOp()->getParentOp())))
      return "it is not known who makes the tensor map of TMA";
    if (!kernel)
      continue;
    if (!sites)
      sites = collectLaunchSites(root);
    SmallVector<gpu::LaunchFuncOp, 1> launches = sites->lookup(kernel);
    if (launches.empty() || !isa<ModuleOp>(root) ||
        !llvm::all_of(getOperands(launches, map), isMadeByHost))
      return "it is not known who makes the tensor map of TMA";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// The map that `map` is, made by the host, but of type `type`.
static Value remakeMap(RewriterBase &rewriter, Value map, Type type) {
  auto made = map.getDefiningOp<nvgpu::TmaCreateDescriptorOp>();
  for (Operation *user : made.getTensor().getUsers())
    if (auto known = dyn_cast<nvgpu::TmaCreateDescriptorOp>(user))
      if (known.getType() == type && known->getBlock() == made->getBlock() &&
          llvm::equal(known.getBoxDimensions(), made.getBoxDimensions()) &&
          !made->isBeforeInBlock(known))
        return known;
  rewriter.setInsertionPoint(made);
  Operation *copy = rewriter.clone(*made);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

static void replaceMap(RewriterBase &rewriter, OpOperand &use, Type type) {
  Value before = use.get();
  Value after = remakeMap(rewriter, before, type);
  rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(after); });
  if (before.use_empty())
    rewriter.eraseOp(before.getDefiningOp());
}

/// Lets `kernel` take a map of type `type` as well as, as an argument of its
/// own, the map `map`.
static Value addArgument(RewriterBase &rewriter, gpu::GPUFuncOp kernel,
                         BlockArgument map, Type type,
                         ArrayRef<gpu::LaunchFuncOp> launches) {
  for (gpu::LaunchFuncOp launch : launches) {
    Value operand = launch.getKernelOperand(map.getArgNumber());
    launch.getKernelOperandsMutable().append(
        remakeMap(rewriter, operand, type));
  }
  return appendArgument(kernel, type, map.getLoc());
}

/// Lets `kernel` take a map of type `type` as its argument `map`.
static void setArgumentType(RewriterBase &rewriter, gpu::GPUFuncOp kernel,
                            BlockArgument map, Type type,
                            ArrayRef<gpu::LaunchFuncOp> launches) {
  unsigned number = map.getArgNumber();
  rewriter.modifyOpInPlace(kernel, [&] {
    map.setType(type);
    SmallVector<Type> types(kernel.getArgumentTypes());
    types[number] = type;
    kernel.setFunctionType(
        rewriter.getFunctionType(types, kernel.getFunctionType().getResults()));
  });
  for (gpu::LaunchFuncOp launch : launches)
    replaceMap(rewriter, launch.getKernelOperandsMutable()[number], type);
}

void swizzleLoads(RewriterBase &rewriter, ArrayRef<nvgpu::TmaAsyncLoadOp> loads,
                  int64_t rowBytes, Operation *root) {
  llvm::MapVector<Value, SmallVector<nvgpu::TmaAsyncLoadOp, 1>> loadsOfMaps;
  for (nvgpu::TmaAsyncLoadOp load : loads)
    loadsOfMaps[load.getTensorMapDescriptor()].push_back(load);
  for (auto &[value, users] : loadsOfMaps) {
    auto map = cast<TypedValue<nvgpu::TensorMapDescriptorType>>(value);
    nvgpu::TensorMapDescriptorType type = map.getType();
    auto swizzled = nvgpu::TensorMapDescriptorType::get(
        type.getContext(), type.getTensor(), *getSwizzleKind(rowBytes),
        type.getL2promo(), type.getOob(), type.getInterleave());
    gpu::GPUFuncOp kernel = getKernelOfArgument(map);
    SmallVector<gpu::LaunchFuncOp, 1> launches;
    if (kernel)
      launches = collectLaunchSites(root).lookup(kernel);
    bool hasOthers = !llvm::hasNItems(map.getUses(), users.size());
    if (kernel && !hasOthers) {
      setArgumentType(rewriter, kernel, cast<BlockArgument>(map), swizzled,
                      launches);
      continue;
    }
    Value own = kernel ? addArgument(rewriter, kernel, cast<BlockArgument>(map),
                                     swizzled, launches)
                       : remakeMap(rewriter, map, swizzled);
    for (nvgpu::TmaAsyncLoadOp load : users)
      rewriter.modifyOpInPlace(
          load, [&] { load.getTensorMapDescriptorMutable().assign(own); });
    if (map.use_empty())
      rewriter.eraseOp(map.getDefiningOp());
  }
}

} // namespace mlir::workgroup
