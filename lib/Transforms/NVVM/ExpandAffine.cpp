//===- ExpandAffine.cpp - Affine maps as arithmetic -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operation is replaced where it stands, by what upstream makes of it,
// too.
//
//===----------------------------------------------------------------------===//

#include "ExpandAffine.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The least of `values`, or the largest.
template <typename OpTy>
static Value reduce(RewriterBase &rewriter, Location loc, ValueRange values) {
  Value result = values.front();
  for (Value value : values.drop_front())
    result = OpTy::create(rewriter, loc, result, value);
  return result;
}

static void expand(Operation *op, AffineMap map, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  auto values = affine::expandAffineMap(rewriter, loc, map, op->getOperands());
  if (!values)
    return; // upstream says why
  if (isa<affine::AffineMinOp>(op))
    rewriter.replaceOp(op, reduce<arith::MinSIOp>(rewriter, loc, *values));
  else if (isa<affine::AffineMaxOp>(op))
    rewriter.replaceOp(op, reduce<arith::MaxSIOp>(rewriter, loc, *values));
  else
    rewriter.replaceOp(op, *values);
}

void expandAffineMaps(ArrayRef<Operation *> scopes, RewriterBase &rewriter) {
  SmallVector<std::pair<Operation *, AffineMap>> ops;
  for (Operation *scope : scopes)
    scope->walk([&](Operation *op) {
      if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
        ops.emplace_back(op, apply.getAffineMap());
      else if (auto least = dyn_cast<affine::AffineMinOp>(op))
        ops.emplace_back(op, least.getAffineMap());
      else if (auto most = dyn_cast<affine::AffineMaxOp>(op))
        ops.emplace_back(op, most.getAffineMap());
    });
  for (auto [op, map] : ops)
    expand(op, map, rewriter);
}

LogicalResult
lowerAffineOps(Operation *root,
               function_ref<LogicalResult(OpPassManager &, Operation *)> run) {
  auto isAffine = [](Operation *op) {
    return isa_and_nonnull<affine::AffineDialect>(op->getDialect())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  for (Operation *scope : collectDeviceScopes(root)) {
    bool isFunction = scope->hasTrait<OpTrait::IsIsolatedFromAbove>();
    if (!isFunction || !scope->walk(isAffine).wasInterrupted())
      continue;
    OpPassManager lowering(scope->getName());
    lowering.addPass(createLowerAffinePass());
    if (failed(run(lowering, scope)))
      return failure();
  }
  return success();
}

} // namespace mlir::workgroup
