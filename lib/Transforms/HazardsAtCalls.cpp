//===- HazardsAtCalls.cpp - What functions have to order ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardsAtCalls.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The operations that `hazard` is between, as they were written.
static std::pair<Operation *, Operation *>
getSources(const Hazard &hazard, const KernelSync &kernel,
           const InlinedProgram &program) {
  return {program.getSource(kernel.getAccess(hazard.first).op),
          program.getSource(kernel.getAccess(hazard.second).op)};
}

HazardsAtCalls::HazardsAtCalls(Operation *root, const SyncOptions &options) {
  auto isCall = [](CallOpInterface) { return WalkResult::interrupt(); };
  if (!root->walk(isCall).wasInterrupted())
    return;
  InlinedProgram program(root);
  SmallVector<Operation *> scopes = program.inlineAll();
  SyncAnalyses analyses(program, options);
  for (Operation *scope : scopes) {
    KernelSync kernel(scope, analyses);
    add(kernel, program, UniformityUnit::Block);
    if (kernel.hasWarps())
      add(kernel, program, UniformityUnit::Warp);
  }
}

void HazardsAtCalls::add(KernelSync &kernel, const InlinedProgram &program,
                         UniformityUnit unit) {
  SyncTree tree = kernel.makeTree(unit);
  areUnknown |= tree.getUnstructured() != nullptr;
  if (areUnknown)
    return;
  for (const Hazard &hazard :
       kernel.findHazards(tree, unit, HazardUse::Insertion)) {
    auto sources = getSources(hazard, kernel, program);
    if (unit == UniformityUnit::Block)
      ofBlock.insert(sources);
    if (unit == UniformityUnit::Warp || !kernel.hasWarps())
      ofWarp.insert(sources);
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
  llvm::erase_if(hazards, [&](const Hazard &hazard) {
    auto sources = getSources(hazard, function, program);
    return !(hasBlock && ofBlock.contains(sources)) &&
           !(hasWarp && ofWarp.contains(sources));
  });
  // What they were implied by may be gone.
  for (Hazard &hazard : hazards)
    hazard.isImplied = false;
  return hazards;
}

} // namespace mlir::workgroup
