//===- StageOperands.cpp - Operands in workgroup memory ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageReads.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_STAGEOPERANDSPASS
#include "workgroup/Passes.h.inc"

namespace {

struct StageOperandsPass : impl::StageOperandsPassBase<StageOperandsPass> {
  using StageOperandsPassBase::StageOperandsPassBase;
  void runOnOperation() override {
    stageReads(getOperation(), ArgumentAliases(getOperation(), true), 1 << 15);
  }
};

} // namespace

} // namespace mlir::workgroup
