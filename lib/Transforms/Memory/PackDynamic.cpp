//===- PackDynamic.cpp - Dynamic memory of packed kernels -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of packing that dynamic memory takes. Where the arena is dynamic, or
// a buffer has a size that only the launch knows, the launches ask for more
// bytes, and what the kernel had of dynamic memory moves to make room. Sizes
// are computed at the launch from its operands, and once more in the kernel.
//
//===----------------------------------------------------------------------===//

#include "PackRewriter.h"
#include "Transforms/Launch/LaunchSizes.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/DynamicWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// Gives the kernel, where it takes dynamic memory as a whole, the part that is
/// left to it: what launches have asked for, before the arena or behind it.
void KernelRewriter::confineWindow(gpu::DynamicSharedMemoryOp window) {
  rewriter.setInsertionPointAfter(window);
  Location loc = window.getLoc();
  Value start =
      arith::ConstantIndexOp::create(rewriter, loc, kernel.windowShift);
  SmallPtrSet<Operation *, 2> kept;
  Value size;
  if (kernel.windowAsked) {
    size = arith::ConstantIndexOp::create(rewriter, loc, *kernel.windowAsked);
  } else {
    Value all = memref::DimOp::create(rewriter, loc, window, 0);
    kept.insert(all.getDefiningOp());
    size = arith::SubIOp::create(rewriter, loc, all, start);
  }
  Value part = memref::ViewOp::create(
      rewriter, loc, cast<MemRefType>(window.getType()), window, start, size);
  kept.insert(part.getDefiningOp());
  rewriter.replaceAllUsesExcept(window, part, kept);
}

void KernelRewriter::confineWindows() {
  for (Operation *op : kernel.memory.windows)
    if (auto window = dyn_cast<gpu::DynamicSharedMemoryOp>(op))
      confineWindow(window);
  if (!kernel.windowAsked)
    return;
  // Where it is lowered already, the register says how much there is.
  for (Operation *scope : kernel.ownScopes)
    scope->walk([&](NVVM::DynamicSmemSize size) {
      rewriter.setInsertionPoint(size);
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          size, rewriter.getI32IntegerAttr(*kernel.windowAsked));
    });
}

/// Creates the number of bytes of `alloc`, a multiple of `alignment`, from the
/// values that `mapping` has for what its sizes depend on.
Value KernelRewriter::createRuntimeBytes(Operation *alloc, int64_t alignment,
                                         IRMapping &mapping) {
  Location loc = alloc->getLoc();
  auto type = cast<MemRefType>(alloc->getResult(0).getType());
  int64_t constant = *getElementBytes(type, alloc);
  for (int64_t extent : type.getShape())
    if (!ShapedType::isDynamic(extent))
      constant *= extent;
  Value bytes = arith::ConstantIndexOp::create(rewriter, loc, constant);
  for (Value size : alloc->getOperands())
    bytes = arith::MulIOp::create(rewriter, loc, bytes,
                                  rebuildSize(size, mapping, rewriter));
  Value unit = arith::ConstantIndexOp::create(rewriter, loc, alignment);
  Value units = arith::CeilDivUIOp::create(rewriter, loc, bytes, unit);
  return arith::MulIOp::create(rewriter, loc, units, unit);
}

/// Maps what the sizes of buffers depend on to what is known at `launch`, or at
/// the start of the kernel if that is null.
void KernelRewriter::mapRuntimeSizes(Operation *launch, IRMapping &mapping) {
  for (Operation *alloc : kernel.runtimeSized)
    mapSizes(alloc->getOperands(), kernel.kernel, launch, mapping);
}

/// Bytes of dynamic memory before the buffers of sizes that the launch knows.
int64_t KernelRewriter::getConstantBytes() const {
  int64_t bytes = kernel.getDynamicBytes();
  return kernel.runtimeSized.empty()
             ? bytes
             : llvm::alignTo(bytes, kernel.getRuntimeAlignment());
}

/// Gives the buffers of sizes that the launch knows their places, behind all
/// other dynamic memory.
void KernelRewriter::placeRuntimeSized() {
  if (kernel.runtimeSized.empty())
    return;
  Location loc = kernel.kernel->getLoc();
  rewriter.setInsertionPointToStart(&getBody(kernel.kernel)->front());
  IRMapping mapping;
  mapRuntimeSizes(/*launch=*/nullptr, mapping);
  int64_t alignment = kernel.getRuntimeAlignment();
  Value end = arith::ConstantIndexOp::create(rewriter, loc, getConstantBytes());
  SmallVector<Value> offsets;
  for (Operation *alloc : kernel.runtimeSized) {
    offsets.push_back(end);
    end = arith::AddIOp::create(rewriter, loc, end,
                                createRuntimeBytes(alloc, alignment, mapping));
  }
  Value window = createRuntimeWindow(loc, end);
  for (auto [alloc, offset] : llvm::zip_equal(kernel.runtimeSized, offsets)) {
    auto type = cast<MemRefType>(
        withMemorySpace(cast<MemRefType>(alloc->getResult(0).getType()),
                        getWorkgroupSpace(rewriter.getContext())));
    SmallVector<Value> sizes = llvm::map_to_vector(
        alloc->getOperands(), [&](Value size) { return mapping.lookup(size); });
    Value view = memref::ViewOp::create(rewriter, alloc->getLoc(), type, window,
                                        offset, sizes);
    replaceBuffer(rewriter, alloc->getResult(0), view);
    for (Operation *user : llvm::make_early_inc_range(view.getUsers()))
      if (isa<memref::DeallocOp>(user))
        rewriter.eraseOp(user);
    rewriter.eraseOp(alloc);
  }
}

/// All `bytes` of dynamic memory.
Value KernelRewriter::createRuntimeWindow(Location loc, Value bytes) {
  MemRefType type = getBytesType(rewriter.getContext(), ShapedType::kDynamic);
  if (!module)
    return gpu::DynamicSharedMemoryOp::create(rewriter, loc, type);
  memref::GlobalOp symbol =
      getDynamicSymbol(module, kernel.getRuntimeAlignment());
  Value start = memref::GetGlobalOp::create(rewriter, loc, symbol.getType(),
                                            symbol.getSymName());
  return memref::ReinterpretCastOp::create(
      rewriter, loc, type, start, /*offset=*/rewriter.getIndexAttr(0),
      /*sizes=*/ArrayRef<OpFoldResult>(bytes),
      /*strides=*/ArrayRef<OpFoldResult>(rewriter.getIndexAttr(1)));
}

/// The bytes of dynamic memory that `launch`, which has `asked` for some, has
/// to ask for; an `i32`.
Value KernelRewriter::createLaunchSize(Operation *launch, Value asked,
                                       IRMapping &mapping) {
  Location loc = launch->getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getI32IntegerAttr(value));
  };
  if (kernel.windowShift != 0) {
    Value shift = constant(kernel.windowShift);
    return asked ? rewriter.createOrFold<arith::AddIOp>(loc, asked, shift)
                 : shift;
  }
  Value needed = constant(getConstantBytes());
  for (Operation *alloc : kernel.runtimeSized) {
    Value bytes =
        createRuntimeBytes(alloc, kernel.getRuntimeAlignment(), mapping);
    bytes = arith::IndexCastUIOp::create(rewriter, loc, rewriter.getI32Type(),
                                         bytes);
    needed = arith::AddIOp::create(rewriter, loc, needed, bytes);
  }
  // What launches ask for and the kernel does not use may have its reasons.
  if (!asked || !kernel.memory.windows.empty())
    return needed;
  return rewriter.createOrFold<arith::MaxUIOp>(loc, asked, needed);
}

void KernelRewriter::updateLaunches() {
  if (!kernel.isDynamic && kernel.runtimeSized.empty())
    return;
  auto update = [&](auto launch) {
    rewriter.setInsertionPoint(launch);
    IRMapping mapping;
    mapRuntimeSizes(launch, mapping);
    Value size =
        createLaunchSize(launch, launch.getDynamicSharedMemorySize(), mapping);
    launch.getDynamicSharedMemorySizeMutable().assign(size);
  };
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel.kernel))
    update(launch);
  for (gpu::LaunchFuncOp launch : kernel.launches)
    update(launch);
}

} // namespace mlir::workgroup
