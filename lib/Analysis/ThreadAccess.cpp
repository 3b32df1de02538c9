//===- ThreadAccess.cpp - Who touches which bytes -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/ThreadAccess.h"
#include "AccessCollector.h"

namespace mlir::workgroup {

ThreadAccesses::ThreadAccesses(Operation *scope,
                               const UniformityAnalysis &uniformity,
                               const ArgumentAliases &arguments) {
  roots.emplace_back(); // what is not known
  AccessCollector(scope, uniformity, *this).collect();
  // What is neither distinct nor of another space: arguments and globals.
  for (unsigned rhs = 1; rhs < roots.size(); ++rhs)
    for (unsigned lhs = 1; lhs < rhs; ++lhs) {
      const MemoryRoot &left = roots[lhs], &right = roots[rhs];
      if (left.isDistinct || right.isDistinct ||
          (left.global && right.global))
        continue;
      auto isMemRef = [](const MemoryRoot &root) {
        return root.value && isa<BaseMemRefType>(root.value.getType());
      };
      if (!isMemRef(left) || !isMemRef(right) ||
          arguments.mayAlias(left.value, right.value))
        overlaps.insert({lhs, rhs});
    }
}

static bool mayBeSame(MemorySpace lhs, MemorySpace rhs) {
  return lhs == rhs || lhs == MemorySpace::Other || rhs == MemorySpace::Other;
}

bool ThreadAccesses::mayOverlap(unsigned lhs, MemorySpace lhsSpace,
                                unsigned rhs, MemorySpace rhsSpace) const {
  if (lhs == rhs)
    return true;
  if (lhs == 0 || rhs == 0) // the other is of its own space
    return mayBeSame(lhs == 0 ? lhsSpace : roots[lhs].space,
                     rhs == 0 ? rhsSpace : roots[rhs].space);
  return mayBeSame(roots[lhs].space, roots[rhs].space) &&
         overlaps.contains({std::min(lhs, rhs), std::max(lhs, rhs)});
}

bool ThreadAccesses::mayAlias(const ThreadAccess &lhs,
                              const ThreadAccess &rhs) const {
  if (!mayBeSame(lhs.space, rhs.space))
    return false;
  return llvm::any_of(lhs.roots, [&](unsigned left) {
    return llvm::any_of(rhs.roots, [&](unsigned right) {
      return mayOverlap(left, lhs.space, right, rhs.space);
    });
  });
}

bool ThreadAccesses::areComparable(const ThreadAccess &lhs,
                                   const ThreadAccess &rhs) const {
  if (!lhs.footprint || !rhs.footprint ||
      lhs.footprint->basis != rhs.footprint->basis)
    return false;
  return llvm::all_of(lhs.roots, [&](unsigned left) {
    return left != 0 && llvm::all_of(rhs.roots, [&](unsigned right) {
             return left == right ||
                    !mayOverlap(left, lhs.space, right, rhs.space);
           });
  });
}

} // namespace mlir::workgroup
