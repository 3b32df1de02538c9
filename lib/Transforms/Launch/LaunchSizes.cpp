//===- LaunchSizes.cpp - Sizes that are known at the launch ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSizes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if `value` is an argument of `kernel`, or comes from around it.
static bool isGivenAtLaunch(Value value, Operation *kernel) {
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel)) {
    if (!launch.getBody().isAncestor(value.getParentRegion()))
      return true;
    gpu::KernelDim3 block = launch.getBlockSize(), grid = launch.getGridSize();
    return llvm::is_contained(
        {block.x, block.y, block.z, grid.x, grid.y, grid.z}, value);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = cast<gpu::GPUFuncOp>(kernel);
  return argument && argument.getOwner() == &function.front() &&
         argument.getArgNumber() < function.getNumArguments();
}

/// Calls `visit` for each value that `sizes` depend on and that is given at the
/// launch; false if they depend on others.
static bool walkGivenValues(ValueRange sizes, Operation *kernel,
                            function_ref<void(Value)> visit) {
  // Expressions of sizes are small; larger ones are not worth the stack.
  constexpr unsigned kMaxValues = 64;
  SetVector<Value> worklist(sizes.begin(), sizes.end());
  for (unsigned i = 0; i < worklist.size(); ++i) {
    Value value = worklist[i];
    Operation *op = value.getDefiningOp();
    bool isGiven = isGivenAtLaunch(value, kernel);
    bool isExtentOf = isGiven && isa<MemRefType>(value.getType());
    if (worklist.size() > kMaxValues ||
        !(value.getType().isIntOrIndex() || isExtentOf))
      return false;
    if (isGiven || isa_and_nonnull<gpu::BlockDimOp, gpu::GridDimOp>(op)) {
      visit(value);
      continue;
    }
    bool isPlain = op && (isPure(op) || isa<memref::DimOp>(op));
    if (!isPlain || op->getNumRegions() != 0 || op->getNumResults() != 1 ||
        isa<gpu::GPUDialect>(op->getDialect()))
      return false;
    worklist.insert_range(op->getOperands());
  }
  return true;
}

bool areKnownAtLaunch(ValueRange sizes, Operation *kernel) {
  return walkGivenValues(sizes, kernel, [](Value) {});
}

static Value getDimension(gpu::KernelDim3 sizes, gpu::Dimension dimension) {
  switch (dimension) {
  case gpu::Dimension::x:
    return sizes.x;
  case gpu::Dimension::y:
    return sizes.y;
  case gpu::Dimension::z:
    return sizes.z;
  }
  llvm_unreachable("unknown dimension");
}

/// The value of `value` at `launch`, an operation that launches the kernel.
template <typename LaunchOpTy>
static Value getValueAtLaunch(Value value, LaunchOpTy launch) {
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues(),
                  grid = launch.getGridSizeOperandValues();
  Operation *op = value.getDefiningOp();
  if (auto size = dyn_cast_or_null<gpu::BlockDimOp>(op))
    return getDimension(block, size.getDimension());
  if (auto size = dyn_cast_or_null<gpu::GridDimOp>(op))
    return getDimension(grid, size.getDimension());
  if constexpr (std::is_same_v<LaunchOpTy, gpu::LaunchOp>) {
    gpu::KernelDim3 blockArgs = launch.getBlockSize(),
                    gridArgs = launch.getGridSize();
    for (auto [argument, operand] :
         {std::pair(blockArgs.x, block.x), std::pair(blockArgs.y, block.y),
          std::pair(blockArgs.z, block.z), std::pair(gridArgs.x, grid.x),
          std::pair(gridArgs.y, grid.y), std::pair(gridArgs.z, grid.z)})
      if (value == argument)
        return operand;
    return value; // from around the launch
  } else {
    return launch.getKernelOperand(cast<BlockArgument>(value).getArgNumber());
  }
}

void mapSizes(ValueRange sizes, Operation *kernel, Operation *launch,
              IRMapping &mapping) {
  walkGivenValues(sizes, kernel, [&](Value value) {
    if (auto op = dyn_cast_or_null<gpu::LaunchOp>(launch))
      mapping.map(value, getValueAtLaunch(value, op));
    else if (auto op = dyn_cast_or_null<gpu::LaunchFuncOp>(launch))
      mapping.map(value, getValueAtLaunch(value, op));
    else if (!isa_and_nonnull<gpu::GPUDialect>(
                 value.getDefiningOp() ? value.getDefiningOp()->getDialect()
                                       : nullptr))
      mapping.map(value, value);
  });
}

Value rebuildSize(Value size, IRMapping &mapping, OpBuilder &builder) {
  if (Value done = mapping.lookupOrNull(size))
    return done;
  Operation *op = size.getDefiningOp();
  for (Value operand : op->getOperands())
    rebuildSize(operand, mapping, builder);
  builder.clone(*op, mapping);
  return mapping.lookup(size);
}

} // namespace mlir::workgroup
