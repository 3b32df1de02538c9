//===- PrintUniformity.cpp - Say what threads agree on --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each operation of a kernel a remark says whether all threads of the
// block, or of each warp, execute it together, and whether its results are the
// same for all of them.
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/Pass.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Sync.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_PRINTUNIFORMITYPASS
#include "workgroup/Transforms/Sync.h.inc"

void printUniformity(Operation *root) {
  UniformityAnalysis block(root), warp(root, UniformityUnit::Warp);
  auto choose = [](bool isOfBlock, bool isOfWarp) {
    return isOfBlock ? "block" : isOfWarp ? "warp" : "thread";
  };
  auto print = [&](Operation *op) {
    InFlightDiagnostic remark =
        op->emitRemark("executed by the ")
        << choose(block.isUniformPoint(op), warp.isUniformPoint(op));
    if (op->getNumResults() != 0)
      remark << ", results of the ";
    llvm::interleaveComma(op->getResults(), remark, [&](Value result) {
      remark << choose(block.isUniform(result), warp.isUniform(result));
    });
  };
  for (Operation *scope : collectDeviceScopes(root))
    if (Region *body = getBody(scope))
      body->walk(print);
}

namespace {
struct PrintUniformityPass final
    : impl::PrintUniformityPassBase<PrintUniformityPass> {
  using PrintUniformityPassBase::PrintUniformityPassBase;

  void runOnOperation() override {
    printUniformity(getOperation());
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace mlir::workgroup
