//===- MapToThreads.cpp - Loops over threads ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_MAPTOTHREADSPASS
#include "workgroup/Passes.h.inc"

namespace {

struct MapToThreadsPass : impl::MapToThreadsPassBase<MapToThreadsPass> {
  using MapToThreadsPassBase::MapToThreadsPassBase;
  void runOnOperation() override {}
};

} // namespace

} // namespace mlir::workgroup
