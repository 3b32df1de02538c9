//===- WarpGroups.cpp - Where whole warp groups are together --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// True if the threads that `branch` lets through to `region` are those before
/// a multiple of the size of a group.
static bool isOfFirstGroups(scf::IfOp branch, Region *region) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  BlockShape shape = getBlockShape(getExecutionScope(branch));
  if (!compare || region != &branch.getThenRegion() || shape.sizes[1] != 1 ||
      shape.sizes[2] != 1)
    return false;
  auto id = compare.getLhs().getDefiningOp<gpu::ThreadIdOp>();
  std::optional<int64_t> end = getConstantIntValue(compare.getRhs());
  bool isBefore = compare.getPredicate() == arith::CmpIPredicate::ult ||
                  compare.getPredicate() == arith::CmpIPredicate::slt;
  std::optional<int64_t> numThreads = shape.getNumThreads();
  return id && id.getDimension() == gpu::Dimension::x && end && isBefore &&
         numThreads && *end <= *numThreads && *end % kWarpGroupThreads == 0;
}

bool isOfWholeGroups(Operation *op, const UniformityAnalysis &uniformity) {
  Operation *scope = getExecutionScope(op);
  for (Region *region = op->getParentRegion(); region->getParentOp() != scope;
       region = region->getParentRegion()) {
    Operation *around = region->getParentOp();
    if (!region->hasOneBlock() || !isa<scf::ForOp, scf::IfOp>(around))
      return false;
    if (auto branch = dyn_cast<scf::IfOp>(around);
        branch && isOfFirstGroups(branch, region)) {
      // What is around that has to be the same for all threads of the block.
      return uniformity.isUniformPoint(branch);
    }
    auto loop = dyn_cast<scf::ForOp>(around);
    size_t numOperands = loop ? loop.getNumControlOperands() : 1;
    for (Value operand : around->getOperands().take_front(numOperands))
      if (!uniformity.isUniform(operand))
        return false;
  }
  return false;
}

} // namespace mlir::workgroup
