//===- SyncCompletions.cpp - Where asynchronous accesses are done ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncCompletions.h"
#include "Analysis/Program/OpEffects.h"
#include "AsyncGroups.h"
#include "AsyncPhases.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

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

/// How often control gets to the end of the body of a loop that is the node
/// `number`, if that is always the same.
static std::optional<int64_t>
getNumIterations(unsigned number, const SyncScope &sync, const SyncTree &tree) {
  const SyncProgram &program = tree.getProgram();
  const SyncNode &loop = program.nodes[number];
  std::optional<int64_t> iterations =
      sync.getNumIterations(tree.getLoop(number));
  if (!iterations || loop.exit == 0)
    return iterations;
  // What stands before the test is done once more than it is passed.
  bool isBefore = program.sequences[loop.parts[0]].items.size() == loop.exit;
  return isBefore ? std::optional(*iterations + 1) : std::nullopt;
}

AsyncCompletions findCompletions(Operation *scope,
                                 const ThreadAccesses &accesses,
                                 const SyncScope &sync, const SyncTree &tree,
                                 const WaitSteps &steps) {
  AsyncCompletions found;
  if (tree.getUnstructured())
    return found;
  const SyncProgram &program = tree.getProgram();
  auto countIterations = [&](unsigned number) {
    return getNumIterations(number, sync, tree);
  };
  auto makeGroups = [&](GroupKind kind) {
    return AsyncGroups(kind, program, steps.ofGroups, steps.hiding,
                       countIterations);
  };
  AsyncGroups copies = makeGroups(GroupKind::Copies);
  AsyncGroups stores = makeGroups(GroupKind::Stores);
  AsyncGroups reads = makeGroups(GroupKind::StoreReads);
  AsyncGroups products = makeGroups(GroupKind::Products);
  bool hasOthers = mayWaitForCopies(scope);
  DenseMap<Operation *, unsigned> stepOf;
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses()))
    stepOf.try_emplace(access.op, tree.getStep(number));
  auto getStepOf = [&](Operation *op) -> std::optional<unsigned> {
    auto it = stepOf.find(op);
    return it == stepOf.end() ? std::nullopt : std::optional(it->second);
  };
  PhaseNodes nodes{program, steps.ofPhases,
                   DenseMap<const KernelLoop *, unsigned>(), getStepOf};
  for (unsigned node = 0; node != program.nodes.size(); ++node)
    if (const KernelLoop *loop = tree.getLoop(node))
      nodes.loops[loop] = node;
  AsyncPhases phases(scope, sync, nodes);
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses())) {
    if (!tree.contains(access))
      continue;
    std::optional<AsyncCompletion> done = phases.findCompletion(access.op);
    for (AsyncGroups *groups :
         {&copies, access.isWrite() ? &stores : &reads, &products}) {
      if (done || !access.isAsync)
        continue;
      done = groups->findCompletion(access.op, tree.getStep(number), scope);
      if (groups->isNeverDone() && !hasOthers)
        found.never.insert(number);
    }
    if (done)
      found.known[number] = *done;
    if (const MissedPhase *missed = phases.findMissed(access.op))
      found.missed[number] = *missed;
  }
  return found;
}

} // namespace mlir::workgroup
