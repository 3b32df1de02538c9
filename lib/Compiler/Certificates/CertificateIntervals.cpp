//===- CertificateIntervals.cpp - What lies between two barriers ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access is behind a barrier if a path leads from there to it past no other
// one. A copy goes on until its thread waits for it: it is also behind those
// barriers that a path from it comes to before such a wait.
//
//===----------------------------------------------------------------------===//

#include "KernelFacts.h"
#include "llvm/IR/CFG.h"

namespace mlir::workgroup {

/// Groups of copies that are told apart.
static constexpr unsigned kMaxGroups = 64;

namespace {

/// The barriers behind which each block of a kernel may begin.
class BarriersBefore {
public:
  BarriersBefore(const llvm::Function &kernel, const LineNumbers &lines)
      : lines(lines) {
    before[&kernel.getEntryBlock()] = {0};
    bool hasChanged = true;
    while (std::exchange(hasChanged, false))
      for (const llvm::BasicBlock &block : kernel)
        hasChanged |= pass(block);
  }

  std::set<unsigned> get(const llvm::Instruction &at) {
    std::set<unsigned> barriers = before[at.getParent()];
    for (const llvm::Instruction &instruction : *at.getParent()) {
      if (&instruction == &at)
        break;
      step(instruction, barriers);
    }
    return barriers;
  }

private:
  void step(const llvm::Instruction &instruction,
            std::set<unsigned> &barriers) const {
    std::optional<OrderFact> order = getOrder(instruction);
    if (order && order->kind == OrderFact::Kind::Barrier)
      barriers = {lines.lookup(&instruction)};
  }

  bool pass(const llvm::BasicBlock &block) {
    std::set<unsigned> barriers = before[&block];
    for (const llvm::Instruction &instruction : block)
      step(instruction, barriers);
    bool hasChanged = false;
    for (const llvm::BasicBlock *next : llvm::successors(&block)) {
      std::set<unsigned> &there = before[next];
      size_t size = there.size();
      there.insert(barriers.begin(), barriers.end());
      hasChanged |= there.size() != size;
    }
    return hasChanged;
  }

  const LineNumbers &lines;
  llvm::DenseMap<const llvm::BasicBlock *, std::set<unsigned>> before;
};

/// Where a copy is on its way: a block, and how many groups were closed since
/// it began.
using CopyState = std::pair<const llvm::BasicBlock *, unsigned>;

} // namespace

/// Follows a copy from `it` to the end of its block, and adds the barriers that
/// it meets to `barriers`; nothing if it is done before the end.
static std::optional<unsigned> followCopy(llvm::BasicBlock::const_iterator it,
                                          const llvm::BasicBlock &block,
                                          unsigned numClosed,
                                          const LineNumbers &lines,
                                          std::set<unsigned> &barriers) {
  for (; it != block.end(); ++it) {
    std::optional<OrderFact> order = getOrder(*it);
    if (!order)
      continue;
    if (order->kind == OrderFact::Kind::Barrier)
      barriers.insert(lines.lookup(&*it));
    else if (order->kind == OrderFact::Kind::Commit)
      numClosed = std::min(numClosed + 1, kMaxGroups);
    else if (order->kind == OrderFact::Kind::Wait &&
             numClosed > order->numPending)
      return std::nullopt;
  }
  return numClosed;
}

/// Adds the barriers that a copy may be on its way at.
static void followCopies(AccessFact &copy, const LineNumbers &lines) {
  std::set<CopyState> seen;
  llvm::SmallVector<CopyState> rest;
  auto goOn = [&](const llvm::BasicBlock &block,
                  std::optional<unsigned> numClosed) {
    if (!numClosed)
      return;
    for (const llvm::BasicBlock *next : llvm::successors(&block))
      if (seen.insert({next, *numClosed}).second)
        rest.push_back({next, *numClosed});
  };
  const llvm::BasicBlock &first = *copy.at->getParent();
  goOn(first, followCopy(std::next(copy.at->getIterator()), first, 0, lines,
                         copy.behind));
  while (!rest.empty()) {
    auto [block, numClosed] = rest.pop_back_val();
    goOn(*block,
         followCopy(block->begin(), *block, numClosed, lines, copy.behind));
  }
}

void findIntervals(const llvm::Function &kernel, const LineNumbers &lines,
                   KernelFacts &facts) {
  BarriersBefore before(kernel, lines);
  for (AccessFact &access : facts.accesses) {
    access.behind = before.get(*access.at);
    if (access.kind == AccessFact::Kind::Copy)
      followCopies(access, lines);
  }
}

} // namespace mlir::workgroup
