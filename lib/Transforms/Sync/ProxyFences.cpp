//===- ProxyFences.cpp - Fences before TMA touches memory -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProxyFences.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::workgroup {

/// What has no fence, in the order in which fences are to be put.
std::vector<AsyncPoint> ProxyFences::findPoints() {
  std::vector<AsyncPoint> points;
  SyncTree tree = kernel.makeTree(UniformityUnit::Block);
  if (tree.getUnstructured())
    return points;
  std::set<AsyncPoint::Key> known;
  auto add = [&](const SyncTree &seen, UniformityUnit unit) {
    for (const Hazard &hazard :
         kernel.findHazards(seen, unit, HazardUse::Fences)) {
      if (!hazard.isUnfenced)
        continue;
      AsyncPoint point =
          findAsyncPoint(kernel, tree, hazard, /*isForOthers=*/true);
      if (known.insert(point.getKey()).second)
        points.push_back(point);
    }
  };
  add(tree, UniformityUnit::Block);
  if (kernel.hasWarps()) {
    SyncTree warps = kernel.makeTree(UniformityUnit::Warp);
    if (!warps.getUnstructured())
      add(warps, UniformityUnit::Warp);
  }
  llvm::stable_sort(points, [](const AsyncPoint &lhs, const AsyncPoint &rhs) {
    return std::tuple(-int64_t(lhs.depth), lhs.sequence, lhs.index) <
           std::tuple(-int64_t(rhs.depth), rhs.sequence, rhs.index);
  });
  return points;
}

/// Makes a fence for what threads have done to `space`.
static Operation *createFence(RewriterBase &rewriter, Location loc,
                              MemorySpace space) {
  MLIRContext *context = loc.getContext();
  NVVM::ProxyKind kind =
      space == MemorySpace::Workgroup ? NVVM::ProxyKind::async_shared
      : space == MemorySpace::Global  ? NVVM::ProxyKind::async_global
                                      : NVVM::ProxyKind::async;
  NVVM::SharedSpaceAttr shared;
  if (space == MemorySpace::Workgroup)
    shared = NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta);
  return NVVM::FenceProxyOp::create(
      rewriter, loc, NVVM::ProxyKindAttr::get(context, kind), shared);
}

bool ProxyFences::repair(const AsyncPoint &point) {
  if (!point.next || (program.getStartOfCall(point.next) &&
                      program.getStartOfCall(point.next) != point.next))
    return false;
  const ThreadAccess &issue = kernel.getAccess(point.second);
  auto make = [&](OriginalOf) {
    return createFence(rewriter, point.next->getLoc(), issue.space);
  };
  InsertedOps fence =
      insertInProgram(rewriter, program, point.next, /*isBehind=*/false, make);
  bool isLeft = llvm::any_of(findPoints(), [&](const AsyncPoint &other) {
    return other.getKey() == point.getKey();
  });
  if (isLeft) {
    fence.erase(rewriter);
    return false;
  }
  std::string first = getSite(kernel.getAccess(point.first).op).op;
  recordRemark(RemarkId::InsertBarriers_InsertedFence, fence.ops.back())
      << "proxy fence inserted: nothing tells TMA of '" + first + "' before '" +
             getSite(issue.op).op + "' has it touch the same bytes";
  return true;
}

void ProxyFences::insert() {
  constexpr unsigned kMaxFences = 1 << 8;
  if (!kernel.hasBulkCopies())
    return;
  for (unsigned count = 0; count < kMaxFences; ++count) {
    std::vector<AsyncPoint> open = findPoints();
    llvm::erase_if(open, [&](const AsyncPoint &point) {
      return givenUp.count(point.getKey()) != 0;
    });
    if (open.empty())
      return;
    if (!repair(open.front()))
      givenUp.insert(open.front().getKey());
  }
}

} // namespace mlir::workgroup
