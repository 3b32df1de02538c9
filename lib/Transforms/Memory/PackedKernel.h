//===- PackedKernel.h - What packing decides and rewrites -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What packing knows of one kernel and decides for it. Packing has three steps:
// PackCollector collects the buffers and their lives, PackMemory chooses an
// offset for each such that buffers that live at the same time share no byte,
// and PackRewriter makes them views of one arena. This is the record that the
// steps hand on.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_MEMORY_PACKEDKERNEL_H
#define WORKGROUP_LIB_TRANSFORMS_MEMORY_PACKEDKERNEL_H

#include "Analysis/Memory/BufferLiveness.h"
#include "MemoryLayout.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Transforms/Memory.h"

namespace mlir::workgroup {

/// A buffer that is to be a part of the arena.
struct PackedBuffer {
  explicit PackedBuffer(const KernelBuffer &buffer) : buffer(buffer) {}

  KernelBuffer buffer;
  BufferLife life;
  /// The allocation whose activations fill the buffer several times within its
  /// life; null if there is none.
  Operation *refill = nullptr;
  /// In bytes, from the start of the arena.
  int64_t offset = 0;
  /// Whether it shares bytes with another buffer.
  bool isShared = false;
};

/// A kernel and the decisions that were taken for its workgroup memory.
struct PackedKernel {
  Operation *kernel;
  KernelBuffers memory;
  SmallVector<gpu::LaunchFuncOp, 1> launches;
  /// The kernel and the functions that only this kernel calls.
  SmallVector<Operation *> ownScopes;
  /// The buffers that an arena may hold; all others stay as they are.
  SmallVector<PackedBuffer> members;
  /// Attributions without a use, which go.
  SmallVector<BlockArgument> dead;
  /// Allocations whose size is known at the launch.
  SmallVector<Operation *> runtimeSized;

  bool hasArena = false;
  bool isDynamic = false;
  /// Size and alignment of the arena in bytes.
  int64_t bytes = 0, alignment = 1;
  /// Bytes of dynamic memory that all launches ask for already, and use; those
  /// before the arena, aligned.
  std::optional<int64_t> windowAsked;
  int64_t windowBytes = 0;
  /// The bytes by which memory that launches ask for already moves, to make
  /// room.
  int64_t windowShift = 0;
  /// The bytes that the kernel can have in all.
  int64_t maxBytes = 0;
  /// Operations before which a life begins in bytes that were used before, or
  /// a buffer is filled once more.
  llvm::SmallSetVector<Operation *, 4> barriers;

  /// The members for the layout; what nobody uses takes nothing.
  SmallVector<LayoutItem> getItems() const;
  /// Bytes of all members without padding.
  int64_t getSum() const;
  /// A number of bytes that no layout goes below, the alignment of buffers that
  /// live together included.
  int64_t getLowerBoundWithPadding() const;
  /// The alignment of every buffer of a size that the launch knows.
  int64_t getRuntimeAlignment() const;
  /// Bytes of dynamic memory that launches have to ask for, or, where they ask
  /// for some that is not constant, have to add.
  int64_t getDynamicBytes() const {
    return windowShift != 0 ? windowShift
                            : windowBytes + (isDynamic ? bytes : 0);
  }
  /// Bytes of static memory that packing leaves as it is.
  int64_t getKeptBytes() const;
};

/// Emits remarks on what was decided for `kernel`.
void reportKernel(const PackedKernel &kernel);

/// The decisions for the memory of `kernel`, as data.
MemoryPlacement describeKernel(const PackedKernel &kernel);

/// Rewrites the kernel as it was decided.
void rewriteKernel(PackedKernel &kernel, RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_MEMORY_PACKEDKERNEL_H
