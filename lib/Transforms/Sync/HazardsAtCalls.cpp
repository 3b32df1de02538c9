//===- HazardsAtCalls.cpp - What functions have to order ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardsAtCalls.h"
#include "mlir/IR/SymbolTable.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The loop in whose next iterations the second access of `hazard` comes.
static Operation *getCarrier(const Hazard &hazard) {
  const KernelLoop *carrier = hazard.relation.carrier;
  if (!carrier)
    return nullptr;
  return carrier->op ? carrier->op : carrier->header->getParentOp();
}

HazardsAtCalls::Key HazardsAtCalls::getKey(const Hazard &hazard,
                                           const KernelSync &kernel,
                                           const InlinedProgram &program,
                                           Operation *function) {
  auto getPath = [&](Operation *op) {
    return op ? program.getPath(op, function) : Path();
  };
  return {function, getPath(kernel.getAccess(hazard.first).op),
          getPath(kernel.getAccess(hazard.second).op),
          getPath(getCarrier(hazard))};
}

HazardsAtCalls::HazardsAtCalls(Operation *root, const SyncOptions &options) {
  auto isCall = [](CallOpInterface) { return WalkResult::interrupt(); };
  if (!root->walk(isCall).wasInterrupted())
    return;
  InlinedProgram program(root);
  SmallVector<Operation *> scopes = program.inlineAll();
  SyncAnalyses analyses(program, options);
  for (Operation *scope : scopes) {
    addReferred(scope, program);
    KernelSync kernel(scope, analyses);
    addParting(kernel, program);
    add(kernel, program, UniformityUnit::Block);
    if (kernel.hasWarps())
      add(kernel, program, UniformityUnit::Warp);
  }
}

/// Of what is still called, or whose address is taken, it is not known who
/// calls it.
void HazardsAtCalls::addReferred(Operation *scope,
                                 const InlinedProgram &program) {
  auto uses = SymbolTable::getSymbolUses(scope);
  if (!uses)
    return;
  for (const SymbolTable::SymbolUse &use : *uses)
    if (Operation *function = SymbolTable::lookupNearestSymbolFrom(
            use.getUser(), use.getSymbolRef()))
      parting.insert(program.getOriginal(function));
}

/// Looks for calls in what lanes of a warp do on their own.
void HazardsAtCalls::addParting(KernelSync &kernel,
                                const InlinedProgram &program) {
  Operation *scope = kernel.getScope();
  scope->walk([&](Operation *op) {
    if (op == scope)
      return;
    SmallVector<Operation *> entered = program.getFunctions(op);
    Operation *before = op->getPrevNode();
    if (before && program.getFunctions(before) == entered)
      return; // has been asked for
    entered.truncate(entered.size() -
                     program.getFunctions(op->getParentOp()).size());
    if (!entered.empty() && !kernel.isReachedTogether(op, UniformityUnit::Warp))
      parting.insert_range(entered);
  });
}

void HazardsAtCalls::add(KernelSync &kernel, const InlinedProgram &program,
                         UniformityUnit unit) {
  SyncTree tree = kernel.makeTree(unit);
  areUnknown |= tree.getUnstructured() != nullptr;
  if (areUnknown)
    return;
  for (const Hazard &hazard :
       kernel.findHazards(tree, unit, HazardUse::Insertion)) {
    SmallVector<Operation *, 3> ops = {kernel.getAccess(hazard.first).op,
                                       kernel.getAccess(hazard.second).op};
    // An iteration of a loop around the call is another call.
    if (Operation *carrier = getCarrier(hazard))
      ops.push_back(carrier);
    Operation *function = program.getCommonFunction(ops);
    if (!function)
      continue;
    Key key = getKey(hazard, kernel, program, function);
    if (unit == UniformityUnit::Block)
      ofBlock.insert(key);
    if (unit == UniformityUnit::Warp || !kernel.hasWarps())
      ofWarp.insert(key);
  }
}

std::vector<Hazard> HazardsAtCalls::find(KernelSync &function,
                                         const InlinedProgram &program,
                                         const SyncTree &tree,
                                         UniformityUnit unit) const {
  // Leading hazards may be none at the calls, so that all have to be known.
  constexpr size_t kMaxAccesses = 1 << 9;
  bool isAll =
      areUnknown || function.getAccesses().getAccesses().size() > kMaxAccesses;
  std::vector<Hazard> hazards = function.findHazards(
      tree, unit, HazardUse::Insertion, /*isComplete=*/!isAll);
  if (isAll)
    return hazards;
  bool hasBlock = unit == UniformityUnit::Block;
  bool hasWarp = unit == UniformityUnit::Warp || !function.hasWarps();
  Operation *called = program.getOriginal(function.getScope());
  llvm::erase_if(hazards, [&](const Hazard &hazard) {
    Key key = getKey(hazard, function, program, called);
    return !(hasBlock && ofBlock.count(key)) && !(hasWarp && ofWarp.count(key));
  });
  // What they were implied by may be gone.
  for (Hazard &hazard : hazards)
    hazard.isImplied = false;
  return hazards;
}

} // namespace mlir::workgroup
