//===- RingCounter.cpp - Values that never start again --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingCounter.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

scf::ForOp addCarriedValues(RewriterBase &rewriter, scf::ForOp loop,
                            ValueRange initial) {
  FailureOr<LoopLikeOpInterface> extended = loop.replaceWithAdditionalYields(
      rewriter, initial, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        return SmallVector<Value>(arguments.begin(), arguments.end());
      });
  return cast<scf::ForOp>(extended->getOperation());
}

void yieldLast(RewriterBase &rewriter, scf::ForOp loop, ValueRange values) {
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.modifyOpInPlace(yield, [&] {
    yield->setOperands(yield->getNumOperands() - values.size(), values.size(),
                       values);
  });
}

/// `branch` with further results, `values` in either case.
static scf::IfOp addResults(RewriterBase &rewriter, scf::IfOp branch,
                            ValueRange values) {
  rewriter.setInsertionPoint(branch);
  SmallVector<Type> types(branch.getResultTypes());
  llvm::append_range(types, values.getTypes());
  auto extended =
      scf::IfOp::create(rewriter, branch.getLoc(), types, branch.getCondition(),
                        /*withElseRegion=*/true);
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), extended->getRegions())) {
    if (from.empty()) {
      rewriter.setInsertionPointToEnd(&to.front());
      scf::YieldOp::create(rewriter, branch.getLoc(), values);
      continue;
    }
    rewriter.eraseBlock(&to.front());
    rewriter.inlineRegionBefore(from, to, to.end());
    Operation *yield = to.front().getTerminator();
    rewriter.modifyOpInPlace(
        yield, [&] { yield->insertOperands(yield->getNumOperands(), values); });
  }
  rewriter.replaceOp(branch, extended.getResults().drop_back(values.size()));
  return extended;
}

/// What is around `loop` in its kernel, outermost first; nothing if values
/// cannot be handed through it.
static std::optional<SmallVector<Operation *>> findAround(Operation *loop) {
  SmallVector<Operation *> around;
  Operation *scope = getExecutionScope(loop);
  if (!isKernel(scope)) // each call would start again
    return std::nullopt;
  Operation *op = loop;
  for (; op->getParentOp() != scope; op = op->getParentOp()) {
    if (!isa<scf::ForOp, scf::IfOp>(op->getParentOp()))
      return std::nullopt;
    around.insert(around.begin(), op->getParentOp());
  }
  if (!op->getParentRegion()->hasOneBlock())
    return std::nullopt;
  return around;
}

bool RingCounter::canReach(Operation *loop) {
  return findAround(loop).has_value();
}

RingCounter::RingCounter(RewriterBase &rewriter, Operation *loop,
                         ValueRange initial)
    : rewriter(rewriter), around(*findAround(loop)),
      values(initial.begin(), initial.end()) {
  for (Operation *&op : around) {
    if (auto outer = dyn_cast<scf::ForOp>(op)) {
      auto extended = addCarriedValues(rewriter, outer, values);
      values.clear();
      llvm::append_range(
          values, extended.getRegionIterArgs().take_back(initial.size()));
      op = extended;
    } else {
      op = addResults(rewriter, cast<scf::IfOp>(op), values);
    }
  }
}

void RingCounter::handOn(Operation *inner, ValueRange results) {
  for (Operation *op : llvm::reverse(around)) {
    Operation *yield = inner->getBlock()->getTerminator();
    rewriter.modifyOpInPlace(yield, [&] {
      yield->setOperands(yield->getNumOperands() - results.size(),
                         results.size(), results);
    });
    results = op->getResults().take_back(results.size());
    inner = op;
  }
}

} // namespace mlir::workgroup
