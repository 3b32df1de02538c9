//===- MemorySpace.h - Memory spaces of buffers in kernels ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which memory a memref lives in. Upstream spells workgroup (CUDA: shared)
// memory in several ways, and the default space means global memory for a
// kernel argument but thread-private memory for an allocation inside a kernel.
// The numbers are those of NVPTX; never derive them from the GPU dialect's
// enumeration by a cast, the two count differently.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_SUPPORT_MEMORYSPACE_H
#define WORKGROUP_SUPPORT_MEMORYSPACE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mlir::workgroup {

/// The memory that a buffer lives in, as far as a kernel's threads can tell.
enum class MemorySpace {
  /// Device memory, visible to all blocks.
  Global,
  /// One instance per block, shared by its threads.
  Workgroup,
  /// One instance per thread.
  Private,
  /// Anything else: constant memory, cluster memory, foreign spaces.
  Other,
};

/// True if `attribute` names workgroup memory in any of its spellings: `3`,
/// `#gpu.address_space<workgroup>`, `#nvvm.memory_space<shared>`,
/// `#llvm.address_space<3>`.
bool isWorkgroupSpace(Attribute attribute);

/// True if `type` is a memref, ranked or not, in workgroup memory.
bool isWorkgroupMemory(Type type);

/// True if `type` is a memref, ranked or not, in `#gpu.address_space<private>`.
/// Other spellings are not taken for it: upstream's lowering gives an alloca in
/// space 5 an address that its accesses misread.
bool isPrivateMemory(Type type);

/// `#gpu.address_space<workgroup>`, the spelling this project emits.
Attribute getWorkgroupSpace(MLIRContext *context);

/// The memref type `type` in memory space `space`.
BaseMemRefType withMemorySpace(BaseMemRefType type, Attribute space);

/// The memref that `op` gives another view of; null if it is no view.
Value getViewSource(Operation *op);

/// The value behind `memref` after all view-like operations: an allocation, a
/// `memref.get_global`, a block argument, or an operation that cannot be looked
/// through.
Value getRootBuffer(Value memref);

/// The memory that `memref`, used inside a kernel, lives in. In the default
/// space this depends on the root buffer: allocations inside the kernel are
/// private, all else is global.
MemorySpace getMemorySpace(Value memref);

/// False if `lhs` and `rhs`, used in one kernel, are known to be views of
/// different memory. The result of a selection, a loop or a call may be any
/// memory.
bool mayAlias(Value lhs, Value rhs);

} // namespace mlir::workgroup

#endif // WORKGROUP_SUPPORT_MEMORYSPACE_H
