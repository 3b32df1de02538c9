//===- SyncCompletions.cpp - Where asynchronous accesses are done ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each asynchronous access, the step behind which it is done: a wait for a
// phase of an mbarrier, or a wait that leaves too few groups pending for that
// of the access (PTX ISA, `cp.async.wait_group` and
// `cp.async.bulk.wait_group`). Phases are asked first, then groups of copies,
// of bulk stores, and of what these read. An access for which nothing is found
// is never done, or not known to be.
//
//===----------------------------------------------------------------------===//

#include "AsyncGroups.h"
#include "AsyncPhases.h"
#include "SyncTree.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::workgroup {

bool mayWaitForCopies(Operation *scope) {
  auto isOther = [](Operation *op) {
    OpKind kind = getOpKind(op);
    bool isWait = kind == OpKind::Assembly || kind == OpKind::Call ||
                  isa<NVVM::CpAsyncMBarrierArriveOp>(op);
    return isWait ? WalkResult::interrupt() : WalkResult::advance();
  };
  return scope->walk(isOther).wasInterrupted();
}

/// Finds where asynchronous accesses are done.
void SyncTree::findCompletions(Operation *scope,
                               const ThreadAccesses &accesses) {
  auto getNumIterations = [&](unsigned number) -> std::optional<int64_t> {
    const SyncNode &loop = program.nodes[number];
    std::optional<int64_t> iterations = sync.getNumIterations(getLoop(number));
    if (!iterations || loop.exit == 0)
      return iterations;
    // What stands before the test is done once more than it is passed.
    bool isBefore = program.sequences[loop.parts[0]].items.size() == loop.exit;
    return isBefore ? std::optional(*iterations + 1) : std::nullopt;
  };
  if (unstructured)
    return;
  auto makeGroups = [&](GroupKind kind) {
    return AsyncGroups(kind, program, groupSteps, hidingSteps,
                       getNumIterations);
  };
  AsyncGroups copies = makeGroups(GroupKind::Copies);
  AsyncGroups stores = makeGroups(GroupKind::Stores);
  AsyncGroups reads = makeGroups(GroupKind::StoreReads);
  bool hasOthers = mayWaitForCopies(scope);
  auto getStepOf = [&](Operation *op) -> std::optional<unsigned> {
    auto it = accessesOf.find(op);
    return it == accessesOf.end() ? std::nullopt
                                  : std::optional(stepOf[it->second.front()]);
  };
  PhaseNodes nodes{program, phaseSteps,
                   DenseMap<const KernelLoop *, unsigned>(), getStepOf};
  for (auto [node, loop] : loopOf)
    nodes.loops[loop] = node;
  AsyncPhases phases(scope, sync, nodes);
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses())) {
    if (!contains(access))
      continue;
    std::optional<AsyncCompletion> done = phases.findCompletion(access.op);
    for (AsyncGroups *groups : {&copies, access.isWrite() ? &stores : &reads}) {
      if (done || !access.isAsync)
        continue;
      done = groups->findCompletion(access.op, stepOf[number], scope);
      if (groups->isNeverDone() && !hasOthers)
        neverDone.insert(number);
    }
    if (done)
      completionOf[number] = *done;
    if (const MissedPhase *missed = phases.findMissed(access.op))
      missedOf[number] = *missed;
  }
}

} // namespace mlir::workgroup
