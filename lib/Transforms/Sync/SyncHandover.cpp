//===- SyncHandover.cpp - What one pass leaves to the next ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SyncHandover.h"
#include "SameProgram.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::workgroup {

/// True if a copy of `root` tells all that it tells itself: nothing is around
/// it, and no calls have to be replaced.
static bool isSelfContained(Operation *root) {
  auto isCall = [](CallOpInterface) { return WalkResult::interrupt(); };
  return !root->getParentOp() && !root->walk(isCall).wasInterrupted();
}

KnownProgram::KnownProgram(Operation *root, const SyncOptions &options,
                           bool isToBeKept)
    : options(options), canBeKept(isToBeKept && isSelfContained(root)),
      program(root, /*isCopied=*/canBeKept) {}

SyncAnalyses &KnownProgram::analyze() {
  return analyses.emplace(program, options);
}

/// True if `now` are the accesses that `known` are: what is put in to order
/// them makes none.
static bool areSame(const ThreadAccesses &known, const ThreadAccesses &now) {
  return llvm::equal(known.getAccesses(), now.getAccesses(),
                     [](const ThreadAccess &lhs, const ThreadAccess &rhs) {
                       return lhs.op == rhs.op && lhs.operand == rhs.operand &&
                              lhs.kind == rhs.kind &&
                              lhs.isAsync == rhs.isAsync &&
                              lhs.accessScope == rhs.accessScope;
                     });
}

bool KnownProgram::isSame(Operation *root, const SyncOptions &options) const {
  auto isUnchanged = [&](const auto &entry) {
    const KernelFacts &known = *entry.second;
    // Who gave up on some answers might not have had to on fewer questions.
    return !known.conflicts.isExhausted() &&
           areSame(known.accesses, ThreadAccesses(entry.first, analyses->block,
                                                  analyses->arguments));
  };
  return options.assumeDistinctArguments ==
             this->options.assumeDistinctArguments &&
         areSamePrograms(program.getRoot(), root) &&
         llvm::all_of(facts, isUnchanged);
}

std::vector<std::unique_ptr<KernelSync>> KnownProgram::getKernels() {
  std::vector<std::unique_ptr<KernelSync>> kernels;
  for (Operation *scope : program.inlineAll()) {
    const std::shared_ptr<KernelFacts> &known = facts[scope];
    known->conflicts.renewEffort();
    kernels.push_back(std::make_unique<KernelSync>(scope, *analyses, known));
  }
  return kernels;
}

void SyncHandover::leave(Operation *root,
                         std::unique_ptr<KnownProgram> program) {
  std::scoped_lock lock(mutex);
  programs[root] = std::move(program);
}

std::unique_ptr<KnownProgram> SyncHandover::take(Operation *root,
                                                 const SyncOptions &options) {
  std::unique_ptr<KnownProgram> known;
  {
    std::scoped_lock lock(mutex);
    auto found = programs.find(root);
    if (found == programs.end())
      return nullptr;
    known = std::move(found->second);
    programs.erase(found);
  }
  return known->isSame(root, options) ? std::move(known) : nullptr;
}

} // namespace mlir::workgroup
