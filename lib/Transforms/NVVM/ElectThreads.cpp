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
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if thread 0 of the block, which has one dimension, takes `branch` and
/// no other thread does.
static bool isOfFirstThread(scf::IfOp branch) {
  BlockShape shape = getBlockShape(getExecutionScope(branch));
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  if (shape.sizes[1] != 1 || shape.sizes[2] != 1 || !compare ||
      compare.getPredicate() != arith::CmpIPredicate::eq ||
      getConstantIntValue(compare.getRhs()) != 0)
    return false;
  auto id = compare.getLhs().getDefiningOp<gpu::ThreadIdOp>();
  return id && id.getDimension() == gpu::Dimension::x;
}

/// Lets lane 0, which alone takes `branch`, elect itself for all that is in it.
static void elect(scf::IfOp branch, RewriterBase &rewriter) {
  Location loc = branch.getLoc();
  Block *body = branch.thenBlock();
  rewriter.setInsertionPointToStart(body);
  Value firstLane = arith::ConstantIntOp::create(rewriter, loc, 1, 32);
  Value isElected =
      NVVM::ElectSyncOp::create(rewriter, loc, rewriter.getI1Type(), firstLane);
  auto ofElected = scf::IfOp::create(rewriter, loc, isElected);
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(ofElected->getIterator()),
                            body->getTerminator()->getIterator())))
    rewriter.moveOpBefore(&op, ofElected.thenYield());
}

void electCopyingThreads(ArrayRef<Operation *> scopes, RewriterBase &rewriter) {
  llvm::SetVector<Operation *> branches;
  for (Operation *scope : scopes)
    scope->walk([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) {
      auto branch = dyn_cast<scf::IfOp>(copy->getParentOp());
      if (branch && branch.getNumResults() == 0 && isKernel(scope) &&
          copy->getBlock() == branch.thenBlock() && isOfFirstThread(branch))
        branches.insert(branch);
    });
  for (Operation *branch : branches)
    elect(cast<scf::IfOp>(branch), rewriter);
}

} // namespace mlir::workgroup
