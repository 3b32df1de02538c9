//===- PrintUniformity.cpp - Say what threads agree on --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/Pass.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_PRINTUNIFORMITYPASS
#include "workgroup/Passes.h.inc"

namespace {
struct PrintUniformityPass final
    : impl::PrintUniformityPassBase<PrintUniformityPass> {
  void runOnOperation() override {
    UniformityAnalysis block(getOperation());
    UniformityAnalysis warp(getOperation(), UniformityUnit::Warp);
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
    for (Operation *scope : collectDeviceScopes(getOperation()))
      if (Region *body = getBody(scope))
        body->walk(print);
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace mlir::workgroup
