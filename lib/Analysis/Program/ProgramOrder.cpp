//===- ProgramOrder.cpp - Positions in a kernel ---------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramOrder.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::workgroup {

ProgramOrder::ProgramOrder(Operation *scope) { number(scope); }

std::optional<ProgramOrder::Range> ProgramOrder::getCycle(Block *block) const {
  auto it = cycles.find(block);
  return it == cycles.end() ? std::nullopt : std::optional(it->second);
}

void ProgramOrder::number(Operation *op) {
  unsigned first = next++;
  for (Region &region : op->getRegions())
    number(region);
  ranges[op] = {first, next++};
}

void ProgramOrder::number(Block &block) {
  for (Operation &op : block)
    number(&op);
}

void ProgramOrder::number(Region &region) {
  if (region.empty())
    return;
  if (region.hasOneBlock())
    return number(region.front());
  // Components come in reverse topological order.
  SmallVector<std::pair<std::vector<Block *>, bool>> components;
  DenseSet<Block *> reached;
  for (auto it = llvm::scc_begin(&region); !it.isAtEnd(); ++it) {
    components.emplace_back(*it, it.hasCycle());
    reached.insert_range(*it);
  }
  for (auto &[blocks, isCycle] : llvm::reverse(components)) {
    Range range{next, next};
    for (Block *block : llvm::reverse(blocks))
      number(*block);
    range.last = next++;
    if (isCycle)
      for (Block *block : blocks)
        cycles[block] = range;
  }
  for (Block &block : region) // dead code, for completeness
    if (!reached.contains(&block))
      number(block);
}

} // namespace mlir::workgroup
