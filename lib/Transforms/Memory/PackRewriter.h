//===- PackRewriter.h - Make buffers views of an arena ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rewriter makes each member a view of the arena at its offset:
// attributions, allocations and globals are replaced, deallocations erased. The
// arena is an attribution of the kernel, a `memref.global` if functions use it
// as well, an allocation in a kernel that is not outlined, or dynamic memory.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_MEMORY_PACKREWRITER_H
#define WORKGROUP_LIB_TRANSFORMS_MEMORY_PACKREWRITER_H

#include "PackedKernel.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::workgroup {

/// Rewrites a kernel as it was decided: the arena and its parts in
/// PackRewriter.cpp, dynamic memory and launches in PackDynamic.cpp.
class KernelRewriter {
public:
  KernelRewriter(PackedKernel &kernel, RewriterBase &rewriter)
      : kernel(kernel), rewriter(rewriter),
        module(kernel.kernel->getParentOfType<gpu::GPUModuleOp>()),
        isGlobal(needsGlobal()) {}

  void run();

private:
  bool needsGlobal() const;
  Value getArena(Operation *scope);
  Value createArena(Location loc);
  Value createWindow(Location loc);
  Value getConstant(Operation *scope, int64_t value);
  Value createView(Value arena, Location loc, int64_t offset, MemRefType type);
  void setInsertionPointToViews();
  void replaceMember(const PackedBuffer &member);
  void replaceAttribution(const PackedBuffer &member);
  void replaceAllocation(const PackedBuffer &member);
  void replaceGlobal(const PackedBuffer &member);
  void eraseAttributions();
  void eraseDeallocs();
  void confineWindow(gpu::DynamicSharedMemoryOp window);
  void confineWindows();
  void placeRuntimeSized();
  void updateLaunches();
  void mapRuntimeSizes(Operation *launch, IRMapping &mapping);
  int64_t getConstantBytes() const;
  Value createRuntimeWindow(Location loc, Value bytes);
  Value createRuntimeBytes(Operation *alloc, int64_t alignment,
                           IRMapping &mapping);
  Value createLaunchSize(Operation *launch, Value asked, IRMapping &mapping);

  PackedKernel &kernel;
  RewriterBase &rewriter;
  /// Null if the kernel is not outlined.
  gpu::GPUModuleOp module;
  /// Whether functions use the arena as well; a static one is `global` then.
  bool isGlobal;
  memref::GlobalOp global;
  DenseMap<Operation *, Value> arenas;
  /// The last view of an attribution that was made.
  Operation *lastView = nullptr;
  DenseMap<std::pair<Operation *, int64_t>, Value> constants;
};

/// The type of so many bytes of workgroup memory.
MemRefType getBytesType(MLIRContext *context, int64_t bytes);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_MEMORY_PACKREWRITER_H
