//===- OpEffects.h - What operations do to memory ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a single operation does to memory and to other threads, as far as its
// kind tells. The table of kinds is the only list of that: an operation that
// gpu, nvgpu or nvvm gains is entered there, and uniformity, accesses, hazards,
// liveness, copies and rings read it. Which elements an operation touches is
// for Analysis/Access; when asynchronous copies are done, for Analysis/Sync.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROGRAM_OPEFFECTS_H
#define WORKGROUP_LIB_ANALYSIS_PROGRAM_OPEFFECTS_H

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// The kind of an operation, for memory and for other threads.
enum class OpKind {
  /// In no list: what its interfaces say is all that is known.
  Other,

  // Of one thread, without an access.
  /// Makes memory, ends it, or says where it is and how large.
  Storage,
  /// Fetches to a cache what may be read later.
  Prefetch,
  /// Describes memory to an instruction that reads or writes it later.
  Descriptor,
  /// Changes what only its thread has: registers, debug values, time.
  Private,
  /// Tells the host something, or ends the program: `gpu.printf`, `cf.assert`.
  Report,

  // Of several threads, without an access.
  /// Threads of a warp exchange values.
  WarpExchange,
  /// Threads of a block exchange values, and meet for that.
  BlockExchange,
  /// All threads of a block meet, or some: see `isBlockBarrier`.
  Barrier,
  /// Threads let others that meet at a barrier go on.
  BarrierArrival,
  /// Lanes of a warp meet: see `isWarpBarrier`.
  WarpBarrier,
  ClusterArrival,
  ClusterWait,

  // Orders of accesses.
  /// Orders what a thread does as others see it.
  Fence,
  /// Orders what a thread does before what another proxy does.
  ProxyFence,
  /// Orders what a thread does before what one kind of instruction does.
  LocalFence,

  // Asynchronous operations in groups: see `getAsyncGroup`.
  GroupCommit,
  GroupWait,
  /// The `workgroup` operations on slots of a ring.
  RingUse,

  // mbarriers, each the first operand.
  MBarrierInit,
  MBarrierArrival,
  MBarrierWait,

  // Accesses.
  /// Done when the operation is, and hands on nothing that refers to memory.
  Access,
  /// The same by a warp together. Its effects are on its memrefs, which its
  /// interface does not say.
  WarpAccess,
  /// The same by a warp group, which reads by the asynchronous proxy.
  GroupAccess,
  /// The same, reading and writing in one.
  AtomicAccess,
  /// A copy by a thread that goes on after the operation: cp.async.
  AsyncCopy,
  /// A copy by TMA, that arrives at an mbarrier, or is of a group.
  BulkLoad,
  BulkStore,

  // May do anything.
  Call,
  Assembly,
};

/// The kind that the table has for `op`.
OpKind getOpKind(Operation *op);

/// True if `op` itself neither reads nor writes memory, though it may order
/// accesses; allocation is none. What regions hold counts for itself.
bool isFreeOfAccesses(Operation *op);

/// True if `op` neither accesses memory nor orders accesses, as by waiting: a
/// barrier before it does for one behind it.
bool isTransparent(Operation *op);

/// True if `op` is done with the memory of its operands when it is done, and
/// hands on nothing by which the memory could be found.
bool isSynchronousAccess(Operation *op);

/// True if `op` orders what threads of one block do, be it all of them, those
/// of a warp, or some others. It says nothing of what other blocks do.
bool isBarrierInBlock(Operation *op);

/// True if `op` initialises an mbarrier, arrives at one, or waits for one.
bool isMBarrierOp(Operation *op);

/// True if `op` loads a part, the same for all threads, of what a kernel is
/// passed by value and does not write.
bool isLoadOfParameter(Operation *op);

/// True if all threads of the block have to get to `op`: `isBlockBarrier`, or
/// an exchange of values.
bool isBlockMeeting(Operation *op);

/// True if all threads of a warp wait for each other at `op`, and no others.
bool isWarpBarrier(Operation *op);

/// True if `op` tells the asynchronous proxy of what its thread has done to
/// `space`.
bool isProxyFence(Operation *op, MemorySpace space);

/// A commit of a group of asynchronous operations, or a wait for groups.
struct AsyncGroup {
  enum Engine {
    /// Copies by threads.
    Copies,
    /// Stores by TMA.
    Stores,
    /// Products of matrices by warpgroups.
    Products,
    /// Products of tiles, each of which is a group (`workgroup`).
    TileProducts
  };
  Engine engine;
  bool isCommit;
  /// The number of groups that may still be under way behind a wait.
  int64_t numPending = 0;
  /// True for a wait for stores that covers only their reads.
  bool isOfReads = false;
  /// True for an operation that is a group, and waits for those before it.
  bool isWhole = false;
};

/// The effect of `op` on groups; nothing if it is of another kind.
std::optional<AsyncGroup> getAsyncGroup(Operation *op);

/// True if `op` may do anything else to memory than `Allowed`: effects that are
/// not known, and those of regions, are.
template <typename... Allowed>
bool hasOtherEffects(Operation *op) {
  if (isMemoryEffectFree(op))
    return false;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || op->getNumRegions())
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return !llvm::all_of(effects,
                       [](const MemoryEffects::EffectInstance &effect) {
                         return isa<Allowed...>(effect.getEffect());
                       });
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROGRAM_OPEFFECTS_H
