//===- TensorMaps.h - What launches tell kernels of tensors -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA finds a tile by a tensor map, which the host makes of the address, the
// extents and the strides of a memref (`nvgpu.tma.create.descriptor`). A kernel
// can have a map of whatever its launches know: values from above a
// `gpu.launch`, and arguments of a `gpu.func` whose launches are at hand. There
// is one map of each memref and box, made beside the launch.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORMAPS_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORMAPS_H

#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/Alignment.h"

namespace mlir::workgroup {

/// The kernel that has `value` as an argument; null if there is none.
gpu::GPUFuncOp getKernelOfArgument(Value value);

/// The operands that `launches` pass to their kernel as `argument`.
SmallVector<Value> getOperands(ArrayRef<gpu::LaunchFuncOp> launches,
                               Value argument);

/// Adds an argument of type `type` to `kernel`, behind the others and before
/// its own buffers, of which the function interface's methods know nothing.
BlockArgument appendArgument(gpu::GPUFuncOp kernel, Type type, Location loc);

/// The tensor maps that launches inside an operation give to their kernels.
class TensorMaps {
public:
  explicit TensorMaps(Operation *root)
      : root(root), sites(collectLaunchSites(root)) {}

  /// Why no map of `memref`, a value in a kernel that is no view made there,
  /// can be had; empty if it can.
  StringRef getObstacle(Value memref) const;

  /// The alignment in bytes of `memref`, of which a map can be had, as far as
  /// the kernel or all of its launches know it.
  int64_t getAlignment(Value memref, AlignmentAnalysis &alignment) const;

  /// The map in the kernel of `memref`, of which a map can be had, without its
  /// dimensions that are not among `dims`, which have the extent one. Loads
  /// take `box` of it, outermost dimension first, and swizzle it by `swizzle`.
  Value getMap(RewriterBase &rewriter, Location loc, Value memref,
               ArrayRef<unsigned> dims, ArrayRef<int64_t> box,
               nvgpu::TensorMapSwizzleKind swizzle);

private:
  struct Key {
    Operation *kernel;
    Value memref;
    Type type;
    SmallVector<unsigned> dims;
    bool operator==(const Key &other) const {
      return kernel == other.kernel && memref == other.memref &&
             type == other.type && dims == other.dims;
    }
  };
  Value createForLaunch(RewriterBase &rewriter, Location loc, const Key &key);
  Value createForFunction(RewriterBase &rewriter, Location loc, const Key &key);

  Operation *root;
  LaunchSites sites;
  SmallVector<std::pair<Key, Value>> maps;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORMAPS_H
