//===- PackCollector.h - Buffers that can be packed -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collector finds, for each kernel of a module: its workgroup buffers,
// those among them that an arena may hold (members), and the life of each
// member in the program order. A member is of this kernel alone, has a known
// size, and can be made a view of a larger buffer; all others stay as they are.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_MEMORY_PACKCOLLECTOR_H
#define WORKGROUP_LIB_TRANSFORMS_MEMORY_PACKCOLLECTOR_H

#include "BufferMeetings.h"
#include "PackedKernel.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// Finds the workgroup buffers of each kernel of a module, those among them
/// that an arena may hold, and their lives.
class PackCollector {
public:
  /// Functions with the calls in a kernel from which control gets to them.
  using CallSites = DenseMap<Operation *, SmallVector<Operation *>>;

  /// `alignment` is the smallest one of a buffer in the arena.
  PackCollector(ModuleOp module, int64_t alignment)
      : module(module), alignment(alignment) {}

  /// The kernels of the module with their memory, still without members.
  std::vector<PackedKernel> collectKernels();

  /// Collects the members of `kernel`. Without `uniformity` their lives are at
  /// least as short as they are with it.
  void collectMembers(PackedKernel &kernel,
                      const UniformityAnalysis *uniformity);

  /// True if `op` stands in `kernel`, or in a function of its module that
  /// nothing but calls from this kernel gets to.
  bool isInOwnScope(Operation *op, const PackedKernel &kernel) {
    return isOwnScope(getExecutionScope(op), kernel);
  }

private:
  bool isOwnScope(Operation *scope, const PackedKernel &kernel);
  bool isMember(KernelBuffer &buffer, const PackedKernel &kernel);
  bool isOwnGlobal(KernelBuffer &buffer, const PackedKernel &kernel);
  bool canBeRefilled(Operation *allocation);
  std::optional<BufferMeeting> findMeeting(Operation *allocation,
                                           const PackedKernel &kernel);
  std::optional<PackedBuffer> makeMember(const KernelBuffer &buffer,
                                         PackedKernel &kernel,
                                         const CallSites &sites,
                                         BufferLiveness &liveness,
                                         const UniformityAnalysis *uniformity);
  BufferUses getUses(const KernelBuffer &buffer, PackedKernel &kernel,
                     const CallSites &sites);

  ModuleOp module;
  int64_t alignment;
  SymbolTableCollection symbols;
  DominanceInfo dominance;
  /// The number of kernels that reach each function.
  DenseMap<Operation *, unsigned> numKernels;
  /// The number of `memref.get_global`s of each global in all of the module.
  DenseMap<Operation *, unsigned> numGets;
  std::optional<DenseSet<Operation *>> recursive;
  /// Of the kernels with allocations in divergent code.
  DenseMap<Operation *, std::unique_ptr<BufferMeetings>> meetings;
  /// The functions of each `gpu.module` that are only called.
  DenseMap<Operation *, DenseSet<Operation *>> onlyCalled;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_MEMORY_PACKCOLLECTOR_H
