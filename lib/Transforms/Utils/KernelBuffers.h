//===- KernelBuffers.h - The workgroup memory of a kernel -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that counts against the workgroup memory of a kernel: its own buffers and
// those of the functions that it calls, what later lowerings will take, and
// dynamic memory.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_UTILS_KERNELBUFFERS_H
#define WORKGROUP_LIB_TRANSFORMS_UTILS_KERNELBUFFERS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Target/AccessWidth.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::workgroup {

/// A static buffer that counts against a kernel's workgroup memory.
struct KernelBuffer {
  enum class Kind {
    Attribution,
    Allocation, ///< a `memref.alloc(a)` that is not hoisted
    Global,     ///< a `memref.global`
    Lowering,   ///< what the lowering of an operation will take
  };
  Kind kind;
  /// In bytes; an allocation takes the constant upper bounds of its extents.
  int64_t bytes;
  int64_t alignment;
  Location loc;
  /// The attribution, the result of the allocation, or the first
  /// `memref.get_global`; null for a lowering.
  Value value;
  /// Every `memref.get_global` in the kernel and the functions that it calls.
  SmallVector<memref::GetGlobalOp> gets = {};

  /// The allocation whose executions make the contents undefined, if any.
  Operation *getAllocation() const {
    return kind == Kind::Allocation ? value.getDefiningOp() : nullptr;
  }
};

/// The workgroup memory of a kernel and of the functions that it calls.
struct KernelBuffers {
  SmallVector<KernelBuffer> buffers;
  /// Allocations without a constant upper bound.
  SmallVector<Operation *> unbounded;
  /// The operations that get hold of dynamic memory:
  /// `gpu.dynamic_shared_memory`, and `memref.get_global` or
  /// `llvm.mlir.addressof` of an extern symbol.
  SmallVector<Operation *> windows;
  /// The bytes of dynamic memory that views of the symbol say they need, and
  /// those that views need which are always executed.
  int64_t dynamicBytes = 0, leastDynamicBytes = 0;
  /// The alignment of the symbol, to which static memory is padded.
  int64_t dynamicAlignment = 1;
  /// The kernel and the functions that it calls, directly or not.
  SetVector<Operation *> scopes;
  /// Those of the scopes that each thread executes, whatever the launch.
  SetVector<Operation *> executedScopes;

  /// True if each thread gets to `op`, whatever branches it takes. False if
  /// that is not known.
  bool isAlwaysExecuted(Operation *op) const;

  /// Bytes of the static buffers one after another, saturating.
  int64_t getStaticBytes() const;
};

/// Collects the memory of `kernel`. Memory without a number of bytes is left
/// out.
KernelBuffers collectKernelBuffers(Operation *kernel);

/// True if `global` is the symbol of dynamic workgroup memory: external, and of
/// no extent of its own.
bool isDynamicSymbol(memref::GlobalOp global);

/// The number of bytes of `type`, which is static; nothing if it overflows or
/// an element has no size that is known.
std::optional<int64_t> getStaticBytes(MemRefType type, Operation *scope);

/// The end of `bytes` from `start` on, saturating at half of what fits, so that
/// static memory can be added.
int64_t getEnd(int64_t start, int64_t bytes);

/// The size and alignment in bytes of an mbarrier.
constexpr int64_t kMBarrierBytes = 8;

/// The alignment in bytes of tiles in a ring: what any access of a thread is
/// content with, or more. TMA asks for more.
constexpr int64_t kSlotAlignment = kWidestAccessBytes;

/// The bytes from a tile of `type` in a slot of a ring to that in the next.
int64_t getSlotBytes(MemRefType type, Operation *scope,
                     int64_t alignment = kSlotAlignment);

/// Erases the arguments of `kernel`'s entry block that are set in `erased`, all
/// of them attributions of workgroup memory without uses.
void eraseAttributions(Operation *kernel, const llvm::BitVector &erased,
                       RewriterBase &rewriter);

/// The outlined kernels inside `root` with the launches of each.
using LaunchSites =
    llvm::MapVector<gpu::GPUFuncOp, SmallVector<gpu::LaunchFuncOp, 1>>;
LaunchSites collectLaunchSites(Operation *root);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_UTILS_KERNELBUFFERS_H
