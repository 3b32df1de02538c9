//===- ElectThreads.cpp - Who starts tensor copies ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElectThreads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The id along x that `branch` compares to 0, if that is all of its condition;
/// null if not.
static Value getComparedId(scf::IfOp branch) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      getConstantIntValue(compare.getRhs()) != 0)
    return {};
  auto id = compare.getLhs().getDefiningOp<gpu::ThreadIdOp>();
  return id && id.getDimension() == gpu::Dimension::x ? id.getResult()
                                                      : Value();
}

/// True if the block has whole warps along x, and nothing along y and z.
static bool isOfWarps(const BlockShape &shape) {
  return shape.sizes[0] && *shape.sizes[0] % kWarpSize == 0 &&
         shape.sizes[1] == 1 && shape.sizes[2] == 1;
}

/// True if `branch`, which thread 0 takes, starts tensor copies, and does with
/// any other thread what it does with that one.
static bool isOfAnyThread(scf::IfOp branch,
                          const UniformityAnalysis &uniformity) {
  if (branch.elseBlock() || branch.getNumResults() != 0 ||
      !uniformity.isUniformPoint(branch))
    return false;
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(branch->getRegions(), used);
  auto dependsOnThread = [](Operation *op) {
    return isThreadOp(op) || op->getNumRegions() != 0 ? WalkResult::interrupt()
                                                      : WalkResult::advance();
  };
  return !branch.getThenRegion().walk(dependsOnThread).wasInterrupted() &&
         llvm::all_of(used,
                      [&](Value value) { return uniformity.isUniform(value); });
}

/// Lets the first warp elect who takes `branch`, which the thread with the id
/// `id` takes if that is 0.
static void elect(scf::IfOp branch, Value id, RewriterBase &rewriter) {
  Location loc = branch.getLoc();
  rewriter.setInsertionPoint(branch);
  Value warpSize = arith::ConstantIndexOp::create(rewriter, loc, kWarpSize);
  Value isFirstWarp = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ult, id, warpSize);
  auto ofWarp = scf::IfOp::create(rewriter, loc, isFirstWarp);
  rewriter.setInsertionPointToStart(ofWarp.thenBlock());
  Value isElected = NVVM::ElectSyncOp::create(
      rewriter, loc, rewriter.getI1Type(), /*membermask=*/Value());
  rewriter.modifyOpInPlace(
      branch, [&] { branch.getConditionMutable().assign(isElected); });
  rewriter.moveOpBefore(branch, ofWarp.thenYield());
}

void electCopyingThreads(Operation *root, ArrayRef<Operation *> scopes,
                         RewriterBase &rewriter) {
  SmallVector<scf::IfOp> branches;
  for (Operation *scope : scopes) {
    if (!isKernel(scope) || !isOfWarps(getBlockShape(scope)))
      continue;
    scope->walk([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) {
      auto branch = dyn_cast<scf::IfOp>(copy->getParentOp());
      if (branch && getComparedId(branch) &&
          !llvm::is_contained(branches, branch))
        branches.push_back(branch);
    });
  }
  if (branches.empty())
    return;
  UniformityAnalysis uniformity(root);
  llvm::erase_if(branches, [&](scf::IfOp branch) {
    return !isOfAnyThread(branch, uniformity);
  });
  for (scf::IfOp branch : branches)
    elect(branch, getComparedId(branch), rewriter);
}

} // namespace mlir::workgroup
