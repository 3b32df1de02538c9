//===- SplitSwitches.cpp - Branches of several ways -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitSwitches.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// Makes branches of two ways of one of several, as launch plans have them.
static void splitSwitch(IRRewriter &rewriter, scf::IndexSwitchOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Operation *outermost = nullptr;
  Region *others = nullptr;
  for (auto [number, region] :
       llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
    Value value = arith::ConstantIndexOp::create(rewriter, loc, number);
    Value isCase = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, op.getArg(), value);
    auto branch = scf::IfOp::create(rewriter, loc, op.getResultTypes(), isCase,
                                    /*addThenBlock=*/false,
                                    /*addElseBlock=*/false);
    branch.getThenRegion().takeBody(region);
    if (outermost)
      scf::YieldOp::create(rewriter, loc, branch.getResults());
    else
      outermost = branch;
    others = &branch.getElseRegion();
    rewriter.createBlock(others);
  }
  if (!outermost) {
    auto always =
        scf::ExecuteRegionOp::create(rewriter, loc, op.getResultTypes());
    outermost = always;
    others = &always.getRegion();
  }
  others->takeBody(op.getDefaultRegion());
  rewriter.replaceOp(op, outermost->getResults());
}

void splitSwitches(func::FuncOp function) {
  SmallVector<scf::IndexSwitchOp> switches;
  function.walk([&](scf::IndexSwitchOp op) {
    if (!isInDeviceCode(op) && !op->getParentOfType<linalg::LinalgOp>())
      switches.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (scf::IndexSwitchOp op : switches)
    splitSwitch(rewriter, op);
}

} // namespace mlir::workgroup
