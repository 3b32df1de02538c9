//===- ProtocolTargets.h - What is followed of a kernel ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mbarriers of a kernel, and the accesses to buffers that are filled or
// read where threads wait for them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLTARGETS_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLTARGETS_H

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Analysis/ThreadAccesses.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

class ProtocolTargets {
public:
  ProtocolTargets(Operation *scope, const ThreadAccesses &accesses);

  /// Whether threads wait for mbarriers, or for TMA, all of which are followed.
  bool areFollowed() const { return isFollowed && hasWaits; }
  /// True if something is followed that `op` does, or that is in it.
  bool isRelevant(Operation *op) const { return relevant.contains(op); }
  /// True if threads may wait, arrive or order anything in `op`.
  bool hasSync(Operation *op) const { return syncs.contains(op); }
  /// True if something is done about mbarriers in `op`, or to what is followed.
  bool isNeeded(Operation *op) const { return needed.contains(op); }
  /// True if threads may wait, arrive or order anything in a loop that is in
  /// another one.
  bool hasInnerSync(Operation *scope) const;
  /// True if the loops around `loop`, up to `scope`, do nothing but hand on its
  /// results, which nobody else reads, and nothing else in them is needed.
  bool isHandedOn(scf::ForOp loop, Operation *scope) const;
  /// True if what goes on by itself is started in `op`.
  bool hasAsync(Operation *op) const { return asyncs.contains(op); }
  /// The accesses of `op` that are followed, by number.
  ArrayRef<unsigned> getAccesses(Operation *op) const {
    auto it = accessesOf.find(op);
    return it == accessesOf.end() ? ArrayRef<unsigned>() : it->second;
  }
  bool isTracked(unsigned access) const { return tracked.contains(access); }
  const ThreadAccess &getAccess(unsigned number) const {
    return accesses.getAccesses()[number];
  }
  /// The number of the mbarrier at `index` of a group; nothing if there is no
  /// such one.
  std::optional<unsigned> getBarrier(Value group, int64_t index) const;
  unsigned getNumBarriers() const { return numBarriers; }
  /// The least number of waits after which all mbarriers of all groups may be
  /// in turn again, twice each; 0 if that is too large.
  int64_t getPeriod() const { return period; }

private:
  bool isAlone(scf::ForOp loop, scf::ForOp outer) const;
  void addGroup(nvgpu::MBarrierCreateOp create);
  void collectRoots(Operation *scope);
  DenseSet<unsigned> findOwnStores(Operation *scope) const;
  void mark(Operation *op, Operation *scope);

  const ThreadAccesses &accesses;
  bool isFollowed = true, hasWaits = false;
  unsigned numBarriers = 0;
  int64_t period = 2;
  DenseMap<Value, std::pair<unsigned, int64_t>> groups;
  DenseSet<unsigned> roots, tracked;
  /// Accesses that mbarriers may order.
  DenseSet<unsigned> handedOver;
  DenseMap<Operation *, SmallVector<unsigned, 2>> accessesOf;
  DenseSet<Operation *> relevant, syncs, needed, asyncs;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLTARGETS_H
