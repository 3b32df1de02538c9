//===- ThreadAccesses.cpp - The accesses of a kernel ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/ThreadAccesses.h"
#include "AccessCollector.h"
#include "Analysis/Memory/RingTiles.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::workgroup {

/// True for globals: those of the kernel, and those that only callees know.
static bool isGlobal(const MemoryRoot &root) {
  return root.global || !root.value;
}

/// True for what the host got from somewhere: any of its allocations.
static bool isOpaque(const MemoryRoot &root) {
  if (root.isDistinct || isGlobal(root))
    return false;
  auto argument = dyn_cast<BlockArgument>(root.value);
  return !argument || !isa<gpu::LaunchOp, FunctionOpInterface>(
                          argument.getOwner()->getParentOp());
}

static bool mayRootsOverlap(const MemoryRoot &lhs, const MemoryRoot &rhs,
                            const ArgumentAliases &arguments) {
  bool isEitherDistinct = lhs.isDistinct || rhs.isDistinct;
  if ((isEitherDistinct && !isOpaque(lhs) && !isOpaque(rhs)) ||
      (isGlobal(lhs) && isGlobal(rhs)))
    return false;
  auto isArgument = [](const MemoryRoot &root) {
    return root.value &&
           isa<BaseMemRefType, LLVM::LLVMPointerType,
               nvgpu::TensorMapDescriptorType>(root.value.getType());
  };
  return !isArgument(lhs) || !isArgument(rhs) ||
         arguments.mayAlias(lhs.value, rhs.value);
}

ThreadAccesses::ThreadAccesses(Operation *scope,
                               const UniformityAnalysis &uniformity,
                               const ArgumentAliases &arguments,
                               bool areInBounds) {
  roots.emplace_back(); // what is not known
  auto mayBeOne = [&](const ThreadAccess &lhs, const ThreadAccess &rhs) {
    return mayAlias(lhs, rhs);
  };
  AccessCollector(scope, uniformity, {roots, accesses, mayBeOne}).collect();
  for (unsigned rhs = 1; rhs < roots.size(); ++rhs)
    for (unsigned lhs = 1; lhs < rhs; ++lhs)
      if (mayRootsOverlap(roots[lhs], roots[rhs], arguments))
        overlaps.insert({lhs, rhs});
  for (ThreadAccess &access : accesses)
    if (access.footprint && !areInBounds) {
      access.footprint->bounds.clear();
      access.footprint->lastBounds.clear();
    }
}

bool ThreadAccesses::hasBounds() const {
  return llvm::any_of(accesses, [](const ThreadAccess &access) {
    return access.footprint && !(access.footprint->bounds.empty() &&
                                 access.footprint->lastBounds.empty());
  });
}

static bool mayBeSame(MemorySpace lhs, MemorySpace rhs) {
  return lhs == rhs || lhs == MemorySpace::Other || rhs == MemorySpace::Other;
}

bool ThreadAccesses::mayOverlap(unsigned lhs, unsigned rhs) const {
  return lhs == rhs ||
         (mayBeSame(roots[lhs].space, roots[rhs].space) &&
          overlaps.contains({std::min(lhs, rhs), std::max(lhs, rhs)}));
}

/// True if two accesses, to memory of these spaces, may be of the same memory
/// where the one is of the root `lhs` and the other of `rhs`.
bool ThreadAccesses::mayShare(unsigned lhs, MemorySpace lhsSpace, unsigned rhs,
                              MemorySpace rhsSpace) const {
  if (lhs != 0 && rhs != 0)
    return mayOverlap(lhs, rhs);
  return mayBeSame(lhs == 0 ? lhsSpace : roots[lhs].space,
                   rhs == 0 ? rhsSpace : roots[rhs].space);
}

bool ThreadAccesses::mayAlias(const ThreadAccess &lhs,
                              const ThreadAccess &rhs) const {
  if (!mayBeSame(lhs.space, rhs.space))
    return false;
  return llvm::any_of(lhs.roots, [&](unsigned left) {
    return llvm::any_of(rhs.roots, [&](unsigned right) {
      return mayShare(left, lhs.space, right, rhs.space);
    });
  });
}

Operation *ThreadAccesses::getCommonTile(const ThreadAccess &lhs,
                                         const ThreadAccess &rhs) const {
  if (lhs.roots.size() != 1 || lhs.roots != rhs.roots)
    return nullptr;
  return getTileSource(roots[lhs.roots.front()].value);
}

bool ThreadAccesses::areComparable(const ThreadAccess &lhs,
                                   const ThreadAccess &rhs) const {
  if (!lhs.footprint || !rhs.footprint ||
      lhs.footprint->basis != rhs.footprint->basis)
    return false;
  return llvm::all_of(lhs.roots, [&](unsigned left) {
    return left != 0 && llvm::all_of(rhs.roots, [&](unsigned right) {
             return left == right ||
                    !mayShare(left, lhs.space, right, rhs.space);
           });
  });
}

} // namespace mlir::workgroup
