//===- LowerContractions.cpp - What each thread computes ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_LOWERCONTRACTIONSPASS
#include "workgroup/Passes.h.inc"

namespace {

struct LowerContractionsPass : impl::LowerContractionsPassBase<LowerContractionsPass> {
  using LowerContractionsPassBase::LowerContractionsPassBase;
  void runOnOperation() override {}
};

} // namespace

} // namespace mlir::workgroup
