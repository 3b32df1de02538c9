//===- KernelOperands.h - Buffers passed to outlined kernels ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `gpu.launch_func`s pass to a kernel as a buffer, an allocation of the
// host or a view of one, the kernel can rebuild: all of them must do it the
// same way. Sizes and places that are not the same constant at each launch
// become arguments of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_MEMORY_KERNELOPERANDS_H
#define WORKGROUP_LIB_TRANSFORMS_MEMORY_KERNELOPERANDS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::workgroup {

/// True if `op` gives a buffer of its own: an allocation, or a global, of which
/// each block has one too.
bool isAllocation(Operation *op);

/// True if `op` gives one view of a buffer from numbers alone.
bool isPlainView(Operation *op);

/// A copy of allocation `op` for a kernel. A buffer of each thread stands on
/// its stack there: `memref.alloc` would call `malloc`.
Operation *cloneIntoKernel(OpBuilder &builder, Operation *op);

/// Why a kernel cannot rebuild what launches pass to it.
struct RebuildObstacle {
  std::string reason;
  /// The launch that differs from the first one, if that is the reason.
  gpu::LaunchFuncOp other;
};

/// The reason why the kernel that `launches` launch, all there are, cannot
/// rebuild its argument `index`; nothing if it can.
std::optional<RebuildObstacle>
findRebuildObstacle(ArrayRef<gpu::LaunchFuncOp> launches, unsigned index);

/// The copies of globals of the host that kernels use.
class KernelGlobals {
public:
  /// The name in `module` of a copy of `global`, made where there is none.
  StringAttr getCopy(memref::GlobalOp global, gpu::GPUModuleOp module);

  /// Erases the originals inside `root` that nothing uses any more.
  void eraseUnusedOriginals(Operation *root);

private:
  SymbolTableCollection symbols;
  llvm::MapVector<std::pair<Operation *, Operation *>, memref::GlobalOp> copies;
};

/// Makes the arguments `sunk` of `kernel` buffers that it builds itself, and
/// removes them from it and from `launches`, all there are. Values of the host
/// that this takes become arguments behind the others.
void rebuildArguments(gpu::GPUFuncOp kernel,
                      ArrayRef<gpu::LaunchFuncOp> launches,
                      const llvm::BitVector &sunk, KernelGlobals &globals);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_MEMORY_KERNELOPERANDS_H
