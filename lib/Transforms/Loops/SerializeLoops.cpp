//===- SerializeLoops.cpp - Parallel loops that no kernel takes -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the outside inwards: what is in a loop that has become sequential may be
// a kernel's.
//
//===----------------------------------------------------------------------===//

#include "HostLoops.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Transforms/Loops.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_SERIALIZELOOPSPASS
#include "workgroup/Transforms/Loops.h.inc"

/// Names globals before `loop`, so that they are arguments of its kernel.
static void hoistGlobals(Operation *loop) {
  SmallVector<memref::GetGlobalOp> globals;
  loop->walk([&](memref::GetGlobalOp op) { globals.push_back(op); });
  for (memref::GetGlobalOp op : globals)
    op->moveBefore(loop);
}

void serializeLoops(Operation *root, const SerializeLoopsOptions &options) {
  IRRewriter rewriter(root->getContext());
  DenseSet<Operation *> kept;
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (Operation *loop : collectHostLoops(root)) {
      if (kept.contains(loop))
        continue;
      hoistGlobals(loop);
      std::string obstacle = getKernelObstacle(loop);
      if (obstacle.empty() && !options.all) {
        kept.insert(loop);
        continue;
      }
      if (!obstacle.empty())
        recordRemark(RemarkId::SerializeLoops_SequentialLoop, loop)
            << "no kernel is made of this loop: " + obstacle;
      serialize(rewriter, loop);
      hasChanged = true;
    }
  }
}

namespace {

struct SerializeLoopsPass final
    : impl::SerializeLoopsPassBase<SerializeLoopsPass> {
  using SerializeLoopsPassBase::SerializeLoopsPassBase;

  void runOnOperation() override { serializeLoops(getOperation(), {all}); }
};

} // namespace

} // namespace mlir::workgroup
